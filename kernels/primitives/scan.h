// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Running results within a warp. F has a Value of whole words, its identity and `combine`, which is
// associative and need not be commutative: what comes first stands on the left. Of floats the tree
// is the same each time, and so are the bits. All lanes must call.
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

// Word by word through exchange(word).
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

// The values of all lanes up to this one, combined.
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

// What each lane has of a warp's running results.
template <class Value>
struct WarpScan {
  Value below; // of the lanes below this one
  Value all;   // of the warp
};

template <class F>
__device__ __forceinline__ WarpScan<typename F::Value>
warp_scan_below(const typename F::Value& value) {
  const auto through = warp_scan<F>(value);
  WarpScan<typename F::Value> result{shuffled_up(through, 1), shuffled_from(through, kLanes - 1)};
  if (threadIdx.x % kLanes == 0) result.below = F::identity();
  return result;
}

// Of a warp's rows of packs (pack_rows.h): what lies before each of the lane's packs among the
// warp's elements, and what all of those combine to.
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
