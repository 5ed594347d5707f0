// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The shapes of permute: the axes of x in the order of y, one digit each, and the extents of x,
// outer to inner, n, a, b, c and e: 021_n2_a3_b4. Three orders have names instead: images to
// channels-last and back, and attention heads, whose rows stay contiguous.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/permute/permute.h"
#include "tests/contract/shape_grammar.h"

namespace kg::card {

using permute::Permutation;

struct NamedOrder {
  std::string_view name, digits;
};
inline constexpr NamedOrder kNamedOrders[] = {
    {"nhwc", "0231"}, {"nchw", "0312"}, {"heads", "0213"}};

// Without extents.
inline Permutation permutation_of(std::string_view digits) {
  Permutation result{.rank = static_cast<int>(digits.size())};
  std::transform(digits.begin(), digits.end(), result.order.begin(),
                 [](char c) { return c - '0'; });
  return result;
}

inline void read_order(const Shape& shape, Permutation& p) {
  for (const auto& [name, digits] : kNamedOrders)
    if (shape.has(name)) p = permutation_of(digits);
  for (std::size_t rank = 1; rank <= permute::kMaxRank && p.rank == 0; ++rank) {
    std::string digits = std::string("01234").substr(0, rank);
    do
      if (shape.has(digits)) p = permutation_of(digits);
    while (std::next_permutation(digits.begin(), digits.end()));
  }
  if (p.rank == 0)
    throw Error("shape '" + shape.text() +
                "' has no order; add nhwc, nchw, heads or the axes of x "
                "in the order of y, as in 021");
}

inline std::string order_text(const Permutation& p) {
  std::string digits;
  for (int d = 0; d < p.rank; ++d) digits += std::to_string(p.order[static_cast<std::size_t>(d)]);
  for (const NamedOrder& each : kNamedOrders)
    if (each.digits == digits) return std::string(each.name);
  return digits;
}

inline ShapeGrammar<Permutation> permute_grammar() {
  ShapeGrammar<Permutation> result;
  result.part("(<order>|nhwc|nchw|heads)", read_order, order_text);
  for (int axis = 0; axis < permute::kMaxRank; ++axis)
    result.number(
        std::string(1, "nabce"[axis]),
        [axis](Permutation& p) -> std::int64_t& { return p.shape[static_cast<std::size_t>(axis)]; },
        0, [axis](const Permutation& p) { return axis < p.rank; });
  return result;
}

} // namespace kg::card
