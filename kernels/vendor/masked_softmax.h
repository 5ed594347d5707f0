// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for a softmax of which some elements are masked: y = scale
// x + addend, an addend of 0 where an element is kept and of -inf where it is not, and the softmax
// in place. The sum passes through memory and is rounded to the element type. A row of which
// nothing is kept is NaN, and so is one whose masked elements are NaN or infinite.
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// x and y: sequences x queries x cols, packed; addend: queries x cols, the same for each sequence.
struct MaskedSoftmaxProblem {
  Dtype dtype = Dtype::f32;
  float scale = 1;
  std::int64_t sequences = 0;
  std::int64_t queries = 0;
  std::int64_t cols = 0;
};

std::vector<std::string_view> masked_softmax_variants(Dtype dtype);
void masked_softmax(std::string_view variant, const MaskedSoftmaxProblem& problem, const void* x,
                    const void* addend, void* y, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct MaskedSoftmaxVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(const MaskedSoftmaxProblem& problem, const void* x, const void* addend, void* y,
              Stream& stream);
};
std::span<const MaskedSoftmaxVariant> masked_softmax_table();

} // namespace kg::vendor
