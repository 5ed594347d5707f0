// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel of somebody else is called like: one C function for each type, and for each kind of
// problem that the words of a shape name, made of the card alone.
//
//   extern "C" void softmax_f32(const float* x, float* y, int64_t rows, int64_t cols,
//                               cudaStream_t stream);
//
// The inputs, the outputs, the scalars (float), the numbers of the shape, the stream; tensors dense
// and row-major, in device memory, at any address that is aligned to their elements; lists of
// numbers in host memory. A tensor that is updated in place stands among the inputs alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/contract/card.h"

namespace kg::card {

// The problem's, or that of its shape: its words joined by '_', its numbers by their names. Throws
// Error where the shape holds lists of numbers and the problem does not say what they are.
Calling calling_of(const Problem& problem);

// Its tensors in the order of the parameters.
std::vector<Tensor> tensors_of(const Problem& problem);

// "softmax_f32", and for the shape log_rows4_cols8 "softmax_log_f32".
std::string function_name(const Card& card, const Problem& problem);

// Its declaration, as above, without the semicolon.
std::string declaration(const Card& card, const Problem& problem);

// One problem for each function that a type has, in the order of the card's usual shapes.
std::vector<Problem> functions_of(const Card& card, Dtype dtype);

// A source that compiles, with an empty function for each; `dtypes` none: all of the card's.
std::string stub(const Card& card, const std::vector<Dtype>& dtypes);

} // namespace kg::card
