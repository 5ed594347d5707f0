// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The largest elements of rows and their positions, which must be exact. Shapes are named
// r3_c5000_k7.
#include "ops/top_k/top_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card {
namespace {

ShapeGrammar<top_k::Problem> grammar() {
  return ShapeGrammar<top_k::Problem>()
      .number("r", &top_k::Problem::rows)
      .number("c", &top_k::Problem::cols)
      .number("k", &top_k::Problem::k)
      .demand([](const top_k::Problem& p) -> std::string {
        return p.k > p.cols || p.k > top_k::kMostK ? "k must be at most c, and at most 2048" : "";
      });
}

Problem problem(Dtype dtype, const Shape& shape) {
  const top_k::Problem p = grammar().parse(shape);
  const Work work = dispatch(dtype, [&]<class T>() { return top_k::work<T>(p); });
  Problem result{dtype, shape.text(), work, 0};
  result.inputs = {{"x", dtype, {p.rows, p.cols}}};
  result.outputs = {{"values", dtype, {p.rows, p.k}}, {"indices", Dtype::i32, {p.rows, p.k}}};
  result.calling = {"", {{"rows", {p.rows}}, {"cols", {p.cols}}, {"k", {p.k}}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, top_k::Variant variant, Stream& stream) {
  return top_k::run(
      top_k::Problem{call.extent("x", 0), call.extent("x", 1), call.extent("values", 1)},
      call.in<T>("x"), call.out<T>("values"), call.out<std::int32_t>("indices"), variant, stream);
};

References references(const Problem& problem, const Inputs& inputs) {
  const test::Observed& x = inputs.at("x");
  const std::int64_t rows = problem.inputs[0].extents[0], cols = problem.inputs[0].extents[1];
  const std::int64_t k = problem.outputs[0].extents[1];
  Reference chosen, indices;
  std::vector<std::int64_t> order(static_cast<std::size_t>(cols));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = [&](std::int64_t i) {
      return x.values[static_cast<std::size_t>(row * cols + i)];
    };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](std::int64_t a, std::int64_t b) {
                        const double left = at(a), right = at(b);
                        if (std::isnan(left) != std::isnan(right)) return std::isnan(left);
                        return left > right || (!(left < right) && a < b);
                      });
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t index = order[static_cast<std::size_t>(i)];
      indices.value.push_back(static_cast<double>(index));
      chosen.value.push_back(at(index));
      if (!x.bits.empty())
        chosen.bits.push_back(x.bits[static_cast<std::size_t>(row * cols + index)]);
    }
  }
  return {{"values", std::move(chosen)}, {"indices", std::move(indices)}};
}

std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout&) {
  if (problem.output_size() == 0) return {};
  if (variant == "naive") return {{"top_k::naive<"}};
  const bool fits = problem.inputs[0].extents[1] <= top_k::kMostK;
  return {{fits ? "top_k::short_rows<" : "top_k::radix<"}};
}

std::string shape_of(std::int64_t rows, std::int64_t cols, std::int64_t k) {
  return "r" + std::to_string(rows) + "_c" + std::to_string(cols) + "_k" + std::to_string(k);
}

// Ascending, descending, all equal, few distinct, and the largest ones together at the end: the
// selection depends on the upper bits, the lower bits, or only the indices.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const auto& [cols, k] : {std::pair{std::int64_t{300}, std::int64_t{20}}, {4100, 1000}}) {
    const auto size = static_cast<std::size_t>(cols);
    std::vector<double> rising(size), alike(size, -3), few(size), late(size, 0.5);
    for (std::size_t i = 0; i < size; ++i) {
      rising[i] = std::floor(static_cast<double>(i) / 20) - 100;
      few[i] = static_cast<double>(i * 7919 % 5) - 2;
      if (i + 30 > size) late[i] = 1 + static_cast<double>(i % 2) / 128;
    }
    const std::vector<double> falling(rising.rbegin(), rising.rend());
    for (const std::vector<double>& x : {rising, falling, alike, few, late}) {
      samples.push_back({"rows", shape_of(1, cols, k), {{"x", values(dtype, x)}}});
      samples.back().may_be_vacuous = true;
    }
  }
  // Around each power of two of the row's length: the first and the last element are equal and the
  // largest, so that an index with a missing bit would be another element's.
  for (std::int64_t power = 1; power <= 16384; power *= 2)
    for (const std::int64_t cols : {power - 1, power, power + 1}) {
      if (cols < 2) continue;
      std::vector<double> x(static_cast<std::size_t>(cols), -1);
      x.front() = x.back() = 2;
      samples.push_back({"ends", shape_of(1, cols, 2), {{"x", values(dtype, x)}}});
      samples.back().may_be_vacuous = true;
    }
  return samples;
}

// Each special number three times, cyclically; with other numbers in a long row.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<std::uint64_t> x;
  for (int turn = 0; turn < 3; ++turn)
    for (const test::SpecialValue& special : test::special_values(dtype)) x.push_back(special.bits);
  std::vector<Sample> samples;
  const std::int64_t few = std::ssize(x);
  samples.push_back({"special", shape_of(1, few, few), {{"x", bits(dtype, x)}}});
  for (int i = 0; i < 3000; ++i) x.insert(x.begin(), test::encode(dtype, -0.25 * (i % 9)));
  samples.push_back({"special", shape_of(1, std::ssize(x), 2000), {{"x", bits(dtype, x)}}});
  for (Sample& sample : samples) sample.may_be_vacuous = true;
  return samples;
}

} // namespace

Card top_k_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, top_k::kVariants, kRun);
  for (Variant& each : card.variants)
    if (each.name == "naive") { // quadratic in the row's length
      each.tried = each.listed = [](const Problem& p) { return p.inputs[0].extents[1] <= 500; };
      each.sequence = [](const Problem& p) { return p.inputs[0].extents[1]; };
    }
  card.references = references;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.random_samples = [](Dtype) {
    return std::vector<Sample>{{"normal", shape_of(1, 9000, top_k::kMostK)}};
  };
  card.special_samples = special_samples;
  card.usual = these({shape_of(5, 67, 8), shape_of(1, 2060, 33)});
  card.sizes = these({shape_of(3, 1, 1), shape_of(2, 2, 2), shape_of(2, 64, 3),
                      shape_of(1, 1025, 1025), shape_of(1, 2048, 1), shape_of(2, 2049, 5),
                      shape_of(1, 2300, 2048), shape_of(1, 4096, 1), shape_of(1, 4097, 64)});
  card.misaligned = these({shape_of(2, 70, 5), shape_of(1, 2056, 9)});
  card.vacuous_outputs = [](const Problem& p) { // the only index is 0
    return p.inputs[0].extents[1] == 1 ? std::vector<std::string>{"indices"}
                                       : std::vector<std::string>();
  };
  card.empty = {shape_of(0, 7, 3)};
  card.kernels = kernels;
  card.bound_on_host = kg::Bound::sync; // on the executor atomics and barriers cost more than loads
  card.timed_on_host = {
      {shape_of(16, 128, 8), true}, {shape_of(3, 500, 20)}, {shape_of(1, 16384, 50)}};
  card.timed_on_gpu = {{shape_of(64, 152064, 50), true},
                       {shape_of(1, 152064, 50)},
                       {shape_of(64, 152064, 2048)},
                       {shape_of(8192, 128, 8)}};
  return card;
}

} // namespace kg::card
