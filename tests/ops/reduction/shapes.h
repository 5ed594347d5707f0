// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of reductions in shapes: all, rows or columns of a matrix, r<rows>_c<cols>, or the middle
// axis of a tensor, o<outer>_a<axis>_i<inner>. Also the layouts that reduction and argmax share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/reduction/reduction.h"
#include "runtime/backend.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"

namespace kg::card {

using reduction::Extents;

enum class Along { all, rows, columns, tensor };
struct Reduced {
  Along along;
  std::int64_t rows, cols; // for a matrix
  Extents tensor;
};
inline ShapeGrammar<Reduced> reduced_grammar() {
  const auto tensor = [](const Reduced& r) { return r.along == Along::tensor; };
  const auto matrix = [](const Reduced& r) { return r.along != Along::tensor; };
  const auto extent = [](std::size_t axis) {
    return [axis](Reduced& r) -> std::int64_t& { return r.tensor[axis]; };
  };
  return ShapeGrammar<Reduced>()
      .one_of(&Reduced::along, {{"all", Along::all},
                                {"rows", Along::rows},
                                {"columns", Along::columns},
                                {"tensor", Along::tensor}})
      .number("r", &Reduced::rows, 0, matrix)
      .number("c", &Reduced::cols, 0, matrix)
      .number("o", extent(0), 0, tensor)
      .number("a", extent(1), 0, tensor)
      .number("i", extent(2), 0, tensor);
}

inline Extents extents_of(const Reduced& r) {
  switch (r.along) {
  case Along::all: return {1, r.rows * r.cols, 1};
  case Along::rows: return {r.rows, r.cols, 1};
  case Along::columns: return {1, r.rows, r.cols};
  case Along::tensor: return r.tensor;
  }
  fail("no such reduction");
}
inline std::string shape_of(const Extents& extents) {
  return reduced_grammar().print({Along::tensor, 0, 0, extents});
}

// Over a whole matrix, over its rows, over its columns.
inline std::vector<Extents> axes_of(std::int64_t rows, std::int64_t cols) {
  return {{1, rows * cols, 1}, {rows, cols, 1}, {1, rows, cols}};
}
// Odd extents, whole packs, and neither.
inline std::vector<Extents> large() {
  std::vector<Extents> all = axes_of(101, 1027);
  all.insert(all.end(), {{5, 70, 24}, {3, 130, 7}});
  return all;
}

// Like dispatch, but with i32.
template <class Function>
auto dispatch_numbers(Dtype dtype, Function function) {
  if (dtype == Dtype::i32) return function.template operator()<std::int32_t>();
  return dispatch(dtype, function);
}

inline std::int64_t count_of(const Extents& extents) {
  return extents[0] * extents[1] * extents[2];
}
inline std::int64_t results_of(const Extents& extents) { return extents[0] * extents[2]; }

// The elements of each result contiguously, one result after the other; and the inverse.
inline std::vector<double> slices_of(const std::vector<double>& x, const Extents& extents) {
  const auto [outer, axis, inner] = extents;
  std::vector<double> slices;
  slices.reserve(x.size());
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i)
      for (std::int64_t a = 0; a < axis; ++a)
        slices.push_back(x[static_cast<std::size_t>((o * axis + a) * inner + i)]);
  return slices;
}
inline std::vector<double> tensor_of(const std::vector<double>& slices, const Extents& extents) {
  return slices_of(slices, {extents[0], extents[2], extents[1]});
}

// x, reduced along its rows if the reduced axis is the innermost.
inline Tensor x_of(Dtype dtype, const Extents& extents) {
  Tensor x{"x", dtype, {extents[0], extents[1]}};
  if (extents[2] != 1) x.extents.push_back(extents[2]);
  return x;
}
inline Extents extents_of(const Problem& problem) {
  const std::vector<std::int64_t>& x = problem.inputs[0].extents;
  return {x[0], x[1], x.size() > 2 ? x[2] : problem.outputs[0].extents[1]};
}
template <class T>
View<const T, 3> view_of_x(const Call& call) {
  const Extents extents = extents_of(call.problem());
  const std::int64_t row = call.leading("x");
  if (call.problem().inputs[0].extents.size() == 2) return {call.in<T>("x"), extents, {row, 1, 1}};
  return {call.in<T>("x"), extents, {extents[1] * row, row, 1}};
}
template <class T>
bool is_valid(const View<const T, 3>& x) {
  return x.shape[0] >= 0 && x.shape[1] >= 0 && x.shape[2] >= 0;
}

// The elements of results [first, first + count), contiguous for each result.
inline std::vector<double> slices_of(const Problem& problem, std::int64_t first, std::int64_t count,
                                     const Values& values) {
  const auto [outer, axis, inner] = extents_of(problem);
  const Elements x = values("x");
  std::vector<double> slices;
  slices.reserve(static_cast<std::size_t>(count * axis));
  for (std::int64_t result = first; result < first + count; ++result)
    for (std::int64_t a = 0; a < axis; ++a)
      slices.push_back(x((result / inner * axis + a) * inner + result % inner));
  return slices;
}

// For operations whose results Thrust returns to the caller.
inline std::string thrust_note(std::string_view vendor) {
  if (backend != Backend::cuda || vendor != "thrust") return "";
  return "Thrust's call allocates, waits for the stream and frees: its times have that in them, "
         "hot ones, too";
}

} // namespace kg::card
