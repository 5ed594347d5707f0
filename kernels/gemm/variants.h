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

} // namespace kg::gemm
