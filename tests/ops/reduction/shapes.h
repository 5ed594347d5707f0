// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How shapes name reductions: all, rows or columns of a matrix, r<rows>_c<cols>, or a tensor over
// its middle axis, o<outer>_a<axis>_i<inner>, behind sum_, mean_, max_ or min_; without these it is
// the sum. And where x and the results lie, which argmax shares.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/reduction/reduction.h"
#include "runtime/backend.h"
#include "tests/contract/samples.h"

namespace kg::card {

using reduction::Extents;
using reduction::Op;

// Of reduction::name, whose library argmax does without.
inline constexpr std::string_view kOpWords[] = {"sum", "mean", "max", "min"};
inline std::string_view word_of(Op op) { return kOpWords[static_cast<std::size_t>(op)]; }

inline Op op_of(std::string_view shape) {
  for (const Op op : reduction::kOps)
    if (shape.starts_with(std::string(word_of(op)) + "_")) return op;
  return Op::sum;
}
inline bool is_sum(Op op) { return op == Op::sum || op == Op::mean; }

inline Extents extents_of(const Shape& shape) {
  for (const std::string_view word : kOpWords) shape.has(word);
  if (shape.text().find("_a") != std::string::npos && !shape.has("all")) {
    shape.has("tensor");
    return {shape.number("o"), shape.number("a"), shape.number("i")};
  }
  const bool all = shape.has("all");
  const std::size_t kind = all ? 0 : 1 + shape.word({"rows", "columns"});
  const std::int64_t rows = shape.number("r"), cols = shape.number("c");
  return kind == 0   ? Extents{1, rows * cols, 1}
         : kind == 1 ? Extents{rows, cols, 1}
                     : Extents{1, rows, cols};
}

inline std::string shape_of(Op op, const Extents& extents) {
  return std::string(word_of(op)) + "_o" + std::to_string(extents[0]) + "_a" +
         std::to_string(extents[1]) + "_i" + std::to_string(extents[2]);
}

// Over all of a matrix, over its rows, over its columns.
inline std::vector<Extents> axes_of(std::int64_t rows, std::int64_t cols) {
  return {{1, rows * cols, 1}, {rows, cols, 1}, {1, rows, cols}};
}
// Of odd extents, of whole packs, and of neither.
inline std::vector<Extents> large() {
  std::vector<Extents> all = axes_of(101, 1027);
  all.insert(all.end(), {{5, 70, 24}, {3, 130, 7}});
  return all;
}

// As dispatch, of i32, too.
template <class Function>
auto dispatch_numbers(Dtype dtype, Function function) {
  if (dtype == Dtype::i32) return function.template operator()<std::int32_t>();
  return dispatch(dtype, function);
}

inline std::int64_t count_of(const Extents& extents) {
  return extents[0] * extents[1] * extents[2];
}
inline std::int64_t results_of(const Extents& extents) { return extents[0] * extents[2]; }

// The elements of each result in a row, results one after the other; and back.
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

// x, which is reduced along its rows where there is no axis inside of that one.
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

// The elements of results [first, first + count), each result's in a row.
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

// Of operations whose results Thrust returns to the caller.
inline std::string thrust_note(std::string_view vendor) {
  if (backend != Backend::cuda || vendor != "thrust") return "";
  return "Thrust's call allocates, waits for the stream and frees: its times have that in them, "
         "hot ones, too";
}

} // namespace kg::card
