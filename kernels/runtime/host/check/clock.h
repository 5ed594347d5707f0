// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A vector clock: the times up to which its owner knows the accesses of other threads. Sparse,
// because most ordering comes from barriers and is kept as one time per block or warp (order.h).
#pragma once

#include "runtime/host/check/access.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace kg::check {

class Clock {
 public:
  static std::uint32_t thread_key(Who who) { return who & (kBlockMask | kThreadMask); }
  static std::uint32_t warp_key(Who who) {
    return 0x40000000 | (who & kBlockMask) | (who & kThreadMask) / 32;
  }
  // For an mbarrier, whose time is the number of phases that the owner knows to have ended.
  static std::uint32_t phase_key(unsigned number) { return kPhases | number; }
  // For the mbarriers that a thread has initialized, up to its last fence.mbarrier_init.
  static std::uint32_t init_key(Who who) { return 0xA0000000 | thread_key(who); }
  static std::uint32_t block_key(Who who) { return 0x80000000 | (who & kBlockMask); }

  void learn(std::uint32_t key, Time time) {
    Time& known = known_[key];
    known = std::max(known, time);
  }
  void learn(const Clock& other) {
    for (const auto& [key, time] : other.known_) learn(key, time);
  }
  bool knows(const Access& access) const {
    if (access.time >= kLanded)
      return of(phase_key(number_of(access.time))) > phase_of(access.time);
    return access.time <= of(block_key(access.who)) || access.time <= of(warp_key(access.who)) ||
           access.time <= of(thread_key(access.who));
  }
  bool knows_init(const Access& init) const { return init.time <= of(init_key(init.who)); }
  // A copy without the entries for threads of `block`.
  Clock except(Who block) const {
    Clock rest;
    for (const auto& [key, time] : known_)
      if (is_phase(key) || (key & kBlockMask) != (block & kBlockMask))
        rest.known_.emplace(key, time);
    return rest;
  }
  // Whether learning `other` would change nothing.
  bool covers(const Clock& other) const {
    return known_.size() >= other.known_.size() &&
           std::all_of(other.known_.begin(), other.known_.end(),
                       [&](const auto& entry) { return entry.second <= of(entry.first); });
  }
  bool empty() const { return known_.empty(); }

 private:
  static constexpr std::uint32_t kPhases = 0x20000000;
  static bool is_phase(std::uint32_t key) { return (key & 0xE0000000) == kPhases; }

  Time of(std::uint32_t key) const {
    const auto found = known_.find(key);
    return found == known_.end() ? 0 : found->second;
  }
  std::unordered_map<std::uint32_t, Time> known_;
};

using ClockPointer = std::shared_ptr<const Clock>;

} // namespace kg::check
