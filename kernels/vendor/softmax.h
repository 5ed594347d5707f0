// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "softmax/kind.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

std::vector<std::string_view> softmax_variants(softmax::Kind kind, Dtype dtype);
void softmax(std::string_view variant, softmax::Kind kind, Dtype dtype, const void* x, void* y,
             std::int64_t rows, std::int64_t cols, Stream& stream); // packed rows

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct SoftmaxVariant {
  std::string_view name;
  bool (*supports)(softmax::Kind kind, Dtype dtype);
  void (*run)(softmax::Kind kind, Dtype dtype, const void* x, void* y, std::int64_t rows,
              std::int64_t cols, Stream& stream);
};
std::span<const SoftmaxVariant> softmax_table();

} // namespace kg::vendor
