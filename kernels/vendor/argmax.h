// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// A packed outer x axis x inner tensor; the index of the first largest element of its middle
// extent. NaN is the library's matter.
struct ArgmaxProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t outer = 1, axis = 1, inner = 1;

  std::int64_t results() const { return outer * inner; }
};

void argmax(std::string_view variant, const ArgmaxProblem& problem, const void* x,
            std::int32_t* out, Stream& stream);

using ArgmaxVariant = VariantOf<argmax, const ArgmaxProblem&>;
extern const Table<ArgmaxVariant> argmax_table;

} // namespace kg::vendor
