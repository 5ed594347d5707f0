// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Both operations through their wrappers. The backend provides the workspace for the weights.
#pragma once

#include "libraries/gemm.h"
#include "libraries/softmax.h"
#include "libraries/softmax_sum.h"

namespace kg::vendor {

inline void softmax_and_product(std::string_view softmax_library, std::string_view gemm_library,
                                const float* x, const float* alpha, float* weights, float* y,
                                std::int64_t terms, std::int64_t n, Stream& stream) {
  softmax(softmax_library, softmax::Kind::softmax, Dtype::f32, alpha, weights, 1, terms, stream);
  gemm(gemm_library, packed_gemm(Dtype::f32, {1, n, terms}, 1, {weights}, {x}, y), Math::pedantic,
       stream);
}

} // namespace kg::vendor
