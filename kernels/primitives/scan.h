// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prefix scans within a warp. F provides a Value made of whole words, identity() and combine(),
// which must be associative but need not commute: the earlier operand is on the left. The tree is
// fixed, so float results have the same bits in every run. All lanes must call.
#pragma once

#include "primitives/warp.h"

#include <cstring>

namespace kg {

template <class V>
struct Sum {
  using Value = V;
  __device__ static V identity() { return 0; }
  __device__ static V combine(V a, V b) { return a + b; }
};

// Exchanges a value word by word.
template <class Value, class Exchange>
__device__ __forceinline__ Value exchanged(const Value& value, Exchange exchange) {
  constexpr int kWords = sizeof(Value) / sizeof(unsigned);
  static_assert(kWords * sizeof(unsigned) == sizeof(Value));
  unsigned words[kWords];
  memcpy(words, &value, sizeof value);
  KG_UNROLL
  for (int w = 0; w < kWords; ++w) words[w] = exchange(words[w]);
  Value result;
  memcpy(&result, words, sizeof result);
  return result;
}

template <class Value>
__device__ __forceinline__ Value shuffled_up(const Value& value, int lanes) {
  return exchanged(value,
                   [lanes](unsigned word) { return __shfl_up_sync(kAllLanes, word, lanes); });
}

template <class Value>
__device__ __forceinline__ Value shuffled_from(const Value& value, int lane) {
  return exchanged(value, [lane](unsigned word) { return __shfl_sync(kAllLanes, word, lane); });
}

// Inclusive scan.
template <class F>
__device__ __forceinline__ typename F::Value warp_scan(typename F::Value value) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  KG_UNROLL
  for (int step = 1; step < kLanes; step *= 2) {
    const auto below = shuffled_up(value, step);
    if (lane >= step) value = F::combine(below, value);
  }
  return value;
}

// Exclusive scan and total of a warp.
template <class Value>
struct WarpScan {
  Value below; // exclusive prefix
  Value all;   // total of the warp
};

template <class F>
__device__ __forceinline__ WarpScan<typename F::Value>
warp_scan_below(const typename F::Value& value) {
  const auto through = warp_scan<F>(value);
  WarpScan<typename F::Value> result{shuffled_up(through, 1), shuffled_from(through, kLanes - 1)};
  if (threadIdx.x % kLanes == 0) result.below = F::identity();
  return result;
}

// Scan over a warp's rows of packs (pack_rows.h): the exclusive prefix of each of the lane's packs,
// and the total.
template <class Value, int Rows>
struct PackScan {
  Value before[Rows];
  Value all;
};

// item(r, e): element e of the lane's pack in row r.
template <class F, int Rows, int Count, class Item>
__device__ __forceinline__ PackScan<typename F::Value, Rows> warp_scan_packs(Item item) {
  PackScan<typename F::Value, Rows> scan;
  scan.all = F::identity();
  KG_UNROLL
  for (int r = 0; r < Rows; ++r) {
    typename F::Value of_pack = item(r, 0);
    KG_UNROLL
    for (int e = 1; e < Count; ++e) of_pack = F::combine(of_pack, item(r, e));
    const auto row = warp_scan_below<F>(of_pack);
    scan.before[r] = F::combine(scan.all, row.below);
    scan.all = F::combine(scan.all, row.all);
  }
  return scan;
}

} // namespace kg
