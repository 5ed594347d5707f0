// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/rows.h"

#include <algorithm>

namespace kg::card {

ShapeGrammar<Size> rows_grammar() {
  return ShapeGrammar<Size>().number("rows", &Size::rows).number("cols", &Size::cols);
}

std::string rows_cols(std::int64_t rows, std::int64_t cols, std::string_view form) {
  std::string shape(form);
  if (!shape.empty()) shape += '_';
  return shape + "rows" + std::to_string(rows) + "_cols" + std::to_string(cols);
}

std::int64_t rows_of(const Problem& problem) { return problem.outputs[0].extents[0]; }
std::int64_t cols_of(const Problem& problem) { return problem.outputs[0].extents[1]; }

std::vector<std::string> lengths_of_rows(std::string_view form) {
  std::vector<std::string> shapes;
  for (const std::int64_t cols :
       {1,    2,    3,    7,    8,    9,    15,   16,   17,   31,    32,    33,
        63,   64,   65,   127,  128,  129,  255,  256,  257,  511,   512,   513,
        1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 16384, 16385, 50257}) // a vocabulary
    shapes.push_back(rows_cols(cols > 4000 ? 1 : 3, cols, form));
  // A single row is aligned whatever its length; only its last pack is partial.
  for (const std::int64_t cols : {5, 127, 255, 511, 1023, 2047})
    shapes.push_back(rows_cols(1, cols, form));
  return shapes;
}

std::vector<std::string> numbers_of_rows(std::int64_t cols, std::string_view form) {
  std::vector<std::string> shapes;
  for (const std::int64_t rows : {1, 3, 4, 5, 127, 128, 129, 1025})
    shapes.push_back(rows_cols(rows, cols, form));
  return shapes;
}

std::vector<std::string> short_rows(Dtype dtype, std::string_view form) {
  const std::int64_t pack = elements_per_pack(dtype);
  return {rows_cols(5, 5 * pack, form), rows_cols(5, 64 * pack + 3, form),
          rows_cols(5, 300 * pack, form)};
}

std::vector<std::string> two_rows(Dtype dtype, std::string_view form) {
  const std::int64_t pack = elements_per_pack(dtype);
  return {rows_cols(2, 40 * pack, form), rows_cols(2, 300 * pack, form)};
}

bool rows_are_aligned(const Problem& problem, const Layout& layout) {
  const std::int64_t pack = elements_per_pack(problem.dtype);
  const auto is_aligned = [&](const Tensor& tensor) {
    const Place place = place_of(layout, tensor.name);
    return !tensor.by_row || tensor.extents.size() != 2 ||
           (place.offset % pack == 0 &&
            (tensor.extents[0] == 1 || (tensor.extents[1] + tensor.gap + place.gap) % pack == 0));
  };
  return std::all_of(problem.inputs.begin(), problem.inputs.end(), is_aligned) &&
         std::all_of(problem.outputs.begin(), problem.outputs.end(), is_aligned);
}

std::int64_t elements_per_pack(Dtype dtype) {
  return 16 / static_cast<std::int64_t>(size_of(dtype));
}

Dependence dependence_on_vectors(const Problem& batch) {
  const bool whole = cols_of(batch) % elements_per_pack(batch.dtype) == 0;
  return {whole ? "" : "a row alone is read by 16-byte vectors, several of its length are not",
          "rows that begin off 16 bytes are not read by 16-byte vectors"};
}

void depend_on_vectors(Card& card) {
  for (Variant& variant : card.variants)
    if (variant.name != "naive") variant.dependence = dependence_on_vectors;
}

std::vector<std::string> batches_of_rows(std::string_view form) {
  std::vector<std::string> batches;
  for (const char* const cols : {"96", "99", "1000", "1536", "3001", "4104"})
    batches.push_back((form.empty() ? "" : std::string(form) + "_") + "rows*_cols" + cols);
  return batches;
}

std::vector<std::int64_t> lengths_off_packs(Dtype dtype) {
  const std::int64_t pack = elements_per_pack(dtype);
  std::vector<std::int64_t> lengths;
  for (const std::int64_t whole : {pack, 9 * pack, 300 * pack})
    for (const std::int64_t length : {whole - 1, whole, whole + 1, whole + pack / 2})
      if (length > 1) lengths.push_back(length);
  return lengths;
}

std::vector<std::string> rows_off_packs(Dtype dtype, std::string_view form) {
  std::vector<std::string> shapes;
  for (const std::int64_t cols : lengths_off_packs(dtype))
    shapes.push_back(rows_cols(3, cols, form));
  return shapes;
}

} // namespace kg::card
