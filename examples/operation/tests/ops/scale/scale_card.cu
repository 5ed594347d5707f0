// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/scale/scale.h"

#include <functional>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

ShapeGrammar<std::int64_t> grammar() { // n65536
  return ShapeGrammar<std::int64_t>().number("n", std::identity());
}

Problem problem(Dtype dtype, const Shape& shape) {
  const std::int64_t n = grammar().parse(shape);
  Problem result{dtype, shape.text(), scale::work(n), static_cast<double>(n)};
  result.scalars = {{"a", 0.7F}};
  result.inputs = {{"x", dtype, {n}}};
  result.outputs = {{"y", dtype, {n}, true, {"x"}}}; // y may be x
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, scale::Variant variant, Stream& stream) {
  return scale::run(call.scalar("a"), call.in<float>("x"), call.out<float>("y"),
                    call.extent("y", 0), variant, stream);
};

// A product of two f32 numbers is exact in f64, so rounding it once gives the only correct value.
References references(const Problem& problem, const Inputs& inputs) {
  std::vector<double> y = inputs.at("x").values;
  for (double& value : y) value = test::round_to(Dtype::f32, problem.scalars.at("a") * value);
  return {{"y", {std::move(y), {}}}};
}

std::vector<Sample> exact_samples(Dtype dtype) {
  const Inputs inputs = {
      {"x", values(dtype, test::integers(dtype, kOdd, 2047, test::Tensor::a).values)}};
  return {{"integers", "n" + std::to_string(kOdd), inputs, {{"a", -1365}}}};
}

std::vector<Sample> special_samples(Dtype dtype) {
  const test::BitPairs pairs = test::special_pairs(dtype);
  const std::string shape = "n" + std::to_string(pairs.b.size());
  return {{"special", shape, {{"x", bits(dtype, pairs.b)}}}};
}

} // namespace

Card scale_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, scale::kVariants, kRun);
  card.references = references;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = these({"n" + std::to_string(kOdd)});
  card.sizes = [](Dtype dtype) { return lengths_around_tiles(dtype, 256); };
  card.misaligned = [](Dtype dtype) { return short_lengths(dtype, 256); };
  card.empty = {"n0"};
  card.timed_on_host = {{"n65536", true}};
  card.timed_on_gpu = {{"n65536"}, {"n16777216", true}};
  return card;
}

} // namespace kg::card
