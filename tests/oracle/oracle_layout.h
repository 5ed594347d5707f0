// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations that only move elements; for values, bits or elements. Dense, row-major tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/error.h"
#include "tests/oracle/strided.h"

namespace kg::test {

// The shape of x with permuted axes: axis d of the result is axis order[d] of x.
inline std::vector<std::int64_t> permuted_shape(const std::vector<std::int64_t>& shape,
                                                const std::vector<int>& order) {
  require(shape.size() == order.size(), "permuted_shape: give one entry of order per axis");
  std::vector<std::int64_t> result;
  for (const int axis : order) result.push_back(shape[static_cast<std::size_t>(axis)]);
  return result;
}

// Element (i0, i1, ...) of the result is the element of x with coordinate id along axis order[d].
template <typename T>
std::vector<T> permute_oracle(const std::vector<T>& x, const std::vector<std::int64_t>& shape,
                              const std::vector<int>& order) {
  const std::vector<std::int64_t> y_shape = permuted_shape(shape, order);
  require(static_cast<std::int64_t>(x.size()) == element_count(shape),
          "permute: " + std::to_string(x.size()) + " elements for a shape of " +
              std::to_string(element_count(shape)));
  std::vector<T> result;
  result.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::vector<std::int64_t> to = coordinates(static_cast<std::int64_t>(i), y_shape);
    std::vector<std::int64_t> from(shape.size());
    for (std::size_t d = 0; d < order.size(); ++d) from[static_cast<std::size_t>(order[d])] = to[d];
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + from[d];
    result.push_back(x[static_cast<std::size_t>(place)]);
  }
  return result;
}

} // namespace kg::test
