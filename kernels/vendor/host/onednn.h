// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN on the CPU, versions 2 and 3. Which types a primitive takes depends on the version and on
// the CPU (2.6 has bf16 only with AVX-512, f16 for reorders alone), so `*_supported` asks the
// library by creating the primitive once.
#pragma once

#include "vendor/vendor.h"

namespace kg::vendor::onednn {

std::string version();

bool elementwise_supported(Binary op, Dtype dtype);
void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream);

bool reduction_supported(SumAxis axis);
void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream);

// In bf16 the exponentials are stored in the output's type before they are scaled: two roundings,
// up to 1.9 u from the exact value (measured, 2.6.3 and 3.2.0).
bool softmax_supported(Dtype dtype);
void softmax(Dtype dtype, const void* x, void* y, std::int64_t rows, std::int64_t cols,
             Stream& stream);

// A reorder between two strided layouts of one matrix.
void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream& stream);

} // namespace kg::vendor::onednn
