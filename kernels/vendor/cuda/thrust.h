// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/vendor.h"

namespace kg::vendor::thrust_cuda {

std::string version();

// f32, f16 and bf16; the latter two compute in f32 and round once.
bool elementwise_supported(Binary op, Dtype dtype);
void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream);

// All of it (thrust::reduce) and rows (thrust::reduce_by_key). Both wait for the stream and
// allocate.
bool reduction_supported(SumAxis axis);
void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream);

} // namespace kg::vendor::thrust_cuda
