// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/reduce_by_key.h"

#include "runtime/memory.h"
#include "vendor/dispatch.h"

#include <string>

namespace kg::vendor {

void reduce_by_key(std::string_view variant, const reduce_by_key::Problem& problem,
                   const reduce_by_key::Arrays& arrays, Stream& stream) {
  const std::string what = join("reduce_by_key", {name(problem.dtype)});
  require_extents(what, {{"n", problem.n}});
  const auto& entry = find(reduce_by_key_table, variant, what, problem);
  require_pointers(what, {{"count", arrays.count}});
  if (problem.n == 0) return fill_bytes(arrays.count, 0, sizeof *arrays.count, stream);
  require_pointers(what, {{"keys", arrays.keys},
                          {"values", arrays.values},
                          {"unique", arrays.unique},
                          {"results", arrays.results}});
  entry.run(problem, arrays, stream);
}

} // namespace kg::vendor
