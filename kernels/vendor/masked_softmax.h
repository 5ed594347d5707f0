// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for a softmax of which some elements are masked: y = scale
// x + addend, an addend of 0 where an element is kept and of -inf where it is not, and the softmax
// in place. The sum passes through memory and is rounded to the element type. A row of which
// nothing is kept is NaN, and so is one whose masked elements are NaN or infinite.
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// x and y: sequences x queries x cols, packed; addend: queries x cols, the same for each sequence.
struct MaskedSoftmaxProblem {
  Dtype dtype = Dtype::f32;
  float scale = 1;
  std::int64_t sequences = 0;
  std::int64_t queries = 0;
  std::int64_t cols = 0;
};

void masked_softmax(std::string_view variant, const MaskedSoftmaxProblem& problem, const void* x,
                    const void* addend, void* y, Stream& stream);

using MaskedSoftmaxVariant = VariantOf<masked_softmax, Dtype>;
extern const Table<MaskedSoftmaxVariant> masked_softmax_table;

} // namespace kg::vendor
