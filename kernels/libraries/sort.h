// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// As in ops/sort/sort.h; the library decides where NaN go. Both value arrays may be null.
struct SortProblem {
  Dtype dtype = Dtype::f32;
  std::int64_t n = 0;
  bool pairs = false;
  bool descending = false;
  int begin_bit = 0, end_bit = 0; // of a key

  bool all_bits() const {
    return begin_bit == 0 && end_bit == 8 * static_cast<int>(size_of(dtype));
  }
};

using SortVariant = VariantOf<void(const SortProblem&, const void*, void*, const std::int32_t*,
                                   std::int32_t*, Stream&),
                              const SortProblem&>;
extern const Table<SortVariant> sort_table;

inline void sort(std::string_view variant, const SortProblem& problem, const void* keys,
                 void* sorted_keys, const std::int32_t* values, std::int32_t* sorted_values,
                 Stream& stream) {
  const std::string what = join("sort", {name(problem.dtype)});
  require_extents(what, {{"n", problem.n}});
  const auto& entry = find(sort_table, variant, what, problem);
  if (problem.n == 0) return;
  require_pointers(what, {{"keys", keys}, {"sorted_keys", sorted_keys}});
  if (problem.pairs) require_pointers(what, {{"values", values}, {"sorted_values", sorted_values}});
  entry.run(problem, keys, sorted_keys, values, sorted_values, stream);
}

} // namespace kg::vendor
