// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// A packed outer x axis x inner tensor; the index of the first largest element of its middle
// extent. NaN is the library's matter.
struct ArgmaxProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t outer = 1, axis = 1, inner = 1;

  std::int64_t results() const { return outer * inner; }
};

std::vector<std::string_view> argmax_variants(const ArgmaxProblem& problem);
void argmax(std::string_view variant, const ArgmaxProblem& problem, const void* x,
            std::int32_t* out, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct ArgmaxVariant {
  std::string_view name;
  bool (*supports)(const ArgmaxProblem& problem);
  void (*run)(const ArgmaxProblem& problem, const void* x, std::int32_t* out, Stream& stream);
};
std::span<const ArgmaxVariant> argmax_table();

} // namespace kg::vendor
