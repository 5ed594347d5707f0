// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/quantised_matmul/quantised_matmul.h"

namespace kg::quantised_matmul {

// Variant mma, for valid problems of w8a8 or e4m3 whose rows are multiples of 16 bytes
// (quantised_matmul_mma.cu).
template <Kind kind, class T>
void launch_mma(const Problem<T>& problem, Stream& stream);

// Variant wgmma, for valid problems of w8a8 or e4m3 that fit (quantised_matmul_wgmma.cu).
template <Kind kind, class T>
void launch_wgmma(const Problem<T>& problem, Stream& stream);

// Whether tensor maps can describe X, W and Y; otherwise mma runs.
template <class T>
bool wgmma_fits(const Problem<T>& problem);

} // namespace kg::quantised_matmul
