// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce_by_key/reduce_by_key.h"
#include "runtime/stream.h"

#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// As in reduce_by_key/reduce_by_key.h. The order of additions is the library's, and so is what
// becomes of NaN.
std::vector<std::string_view> reduce_by_key_variants(const reduce_by_key::Problem& problem);
void reduce_by_key(std::string_view variant, const reduce_by_key::Problem& problem,
                   const reduce_by_key::Arrays& arrays, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct ReduceByKeyVariant {
  std::string_view name;
  bool (*supports)(const reduce_by_key::Problem& problem);
  void (*run)(const reduce_by_key::Problem& problem, const reduce_by_key::Arrays& arrays,
              Stream& stream);
};
std::span<const ReduceByKeyVariant> reduce_by_key_table();

} // namespace kg::vendor
