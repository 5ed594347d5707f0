// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread's share of a row that a warp or block reduces; each element is read once.
//
// Maximum and sum take one pass: Milakov and Gimelshein, "Online normalizer calculation for
// softmax", arXiv 1805.02867. The sum of exp(x - maximum) is rescaled at most once per kLoads
// packs. Elements before and after the aligned packs are loaded singly, one per thread. So rows of
// 50257 classes use 16-byte loads, though only one row in eight is aligned to 16 bytes.
#pragma once

#include "instructions/exp2.h"
#include "primitives/pack.h"
#include "primitives/stored_pack.h"

#include <cfloat>
#include <cstdint>
#include <limits>

namespace kg::cross_entropy {

inline constexpr int kLoads = 4; // 16-byte loads in flight per thread
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// exp of the difference of two logits: a multiplication and the GPU's exp2 instruction, where expf
// takes eight. At its memory bandwidth, an H200 can issue 13 instructions per 16-bit logit. The
// product's rounding error is as large as that of the difference. Flushed results are negligible in
// a sum of at least 1.
__device__ inline float exponential(float difference) {
  constexpr float kLog2E = 1.44269504f;
  return ptx::exp2_flushed(difference * kLog2E);
}

// The origin of the sum of differences: the target's logit, so that a constant added to the row
// cancels; 0 if that logit is -inf.
__device__ inline float origin_of(float at_target) {
  return at_target == kMinusInfinity ? 0.0f : at_target;
}

struct RowSums {
  float maximum = -FLT_MAX; // finite: -inf minus it is -inf, not NaN
  float sum = 0;            // of exp(x - maximum)
  float differences = 0;    // of x - origin, under label smoothing

  // Ignores NaN; the sum propagates it.
  __device__ void raise(float largest) {
    if (!(largest > maximum)) return;
    sum *= exponential(maximum - largest);
    maximum = largest;
  }
};

// The part of thread `thread` of `threads`, which are at least a warp.
template <class T>
__device__ inline RowSums sums_of_part(const T* row, std::int64_t classes, bool smoothed,
                                       float origin, int thread, int threads) {
  constexpr int kCount = kPackElements<T>;
  static_assert(2 * (kCount - 1) <= 32, "one thread per element of the edges");
  using Stored = StoredPack<T, kCount>;
  const std::int64_t boundary = elements_to_boundary(row);
  const std::int64_t head = boundary < classes ? boundary : classes;
  const std::int64_t packs = (classes - head) / kCount;
  const T* const body = row + head;
  RowSums result;

  if (thread < classes - packs * kCount) { // head and tail together
    const float x = to_float(row[thread < head ? thread : thread + packs * kCount]);
    result.raise(x);
    result.sum += exponential(x - result.maximum);
    if (smoothed) result.differences += x - origin;
  }

  for (std::int64_t first = thread; first < packs; first += std::int64_t{kLoads} * threads) {
    const auto is_there = [&](int l) { return first + l * threads < packs; };
    Stored stored[kLoads];
    if (is_there(kLoads - 1)) {
      KG_UNROLL
      for (int l = 0; l < kLoads; ++l) stored[l].load(body + (first + l * threads) * kCount);
    } else {
      Pack<T, kCount> none;
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) none.element[e] = from_float<T>(kMinusInfinity);
      KG_UNROLL
      for (int l = 0; l < kLoads; ++l) {
        stored[l].set(none);
        if (is_there(l)) stored[l].load(body + (first + l * threads) * kCount);
      }
    }
    Floats<kCount> x[kLoads];
    widen(stored, x);
    float largest = kMinusInfinity;
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) {
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) largest = fmaxf(largest, x[l].value[e]);
    }
    result.raise(largest);
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) {
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) result.sum += exponential(x[l].value[e] - result.maximum);
    }
    if (!smoothed) continue;
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) {
      KG_UNROLL
      for (int e = 0; e < kCount; ++e)
        if (is_there(l)) result.differences += x[l].value[e] - origin;
    }
  }
  return result;
}

} // namespace kg::cross_entropy
