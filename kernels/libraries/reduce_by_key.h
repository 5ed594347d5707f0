// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/reduce_by_key/reduce_by_key.h"
#include "runtime/memory.h"

namespace kg::vendor {

using ReduceByKeyVariant =
    VariantOf<void(const reduce_by_key::Problem&, const reduce_by_key::Arrays&, Stream&),
              const reduce_by_key::Problem&>;
extern const Table<ReduceByKeyVariant> reduce_by_key_table;

// As in ops/reduce_by_key/reduce_by_key.h. The order of additions and the handling of NaN depend on
// the library.
inline void reduce_by_key(std::string_view variant, const reduce_by_key::Problem& problem,
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
