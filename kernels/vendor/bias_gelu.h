// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for y = gelu(x + bias): the sum into y, and gelu in place.
// The sum passes through memory and is rounded to the element type. oneDNN has one call, too, that
// appends the gelu to the sum.
#pragma once

#include "bias_gelu/form.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

std::vector<std::string_view> bias_gelu_variants(bias_gelu::Form form, Dtype dtype);
void bias_gelu(std::string_view variant, bias_gelu::Form form, Dtype dtype, const void* x,
               const void* bias, void* y, std::int64_t rows, std::int64_t cols, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct BiasGeluVariant {
  std::string_view name;
  bool (*supports)(bias_gelu::Form form, Dtype dtype);
  void (*run)(bias_gelu::Form form, Dtype dtype, const void* x, const void* bias, void* y,
              std::int64_t rows, std::int64_t cols, Stream& stream);
};
std::span<const BiasGeluVariant> bias_gelu_table();

} // namespace kg::vendor
