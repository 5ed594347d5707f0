// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What both ways to sort ask of their arrays.
#pragma once

#include "ops/sort/sort.h"
#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <string>

namespace kg::sort {

inline constexpr unsigned kBeyond = 1u << 30; // all counts are below

template <class T>
void require_arrays(const Arrays<T>& arrays, std::int64_t n) {
  require_extent("sort: n", n);
  require(n < kBeyond, "sort: n is " + std::to_string(n) + "; it must be below 2^30");
  require_elements("sort: keys", arrays.keys, n);
  require_elements("sort: sorted_keys", arrays.sorted_keys, n);
  const bool pairs = arrays.values != nullptr || arrays.sorted_values != nullptr;
  if (pairs) {
    require_elements("sort: values", arrays.values, n);
    require_elements("sort: sorted_values", arrays.sorted_values, n);
  }
  if (n == 0) return;
  const std::int64_t key_bytes = n * static_cast<std::int64_t>(sizeof(T)), value_bytes = 4 * n;
  require_apart("sort: keys", arrays.keys, key_bytes, "sorted_keys", arrays.sorted_keys, key_bytes);
  if (pairs) {
    require_apart("sort: values", arrays.values, value_bytes, "sorted_values", arrays.sorted_values,
                  value_bytes);
    require_apart("sort: keys", arrays.keys, key_bytes, "sorted_values", arrays.sorted_values,
                  value_bytes);
    require_apart("sort: values", arrays.values, value_bytes, "sorted_keys", arrays.sorted_keys,
                  key_bytes);
    require_apart("sort: sorted_keys", arrays.sorted_keys, key_bytes, "sorted_values",
                  arrays.sorted_values, value_bytes);
  }
}

} // namespace kg::sort
