// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The signature of an external kernel: one C function per type and per kind of problem (named by
// the words of a shape), derived from the card alone.
//
//   extern "C" void softmax_f32(const float* x, float* y, int64_t rows, int64_t cols,
//                               cudaStream_t stream);
//
// Parameters: inputs, outputs, scalars (float), numbers of the shape, stream. Tensors are dense and
// row-major in device memory, aligned to their elements only; lists of numbers are in host memory.
// A tensor that is updated in place is listed among the inputs only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/contract/card.h"

namespace kg::card {

// The problem's own Calling, or the one of its shape: words joined by '_', numbers by name. Throws
// Error if the shape has lists of numbers that the problem does not describe.
Calling calling_of(const Problem& problem);

// The problem's tensors in parameter order.
std::vector<Tensor> tensors_of(const Problem& problem);

// "softmax_f32"; for the shape log_rows4_cols8 "softmax_log_f32".
std::string function_name(const Card& card, const Problem& problem);

// The function's declaration, as above, without the semicolon.
std::string declaration(const Card& card, const Problem& problem);

// One problem for each function of a type, in the order of the card's usual shapes.
std::vector<Problem> functions_of(const Card& card, Dtype dtype);

// A source that compiles, with an empty function for each; empty `dtypes`: all of the card's.
std::string stub(const Card& card, const std::vector<Dtype>& dtypes);

} // namespace kg::card
