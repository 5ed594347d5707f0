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

// gelu by erf; gelu_tanh its approximation; silu is swish with a factor of 1.
enum class Activation { relu, sigmoid, tanh, gelu, gelu_tanh, silu };
std::string_view name(Activation function);

std::vector<std::string_view> activation_variants(Activation function, Dtype dtype);
void activation(std::string_view variant, Activation function, Dtype dtype, const void* x, void* y,
                std::int64_t n, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct ActivationVariant {
  std::string_view name;
  bool (*supports)(Activation function, Dtype dtype);
  void (*run)(Activation function, Dtype dtype, const void* x, void* y, std::int64_t n,
              Stream& stream);
};
std::span<const ActivationVariant> activation_table();

} // namespace kg::vendor
