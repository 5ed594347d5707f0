// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/vendor.h"

namespace kg::vendor::openblas {

std::string version();

// One arithmetic only, so `math` chooses nothing: f32 products and sums, in an order fixed by
// shape, CPU and thread count.
void gemm(const Gemm& problem, Math math, Stream& stream);

} // namespace kg::vendor::openblas
