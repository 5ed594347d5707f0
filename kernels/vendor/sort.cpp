// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/sort.h"

#include "vendor/dispatch.h"

#include <string>

namespace kg::vendor {

void sort(std::string_view variant, const SortProblem& problem, const void* keys, void* sorted_keys,
          const std::int32_t* values, std::int32_t* sorted_values, Stream& stream) {
  const std::string what = join("sort", {name(problem.dtype)});
  require_extents(what, {{"n", problem.n}});
  const auto& entry = find(sort_table, variant, what, problem);
  if (problem.n == 0) return;
  require_pointers(what, {{"keys", keys}, {"sorted_keys", sorted_keys}});
  if (problem.pairs) require_pointers(what, {{"values", values}, {"sorted_values", sorted_values}});
  entry.run(problem, keys, sorted_keys, values, sorted_values, stream);
}

} // namespace kg::vendor
