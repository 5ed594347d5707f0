// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the cards of row operations on matrices. Their shapes are "rows<rows>_cols<cols>", with
// a leading form word if the operation has several forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/shape_grammar.h"

namespace kg::card {

struct Size {
  std::int64_t rows, cols;
};
ShapeGrammar<Size> rows_grammar();

std::string rows_cols(std::int64_t rows, std::int64_t cols, std::string_view form = "");

// Extents of the first output.
std::int64_t rows_of(const Problem& problem);
std::int64_t cols_of(const Problem& problem);

// Row lengths around packs, warps, blocks and powers of two; row counts around warps and blocks.
std::vector<std::string> lengths_of_rows(std::string_view form = "");
std::vector<std::string> numbers_of_rows(std::int64_t cols, std::string_view form = "");
// A few shapes to test in many layouts: whole and partial packs, for a warp and for a block.
std::vector<std::string> short_rows(Dtype dtype, std::string_view form = "");
// Two rows, for a warp and for a block.
std::vector<std::string> two_rows(Dtype dtype, std::string_view form = "");

// Whether every row of each matrix begins at a 16-byte boundary.
bool rows_are_aligned(const Problem& problem, const Layout& layout);

std::int64_t elements_per_pack(Dtype dtype);

// For kernels that load 16-byte vectors only if all rows are aligned, as a row alone always is:
// vector and element loads sum in different orders. Applies to all variants but naive.
Dependence dependence_on_vectors(const Problem& batch);
void depend_on_vectors(Card& card);

// Batches of short and long rows, with and without a partial 16-byte vector.
std::vector<std::string> batches_of_rows(std::string_view form = "");

// Row lengths for Card::pitches: around one pack and several; whole, half, and one element off.
std::vector<std::int64_t> lengths_off_packs(Dtype dtype);
std::vector<std::string> rows_off_packs(Dtype dtype, std::string_view form = "");

} // namespace kg::card
