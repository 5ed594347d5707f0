// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Argument checks that all sort variants share.
#pragma once

#include "ops/sort/keys.h"
#include "ops/sort/sort.h"
#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <string>

namespace kg::sort {

inline constexpr unsigned kBeyond = 1u << 30; // above all counts

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

// The order with end_bit set. Throws Error if the key lacks these bits.
inline Order checked_order(Order order, std::size_t key_bytes) {
  const int bits = 8 * static_cast<int>(key_bytes);
  if (order.end_bit == 0) order.end_bit = bits;
  require(0 <= order.begin_bit && order.begin_bit < order.end_bit && order.end_bit <= bits, [&] {
    return "sort: bits [" + std::to_string(order.begin_bit) + ", " + std::to_string(order.end_bit) +
           ") are not some of a key's; 0 <= begin_bit < end_bit <= " + std::to_string(bits);
  });
  return order;
}

// For a checked order.
inline int passes_of(const Order& order) {
  return static_cast<int>(div_up(order.end_bit - order.begin_bit, kDigitBits));
}

// The bits of an ordered word that the sort compares.
template <class W>
W mask_of(const Order& order) {
  const auto all = static_cast<W>(~W{0});
  const auto below = static_cast<W>(all >> (8 * static_cast<int>(sizeof(W)) - order.end_bit));
  return static_cast<W>(below & (all << order.begin_bit));
}

inline void require_workspace(const void* workspace, std::size_t needed) {
  require(needed == 0 || workspace != nullptr, [&] {
    return "sort: workspace is null; pass " + std::to_string(needed) +
           " bytes of device memory, as workspace_bytes() and segments_workspace_bytes() say";
  });
}

} // namespace kg::sort
