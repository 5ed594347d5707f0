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

std::vector<std::string_view> transpose_variants(Dtype dtype);
void transpose(std::string_view variant, Dtype dtype, const void* x, std::int64_t rows,
               std::int64_t cols, std::int64_t ldx, void* y, std::int64_t ldy, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct TransposeVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
              void* y, std::int64_t ldy, Stream& stream);
};
std::span<const TransposeVariant> transpose_table();

} // namespace kg::vendor
