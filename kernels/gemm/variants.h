// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of gemm, as gemm.cu calls them: the problem is valid, m and n are at least 1, and k
// is 0 where A and B must not be read.
#pragma once

#include "gemm/gemm.h"

namespace kg::gemm {

void run_naive(const Problem& problem, Stream& stream);
void run_tiled(const Problem& problem, Stream& stream);

// The new value of an element of C. beta = 0 does not look at the old one.
__device__ inline float scaled(float alpha, float sum, float beta, const float* c) {
  return beta == 0 ? alpha * sum : fmaf(beta, *c, alpha * sum);
}

} // namespace kg::gemm
