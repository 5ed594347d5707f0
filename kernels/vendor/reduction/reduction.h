// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// The order of additions is the library's; Thrust's on the host (TBB) may change from run to run.
enum class SumAxis { all, rows, columns };
std::vector<std::string_view> reduction_variants(SumAxis axis);
void reduction(std::string_view variant, SumAxis axis, const float* x, std::int64_t rows,
               std::int64_t cols, float* out, Stream& stream); // packed rows

// What a backend brings (host.cpp, cuda.cu): see vendor/dispatch.h.
struct ReductionVariant {
  std::string_view name;
  bool (*supports)(SumAxis axis);
  void (*run)(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
              Stream& stream);
};
std::span<const ReductionVariant> reduction_table();

} // namespace kg::vendor
