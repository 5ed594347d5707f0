// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/activation_function.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

std::vector<std::string_view> activation_variants(activation::Function function, Dtype dtype);
void activation(std::string_view variant, activation::Function function, Dtype dtype, const void* x,
                void* y, std::int64_t n, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct ActivationVariant {
  std::string_view name;
  bool (*supports)(activation::Function function, Dtype dtype);
  void (*run)(activation::Function function, Dtype dtype, const void* x, void* y, std::int64_t n,
              Stream& stream);
};
std::span<const ActivationVariant> activation_table();

} // namespace kg::vendor
