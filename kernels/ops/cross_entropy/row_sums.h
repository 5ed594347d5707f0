// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What one thread of a row's warp or block finds in its part of the row, each element read once.
//
// Maximum and sum in one pass: Milakov and Gimelshein, "Online normalizer calculation for softmax",
// arXiv 1805.02867. The sum is one of exp(x - maximum), and is rescaled at most once in kLoads
// packs. Edges of the row that fill no aligned pack are single elements of single threads, so that
// rows of 50257 classes, of which one in eight begins at 16 bytes, are read in packs, too.
#pragma once

#include "instructions/exp2.h"
#include "primitives/pack.h"
#include "primitives/stored_pack.h"

#include <cfloat>
#include <cstdint>
#include <limits>

namespace kg::cross_entropy {

inline constexpr int kLoads = 4; // 16-byte accesses under way per thread
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// e to the difference of two logits. A product and the GPU's own instruction, where expf takes
// eight: an H200 reads 16-bit logits so fast that there are 13 instructions for each. The product's
// rounding changes the result by as much as that of the difference does; what is flushed is beside
// a sum of 1 and more.
__device__ inline float exponential(float difference) {
  constexpr float kLog2E = 1.44269504f;
  return ptx::exp2_flushed(difference * kLog2E);
}

// What the sum of a row's logits counts from: the target's, so that shifts of the row cancel; 0
// where that is no number to count from.
__device__ inline float origin_of(float at_target) {
  return at_target == kMinusInfinity ? 0.0f : at_target;
}

struct RowSums {
  float maximum = -FLT_MAX; // finite: -inf minus it is -inf
  float sum = 0;            // of exp(x - maximum)
  float differences = 0;    // of x - origin, where labels are smoothed

  // Passes over NaN; the sum does not.
  __device__ void raise(float largest) {
    if (!(largest > maximum)) return;
    sum *= exponential(maximum - largest);
    maximum = largest;
  }
};

// Thread `thread` of `threads`, at least a warp.
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
