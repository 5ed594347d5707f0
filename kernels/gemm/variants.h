// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of gemm, as gemm.cu calls them: the problem is valid, m and n are at least 1, and k
// is 0 where A and B must not be read.
#pragma once

#include "gemm/gemm.h"

namespace kg::gemm {

template <class T> // float, f16, bf16
void run_naive(const BasicProblem<T>& problem, Stream& stream);
void run_tiled(const Problem& problem, Stream& stream);
template <class T> // float, with Math::tf32, f16, bf16
void run_mma(const BasicProblem<T>& problem, Stream& stream);

// The new value of an element of C. beta = 0 does not look at the old one.
template <class T>
__device__ __forceinline__ T scaled(float alpha, float sum, float beta, const T* c) {
  return from_float<T>(beta == 0 ? alpha * sum : fmaf(beta, to_float(*c), alpha * sum));
}

} // namespace kg::gemm
