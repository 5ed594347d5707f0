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

// `packed`: rows follow each other without gaps on both sides.
std::vector<std::string_view> copy_variants(Dtype dtype, bool packed);
void copy(std::string_view variant, Dtype dtype, const void* x, std::int64_t rows,
          std::int64_t cols, std::int64_t ldx, void* y, std::int64_t ldy, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct CopyVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype, bool packed);
  void (*run)(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
              void* y, std::int64_t ldy, Stream& stream);
};
std::span<const CopyVariant> copy_table();

} // namespace kg::vendor
