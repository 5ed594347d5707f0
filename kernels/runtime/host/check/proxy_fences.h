// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which ordinary writes the asynchronous proxy may read (PTX ISA, "Memory Consistency Model:
// Proxies"). A fence must separate them: in the writing thread, after its write and before the
// release, or in the copying thread, after the acquire.
#pragma once

#include "runtime/host/check/order.h"
#include "runtime/host/proxy.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

namespace kg::check {

class ProxyFences {
 public:
  void forget() {
    for (auto& threads : of_) threads.clear();
  }

  // The fence ends the moment `now`: later accesses belong to the next moment.
  void add(host::Proxy kind, unsigned thread, const BlockOrder& order, Time now) {
    const auto enter = [&](host::Proxy covered) {
      Fences& fences = of_[index(covered)][order.block() | thread];
      fences.times.push_back(now);
      fences.last = order.state_of(thread, now);
    };
    if (kind != host::Proxy::both) return enter(kind);
    enter(host::Proxy::shared);
    enter(host::Proxy::global);
  }

  // Whether a copy that `thread` issues now may read the data of `write`, which happens before it.
  bool cover(host::Proxy kind, const Access& write, unsigned thread,
             const BlockOrder& order) const {
    const Who writer = write.who & (kBlockMask | kThreadMask);
    if (const Fences* const own = find(kind, writer)) {
      const auto behind = std::lower_bound(own->times.begin(), own->times.end(), write.time);
      if (behind != own->times.end() && order.before({*behind, writer, 0}, thread)) return true;
    }
    const Fences* const issuer = find(kind, order.block() | thread);
    return issuer && order.before(write, thread, issuer->last);
  }

 private:
  struct Fences {
    std::vector<Time> times; // ascending
    BlockOrder::Fence last;
  };

  static std::size_t index(host::Proxy kind) { return static_cast<std::size_t>(kind); }
  const Fences* find(host::Proxy kind, Who thread) const {
    const auto& threads = of_[index(kind)];
    const auto found = threads.find(thread);
    return found == threads.end() ? nullptr : &found->second;
  }

  std::array<std::unordered_map<Who, Fences>, 4> of_; // by coverage
};

} // namespace kg::check
