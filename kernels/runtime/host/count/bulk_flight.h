// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes that a block's bulk loads have in flight. The executor decides when a load lands, so
// the count uses what the issuing thread knows, which depends only on the kernel, not on the thread
// order. A load has arrived once this thread has waited for it, or for a barrier at which a thread
// that knows of it has arrived.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kg::count {

class BulkFlight {
 public:
  void issued(unsigned thread, const void* barrier, std::uint64_t bytes) {
    std::vector<std::uint64_t>& sums = sums_[barrier];
    if (sums.empty()) sums.push_back(0);
    sums.push_back(sums.back() + bytes);
    const Arrived& arrived = threads_[thread];
    std::uint64_t under_way = 0;
    for (const auto& [of, all] : sums_) {
      const auto known = arrived.find(of);
      under_way += all.back() - all[known == arrived.end() ? 0 : known->second];
    }
    most_ = std::max(most_, under_way);
  }
  // The thread arrives at a barrier of any kind; passed() follows when it passes a phase.
  void arrived(unsigned thread, const void* barrier) {
    if (!sums_.empty()) learn(barriers_[barrier], threads_[thread]);
  }
  void passed(unsigned thread, const void* barrier) {
    if (sums_.empty()) return;
    Arrived& arrived = threads_[thread];
    if (const auto at = barriers_.find(barrier); at != barriers_.end()) learn(arrived, at->second);
    if (const auto at = sums_.find(barrier); at != sums_.end())
      arrived[barrier] = at->second.size() - 1;
  }
  // All threads of the block meet.
  void met() {
    Arrived all;
    for (const auto& [thread, arrived] : threads_) learn(all, arrived);
    for (auto& [thread, arrived] : threads_) arrived = all;
  }
  // The maximum in flight, of a block that has ended.
  std::uint64_t take_most() { return std::exchange(*this, {}).most_; }

 private:
  using Arrived = std::unordered_map<const void*, std::size_t>; // arrived, by barrier

  static void learn(Arrived& to, const Arrived& from) {
    for (const auto& [barrier, loads] : from) to[barrier] = std::max(to[barrier], loads);
  }

  std::unordered_map<const void*, std::vector<std::uint64_t>>
      sums_; // bytes of the loads, by barrier
  std::unordered_map<unsigned, Arrived> threads_;
  std::unordered_map<const void*, Arrived> barriers_;
  std::uint64_t most_ = 0;
};

} // namespace kg::count
