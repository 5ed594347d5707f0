// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's fixed functions. Sizes: cuDNN counts in int, so at most 2^31 - 1 elements.
#pragma once

#include "vendor/vendor.h"

namespace kg::vendor::cudnn {

std::string version();

// cudnnOpTensor: add, mul, and sub as a + (-1) b, which is the same number. There is no division.
// f16 and bf16 compute in f32.
bool elementwise_supported(Binary op, Dtype dtype);
void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream);

// cudnnReduceTensor.
void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream);

// cudnnSoftmaxForward.
bool softmax_supported(Dtype dtype);
void softmax(Dtype dtype, const void* x, void* y, std::int64_t rows, std::int64_t cols,
             Stream& stream);

} // namespace kg::vendor::cudnn
