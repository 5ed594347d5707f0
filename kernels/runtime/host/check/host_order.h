// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the host may look at while the device works: page-locked and managed memory that a launch or
// an asynchronous copy touches is the host's again when the host has waited for that work. Work
// here ends before the call that starts it returns, so only what the program waits for tells.
#pragma once

#include "runtime/host/check/access.h"
#include "runtime/host/check/memory_map.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

namespace kg::check {

class HostOrder {
 public:
  struct Copy {
    const void* stream;
    Span host;
    bool writes; // the host's memory
    Site call;
  };
  struct Launch {
    const void* stream;
    Time from, to; // its moments
    const void* kernel;
  };

  void share(Span memory) { // with the host
    shared_.begin = shared_.bytes == 0 ? memory.begin : std::min(shared_.begin, memory.begin);
    end_ = std::max(end_, memory.begin + memory.bytes);
    shared_.bytes = end_ - shared_.begin;
  }
  // Whether an access of the host is worth a look.
  bool concerns(std::uintptr_t address) const {
    return busy_ && shared_.contains(address) && !inside_function;
  }

  void work_on(const void* stream) {
    const std::lock_guard lock(mutex_);
    stream_ = stream;
  }
  void copy(Span host, bool writes, Site call) {
    const std::lock_guard lock(mutex_);
    copies_.push_back({stream_, host, writes, call});
    busy_ = true;
  }
  void launch(Time from, const void* kernel) {
    const std::lock_guard lock(mutex_);
    if (!launches_.empty()) launches_.back().to = std::min(launches_.back().to, from);
    if (shared_.bytes == 0) return;
    launches_.push_back({stream_, from, std::numeric_limits<Time>::max(), kernel});
    busy_ = true;
  }
  // The host waits for a stream, or for all of them (null). The default stream waits for others and
  // they for it, as they do by events: what it cannot tell counts as waited for.
  void wait(const void* stream, const void* standard) {
    const auto done = [&](const auto& work) {
      return !stream || joined || work.stream == stream || work.stream == standard;
    };
    const std::lock_guard lock(mutex_);
    std::erase_if(copies_, done);
    std::erase_if(launches_, done);
    busy_ = !copies_.empty() || !launches_.empty();
  }
  void forget_launches() { // their moments are no more
    const std::lock_guard lock(mutex_);
    launches_.clear();
  }

  // The copy that an access of the host runs into.
  std::optional<Copy> copy_at(std::uintptr_t address, bool writes) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(copies_.begin(), copies_.end(), [&](const Copy& copy) {
      return (copy.writes || writes) && copy.host.contains(address);
    });
    return found == copies_.end() ? std::nullopt : std::optional(*found);
  }
  // The launch of a moment, where nothing has waited for it.
  std::optional<Launch> launch_at(Time time) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(launches_.begin(), launches_.end(), [&](const Launch& launch) {
      return launch.from <= time && time < launch.to;
    });
    return found == launches_.end() ? std::nullopt : std::optional(*found);
  }

  std::atomic<bool> inside_function = false; // that a stream calls in its turn
  std::atomic<bool> joined = false;          // a stream has waited for another one's event

 private:
  mutable std::mutex mutex_; // the host may have several threads
  std::atomic<bool> busy_ = false;
  const void* stream_ = nullptr;
  Span shared_{};
  std::uintptr_t end_ = 0;
  std::vector<Copy> copies_;
  std::vector<Launch> launches_;
};

} // namespace kg::check
