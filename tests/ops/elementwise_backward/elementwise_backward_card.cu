// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of products and quotients; no vendor has them. Their roundings are declared, so
// each result has a single correct value and comparisons are exact, except for NaN payloads.
// RandomAgainstFp64 compares the declared roundings with the gradient in fp64.
#include "ops/elementwise_backward/elementwise_backward.h"

#include <cmath>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_elementwise.h"

namespace kg::card {
namespace {

using elementwise_backward::Op;

struct Arrays {
  Op op;
  std::int64_t n;
};
ShapeGrammar<Arrays> grammar() {
  return ShapeGrammar<Arrays>()
      .enumerator(&Arrays::op, elementwise_backward::kOps)
      .number("n", &Arrays::n);
}
Op op_of(const Problem& problem) { return problem.parameters.as<Arrays>().op; }

std::vector<std::string> with_each_op(const std::vector<std::string>& shapes) {
  return in_each_form({"mul", "div"}, shapes);
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Arrays arrays = grammar().parse(shape);
  const auto [op, n] = arrays;
  Problem result{dtype, shape.text(), elementwise_backward::work(op, dtype, n),
                 (op == Op::mul ? 2.0 : 3.0) * static_cast<double>(n)};
  result.parameters = arrays;
  result.inputs = {{"dy", dtype, {n}}, {"a", dtype, {n}}, {"b", dtype, {n}}};
  result.outputs = {{"da", dtype, {n}, true, {"dy", "a", "b"}},
                    {"db", dtype, {n}, true, {"dy", "a", "b"}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, elementwise_backward::Variant variant,
                                  Stream& stream) {
  return elementwise_backward::run<T>(op_of(call.problem()), call.in<T>("dy"), call.in<T>("a"),
                                      call.in<T>("b"), call.out<T>("da"), call.out<T>("db"),
                                      call.extent("dy", 0), variant, stream);
};

References references(const Problem& problem, const Inputs& inputs) {
  test::BinaryGradients gradients = test::binary_gradients_oracle(
      op_of(problem) == Op::mul ? elementwise::Op::mul : elementwise::Op::div, problem.dtype,
      inputs.at("dy").values, inputs.at("a").values, inputs.at("b").values);
  return {{"da", {std::move(gradients.da), {}}}, {"db", {std::move(gradients.db), {}}}};
}

// Both operations with these arrays.
void add(std::vector<Sample>& samples, const std::string& fill, const test::Observed& dy,
         const test::Observed& a, const test::Observed& b) {
  for (const std::string& shape : with_each_op({"n" + std::to_string(dy.values.size())}))
    samples.push_back({fill, shape, {{"dy", dy}, {"a", a}, {"b", b}}});
}

// Products and quotients of integers and powers of two, exact and as wide as the significand.
std::vector<Sample> exact_samples(Dtype dtype) {
  const test::FillPair factors = test::exact_elementwise(dtype, elementwise::Op::mul, kOdd);
  const test::Observed a = values(dtype, factors.a), b = values(dtype, factors.b);
  std::vector<double> powers;
  for (std::int64_t i = 0; i < kOdd; ++i)
    powers.push_back(std::ldexp(i % 3 == 0 ? -1 : 1, static_cast<int>(i % 5) - 2));
  std::vector<Sample> samples;
  add(samples, "factors of the significand", b, a, values(dtype, powers));
  add(samples, "factors exchanged", a, b, values(dtype, powers));
  return samples;
}

// Each special value with each, and a third operand.
std::vector<Sample> special_samples(Dtype dtype) {
  const test::BitPairs pairs = test::special_pairs(dtype);
  std::vector<std::uint64_t> third;
  for (std::size_t i = 0; i < pairs.a.size(); ++i)
    third.push_back(pairs.a[(7 * i + 3) % pairs.a.size()]);
  const test::Observed x = bits(dtype, pairs.a), y = bits(dtype, pairs.b), z = bits(dtype, third);
  std::vector<Sample> samples;
  add(samples, "special", x, z, y);
  add(samples, "special", z, x, y);
  return samples;
}

} // namespace

Card elementwise_backward_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, elementwise_backward::kVariants, kRun);
  card.references = references;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) { return with_each_op({"n" + std::to_string(kOdd)}); };
  card.sizes = [](Dtype dtype) { return with_each_op(lengths_around_tiles(dtype, 256)); };
  card.misaligned = [](Dtype dtype) { return with_each_op(short_lengths(dtype, 256)); };
  card.empty = with_each_op({"n0"});
  card.kernel_name = packs_where_aligned("elementwise_backward");
  card.timed_on_host = {{"mul_n65536", true}, {"div_n262144"}};
  // At least 640 MiB of traffic at 2^26.
  card.timed_on_gpu = {{"mul_n65536"}, {"mul_n67108864", true}, {"div_n67108864"}};
  return card;
}

} // namespace kg::card
