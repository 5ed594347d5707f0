// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Thrust on the CPU, with its TBB back end: it shares the pool of worker threads with whatever else
// uses oneTBB, and needs no OpenMP runtime beside the one that oneDNN brings.
#pragma once

#include "vendor/vendor.h"

namespace kg::vendor::thrust_host {

std::string version();

// f32.
void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream);

void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream);

void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream& stream);

} // namespace kg::vendor::thrust_host
