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

// As in sort/sort.h; where NaN go is the library's matter. Values may be null, both of them.
struct SortProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  bool pairs = false;
};

std::vector<std::string_view> sort_variants(const SortProblem& problem);
void sort(std::string_view variant, const SortProblem& problem, const void* keys, void* sorted_keys,
          const std::int32_t* values, std::int32_t* sorted_values, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct SortVariant {
  std::string_view name;
  bool (*supports)(const SortProblem& problem);
  void (*run)(const SortProblem& problem, const void* keys, void* sorted_keys,
              const std::int32_t* values, std::int32_t* sorted_values, Stream& stream);
};
std::span<const SortVariant> sort_table();

} // namespace kg::vendor
