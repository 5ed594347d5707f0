// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// As in sort/sort.h; where NaN go is the library's matter. Values may be null, both of them.
struct SortProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  bool pairs = false;
};

void sort(std::string_view variant, const SortProblem& problem, const void* keys, void* sorted_keys,
          const std::int32_t* values, std::int32_t* sorted_values, Stream& stream);

using SortVariant = VariantOf<sort, const SortProblem&>;
extern const Table<SortVariant> sort_table;

} // namespace kg::vendor
