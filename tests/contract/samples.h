// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the cards of kindred operations share: lengths, layouts, and the names of kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/contract/card.h"

namespace kg::card {

// A multiple of nothing: a few tiles of packs and three elements, about.
inline constexpr std::int64_t kOdd = 10243;

// Elements from their values, which `dtype` represents, or from their bits.
test::Observed values(Dtype dtype, std::vector<double> values);
test::Observed bits(Dtype dtype, std::vector<std::uint64_t> bits);

// Every shape of every form, whose name becomes its first word: "add_n5".
std::vector<std::string> in_each_form(const std::vector<std::string>& forms,
                                      const std::vector<std::string>& shapes);

// Of arrays, "n<length>": around a pack of 16 bytes, a warp, a block, a tile of `packs`, and what a
// grid that fills the device takes at once.
std::vector<std::string> lengths_around_tiles(Dtype dtype, std::int64_t packs);
// A few, to be tried at many addresses.
std::vector<std::string> short_lengths(Dtype dtype, std::int64_t packs);

// Of an operation that only moves data: its sources, references of bits, and no other samples than
// patterns of all kinds, NaN payloads included.
void only_moves(Card& card, Sources sources);

// The kernel of an operation on arrays: naive, or vectorized where one shift aligns all arrays to
// 16 bytes, or misaligned.
std::function<std::vector<std::string>(std::string_view variant, const Problem&, const Layout&)>
packs_where_aligned(std::string op);
// The same of an operation whose kernels are called as its variants are.
std::function<std::vector<std::string>(std::string_view variant, const Problem&, const Layout&)>
as_the_variant(std::string op);

} // namespace kg::card
