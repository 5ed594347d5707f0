// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the cards of operations on the rows of matrices share. Their shapes are
// "rows<rows>_cols<cols>", behind the word of a form where there are several.
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

// Of the first output.
std::int64_t rows_of(const Problem& problem);
std::int64_t cols_of(const Problem& problem);

// Lengths of rows around packs, warps, blocks and powers of two; numbers of rows around warps and
// blocks.
std::vector<std::string> lengths_of_rows(std::string_view form = "");
std::vector<std::string> numbers_of_rows(std::int64_t cols, std::string_view form = "");
// A few, to be laid out in many ways: whole packs and not, for a warp and for a block.
std::vector<std::string> short_rows(Dtype dtype, std::string_view form = "");
// Two rows, for a warp and for a block.
std::vector<std::string> two_rows(Dtype dtype, std::string_view form = "");

// Whether every row of each matrix begins at 16 bytes.
bool rows_are_aligned(const Problem& problem, const Layout& layout);

std::int64_t elements_per_pack(Dtype dtype);

// Of kernels that read rows by 16-byte vectors where all of them are aligned, which a row alone is,
// and else by elements: their sums have other orders. All variants but naive depend on it.
Dependence dependence_on_vectors(const Problem& batch);
void depend_on_vectors(Card& card);

// Batches of short and long rows, of whole 16-byte vectors and not.
std::vector<std::string> batches_of_rows(std::string_view form = "");

// Lengths of rows for Card::pitches: around one pack and around several, whole, half and one off.
std::vector<std::int64_t> lengths_off_packs(Dtype dtype);
std::vector<std::string> rows_off_packs(Dtype dtype, std::string_view form = "");

} // namespace kg::card
