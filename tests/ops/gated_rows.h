// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of gates and values, for gated_activation and its backward pass.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/ops/activation_functions.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_gated_activation.h"

#include "ops/gated_activation/gated_activation.h"

namespace kg::card {

using gated_activation::Form;
using gated_activation::kForms;

struct Gated {
  Form form;
  std::int64_t rows, cols;
};
inline ShapeGrammar<Gated> gated_grammar() {
  return ShapeGrammar<Gated>()
      .enumerator(&Gated::form, kForms)
      .number("rows", &Gated::rows)
      .number("cols", &Gated::cols);
}
inline Form gated_form_of(const Problem& problem) { return problem.parameters.as<Gated>().form; }
inline activation::Function gate_of(const Problem& problem) {
  return function_of(gated_form_of(problem));
}

inline std::vector<std::string> with_each_gate(const std::vector<std::string>& shapes) {
  return in_each_form({"swiglu", "geglu", "reglu"}, shapes);
}

using RowsAndCols = std::vector<std::pair<std::int64_t, std::int64_t>>;
inline std::vector<std::string> shapes_of(const RowsAndCols& sizes) {
  std::vector<std::string> shapes;
  for (const auto& [rows, cols] : sizes)
    shapes.push_back("rows" + std::to_string(rows) + "_cols" + std::to_string(cols));
  return shapes;
}

// reglu's results are exact: rounded to f32 by the oracle, then to T.
inline std::vector<double> stored_exactly(const Problem& problem, std::vector<double> value) {
  if (gated_form_of(problem) == Form::reglu)
    for (double& element : value) element = test::round_to(problem.dtype, element);
  return value;
}

// Bits of gates and values, in rows of `cols` each.
struct GatedRows {
  std::string fill;
  test::Halves<std::uint64_t> halves;
  std::int64_t cols;

  std::int64_t size() const { return std::ssize(halves.gate); }
  test::Halves<double> values(Dtype dtype) const {
    return {bits(dtype, halves.gate).values, bits(dtype, halves.value).values};
  }
  // A sample of this form, with x as its only input.
  Sample sample(Dtype dtype, Form form) const {
    return {fill,
            std::string(name(form)) + "_" + shapes_of({{size() / cols, cols}})[0],
            {{"x", bits(dtype, test::side_by_side(halves, cols))}}};
  }
};

// Gates with full significands beyond 128 or below -128: the activation is the gate itself or zero,
// and its derivative is 1 or 0. Values are powers of two.
inline GatedRows limit_rows(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const std::int64_t largest = (std::int64_t{1} << test::float_format(dtype).precision) - 1;
  const test::Random random(test::seed(), 23);
  GatedRows result{"limits", {}, cols};
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const auto size = static_cast<double>(random.integer(index, 128, largest));
    result.halves.gate.push_back(test::encode(dtype, i % 3 == 0 ? -size : size));
    result.halves.value.push_back(
        test::encode(dtype, std::ldexp(random.sign(index), static_cast<int>(i % 5) - 2)));
  }
  return result;
}

// Each special value as the gate of each, one row per gate.
inline GatedRows special_rows(Dtype dtype) {
  const test::BitPairs pairs = test::special_pairs(dtype);
  return {"special", {pairs.a, pairs.b}, std::ssize(test::special_values(dtype))};
}

// Gates of every bit pattern of a 16-bit type, or as many of f32.
inline GatedRows pattern_rows(Dtype dtype) {
  constexpr std::int64_t kCount = 1 << 16;
  const auto all = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, kCount);
  GatedRows result{"all_bits", {all, {}}, 64};
  for (const double value : test::normal(dtype, kCount, test::Tensor::c).values)
    result.halves.value.push_back(test::encode(dtype, value));
  return result;
}

} // namespace kg::card
