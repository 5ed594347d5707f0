// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// alpha x + y. Its rounding is declared, so each result has a single correct value and comparisons
// with the oracle are exact, except for NaN payloads. Vendors may round the product separately.
#include "ops/axpy/axpy.h"

#include <functional>

#include "libraries/axpy.h"
#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_elementwise.h"

namespace kg::card {
namespace {

ShapeGrammar<std::int64_t> grammar() {
  return ShapeGrammar<std::int64_t>().number("n", std::identity());
}

Problem problem(Dtype dtype, const Shape& shape) {
  const std::int64_t n = grammar().parse(shape);
  Problem result{dtype, shape.text(), axpy::work(dtype, n), 2.0 * static_cast<double>(n)};
  result.scalars = {{"alpha", 0.7F}};
  result.inputs = {{"x", dtype, {n}}, {"y", dtype, {n}}};
  result.outputs = {{"out", dtype, {n}, true, {"x", "y"}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, axpy::Variant variant, Stream& stream) {
  return axpy::run<T>(call.scalar("alpha"), call.in<T>("x"), call.in<T>("y"), call.out<T>("out"),
                      call.extent("out", 0), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::axpy(vendor, call.problem().dtype, call.scalar("alpha"), call.address("x"),
               call.address("y"), call.address("out"), call.extent("out", 0), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const auto alpha = static_cast<float>(problem.scalars.at("alpha"));
  const std::vector<double>& x = inputs.at("x").values;
  std::vector<double> value = test::axpy_oracle(problem.dtype, alpha, x, inputs.at("y").values);
  std::vector<double> unfused = test::unfused_axpy_tolerance(problem.dtype, alpha, x, value);
  return {{"out", {std::move(value), [unfused](std::string_view variant) {
                     return variant.empty() ? unfused : std::vector<double>();
                   }}}};
}

// Integers whose product and sum fill the significand and are exact with any rounding. They reveal
// narrower arithmetic, but not whether the operation is fused.
std::vector<Sample> exact_samples(Dtype dtype) {
  struct Ranges {
    double alpha;
    std::int64_t x, y;
  };
  const Ranges ranges = dtype == Dtype::f32   ? Ranges{1365, 2047, 1 << 23}
                        : dtype == Dtype::f16 ? Ranges{5, 127, 1 << 10}
                                              : Ranges{5, 15, 1 << 7};
  const Inputs inputs = {
      {"x", values(dtype, test::integers(dtype, kOdd, ranges.x, test::Tensor::a).values)},
      {"y", values(dtype, test::integers(dtype, kOdd, ranges.y, test::Tensor::b).values)}};
  const std::string shape = "n" + std::to_string(kOdd);
  return {{"integers", shape, inputs, {{"alpha", ranges.alpha}}},
          {"integers", shape, inputs, {{"alpha", -ranges.alpha}}}};
}

std::vector<Sample> random_samples(Dtype) {
  const std::string shape = "n" + std::to_string(kOdd);
  return {{"normal", shape, {}, {{"alpha", -3e-3F}}},
          {"normal", shape, {}, {{"alpha", 1e10F}}},
          {"normal", shape, {}, {{"alpha", 1}}},
          {"normal", shape, {}, {{"alpha", 0}}}};
}

// Each special value with each as x and y, and each as alpha.
std::vector<Sample> special_samples(Dtype dtype) {
  const test::BitPairs pairs = test::special_pairs(dtype);
  const Inputs inputs = {{"x", bits(dtype, pairs.a)}, {"y", bits(dtype, pairs.b)}};
  const std::string shape = "n" + std::to_string(pairs.a.size());
  std::vector<Sample> samples = {{"special", shape, inputs}};
  for (const test::SpecialValue& special : test::special_values(Dtype::f32))
    samples.push_back({.fill = "special, alpha " + special.name,
                       .shape = shape,
                       .inputs = inputs,
                       .scalars = {{"alpha", test::decode(Dtype::f32, special.bits)}},
                       .may_be_vacuous = true});
  return samples;
}

} // namespace

Card axpy_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, axpy::kVariants, kRun);
  card.vendors = {[](const Problem& p) { return names(vendor::axpy_table, p.dtype); }, run_vendor};
  card.vendors.on_host = always({"onednn", "openblas", "thrust"});
  card.references = references;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.usual = these({"n" + std::to_string(kOdd)});
  card.sizes = [](Dtype dtype) { return lengths_around_tiles(dtype, 512); };
  card.misaligned = [](Dtype dtype) { return short_lengths(dtype, 512); };
  card.empty = {"n0"};
  card.kernel_name = packs_where_aligned("axpy");
  card.timed_on_host = {{"n65536", true}, {"n524288"}};
  card.timed_on_gpu = {{"n65536"}, {"n16777216", true}, {"n134217728"}}; // at least 768 MiB at 2^27
  return card;
}

} // namespace kg::card
