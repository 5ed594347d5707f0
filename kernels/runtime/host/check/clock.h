// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A vector clock: up to when its owner knows the accesses of other threads. Sparse, because most of
// what threads know of each other comes from barriers and is kept as one time per block or warp
// (order.h).
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
  static std::uint32_t block_key(Who who) { return 0x80000000 | (who & kBlockMask); }

  void learn(std::uint32_t key, Time time) {
    Time& known = known_[key];
    known = std::max(known, time);
  }
  void learn(const Clock& other) {
    for (const auto& [key, time] : other.known_) learn(key, time);
  }
  bool knows(const Access& access) const {
    return access.time <= of(block_key(access.who)) || access.time <= of(warp_key(access.who)) ||
           access.time <= of(thread_key(access.who));
  }
  // Without what it says of `block`.
  Clock except(Who block) const {
    Clock rest;
    for (const auto& [key, time] : known_)
      if ((key & kBlockMask) != (block & kBlockMask)) rest.known_.emplace(key, time);
    return rest;
  }
  bool empty() const { return known_.empty(); }

 private:
  Time of(std::uint32_t key) const {
    const auto found = known_.find(key);
    return found == known_.end() ? 0 : found->second;
  }
  std::unordered_map<std::uint32_t, Time> known_;
};

using ClockPointer = std::shared_ptr<const Clock>;

} // namespace kg::check
