// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The weights of the terms, which every block computes for itself.
#pragma once

#include "ops/softmax_sum/softmax_sum.h"

#include "primitives/map.h"

namespace kg::softmax_sum {

static_assert(kMaxTerms <= kMapThreads);

// Computes weight = softmax(alpha) with a block of kMapThreads threads; ends with a barrier.
template <class T>
__device__ inline void make_weights(const T* alpha, int terms, float* weight) {
  const int own = static_cast<int>(threadIdx.x);
  if (own < terms) {
    float largest = to_float(alpha[0]);
    for (int k = 1; k < terms; ++k) largest = fmaxf(largest, to_float(alpha[k]));
    float sum = 0;
    for (int k = 0; k < terms; ++k) sum += expf(to_float(alpha[k]) - largest);
    weight[own] = expf(to_float(alpha[own]) - largest) / sum;
  }
  __syncthreads();
}

} // namespace kg::softmax_sum
