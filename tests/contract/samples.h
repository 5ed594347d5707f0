// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the cards of related operations: lengths, layouts, and kernel names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/contract/card.h"

namespace kg::card {

// Not a multiple of any pack or tile: a few tiles of packs and about three elements.
inline constexpr std::int64_t kOdd = 10243;

// Elements from values that `dtype` represents, or from bits.
test::Observed values(Dtype dtype, std::vector<double> values);
test::Observed bits(Dtype dtype, std::vector<std::uint64_t> bits);

// Every shape in every form; the form's name becomes its first word: "add_n5".
std::vector<std::string> in_each_form(const std::vector<std::string>& forms,
                                      const std::vector<std::string>& shapes);

// Array lengths "n<length>" around a 16-byte pack, a warp, a block, a tile of `packs`, and the
// elements that one wave of a full grid processes.
std::vector<std::string> lengths_around_tiles(Dtype dtype, std::int64_t packs);
// A few lengths, to be tested at many addresses.
std::vector<std::string> short_lengths(Dtype dtype, std::int64_t packs);

// For operations that only move data: sets the sources, bit-exact references, and samples of all
// kinds of bit patterns, NaN payloads included.
void only_moves(Card& card, Sources sources);

// The expected kernel of an array operation: naive; vectorized, if one shift aligns all arrays to
// 16 bytes; or misaligned.
std::function<std::vector<std::string>(std::string_view variant, const Problem&, const Layout&)>
packs_where_aligned(std::string op);
// The same for operations whose kernels have the variants' names.
std::function<std::vector<std::string>(std::string_view variant, const Problem&, const Layout&)>
as_the_variant(std::string op);

} // namespace kg::card
