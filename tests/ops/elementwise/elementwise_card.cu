// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adding, subtracting, multiplying and dividing arrays. Each result has a single correct value, so
// comparisons are exact, except for NaN payloads.
#include "ops/elementwise/elementwise.h"

#include <cstdint>
#include <limits>

#include "libraries/elementwise.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"

namespace kg::card {
namespace {

using elementwise::Op;

struct Arrays {
  Op op;
  std::int64_t n;
};
ShapeGrammar<Arrays> grammar() {
  return ShapeGrammar<Arrays>().enumerator(&Arrays::op, elementwise::kOps).number("n", &Arrays::n);
}
Op op_of(const Problem& problem) { return problem.parameters.as<Arrays>().op; }

// The operations that the type supports.
std::vector<Op> ops(Dtype dtype) {
  std::vector<Op> supported;
  for (const Op op : elementwise::kOps)
    if (elementwise::supports(op, dtype)) supported.push_back(op);
  return supported;
}
std::vector<std::string> with_each_op(Dtype dtype, const std::vector<std::string>& shapes) {
  std::vector<std::string> names;
  for (const Op op : ops(dtype)) names.emplace_back(name(op));
  return in_each_form(names, shapes);
}
// A non-commutative operation if the type has one, otherwise the sum.
std::vector<std::string> with_one_op(Dtype dtype, const std::vector<std::string>& shapes) {
  return in_each_form({elementwise::supports(Op::sub, dtype) ? "sub" : "add"}, shapes);
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Arrays arrays = grammar().parse(shape);
  const std::int64_t n = arrays.n;
  Problem result{dtype, shape.text(), elementwise::work(dtype, n), static_cast<double>(n)};
  result.parameters = arrays;
  result.inputs = {{"a", dtype, {n}}, {"b", dtype, {n}}};
  result.outputs = {{"out", dtype, {n}, true, {"a", "b"}}};
  return result;
}

constexpr auto kRun = [](const Call& call, elementwise::Variant variant, Stream& stream) {
  const Problem& problem = call.problem();
  const auto run = [&]<class T>() {
    return elementwise::run<T>(op_of(problem), call.in<T>("a"), call.in<T>("b"), call.out<T>("out"),
                               call.extent("out", 0), variant, stream);
  };
  if (problem.dtype == Dtype::f64) return run.operator()<double>();
  if (problem.dtype == Dtype::i32) return run.operator()<int>();
  return dispatch(problem.dtype, run);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Problem& problem = call.problem();
  vendor::elementwise(vendor, op_of(problem), problem.dtype, call.address("a"), call.address("b"),
                      call.address("out"), call.extent("out", 0), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  return {{"out",
           {test::elementwise_oracle(op_of(problem), problem.dtype, inputs.at("a").values,
                                     inputs.at("b").values),
            {}}}};
}

Sample sample(Op op, const std::string& fill, test::Observed a, test::Observed b) {
  return {fill,
          std::string(name(op)) + "_n" + std::to_string(a.values.size()),
          {{"a", std::move(a)}, {"b", std::move(b)}}};
}

// Integers of all magnitudes, so that results wrap around.
std::vector<Sample> exact_samples(Dtype dtype) {
  if (is_integer(dtype)) return {{"integers", "add_n" + std::to_string(kOdd)}};
  std::vector<Sample> samples;
  for (const Op op : ops(dtype)) {
    const test::FillPair fill = test::exact_elementwise(dtype, op, kOdd);
    samples.push_back(sample(op, fill.name, values(dtype, fill.a), values(dtype, fill.b)));
  }
  return samples;
}

// Each with each: special_values for floats, the range limits for integers.
test::BitPairs special_pairs(Dtype dtype) {
  if (!is_integer(dtype)) return test::special_pairs(dtype);
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  test::BitPairs pairs;
  for (const std::int64_t a : {kLeast, kLeast + 1, std::int64_t{-1}, std::int64_t{0},
                               std::int64_t{1}, -kLeast - 2, -kLeast - 1})
    for (const std::int64_t b : {kLeast, kLeast + 1, std::int64_t{-1}, std::int64_t{0},
                                 std::int64_t{1}, -kLeast - 2, -kLeast - 1}) {
      pairs.a.push_back(static_cast<std::uint32_t>(a));
      pairs.b.push_back(static_cast<std::uint32_t>(b));
    }
  return pairs;
}

std::vector<Sample> special_samples(Dtype dtype) {
  const test::BitPairs pairs = special_pairs(dtype);
  std::vector<Sample> samples;
  for (const Op op : ops(dtype))
    samples.push_back(sample(op, "special", bits(dtype, pairs.a), bits(dtype, pairs.b)));
  return samples;
}

} // namespace

Card elementwise_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, elementwise::kVariants, kRun);
  for (Variant& each : card.variants)
    each.supports = [](const Problem& p) { return elementwise::supports(op_of(p), p.dtype); };
  card.vendors = {
      [](const Problem& p) { return names(vendor::elementwise_table, op_of(p), p.dtype); },
      run_vendor};
  card.vendors.on_host = always({"onednn", "thrust"});
  card.references = references;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype dtype) { return with_each_op(dtype, {"n" + std::to_string(kOdd)}); };
  card.sizes = [](Dtype dtype) { return with_one_op(dtype, lengths_around_tiles(dtype, 512)); };
  card.misaligned = [](Dtype dtype) { return with_one_op(dtype, short_lengths(dtype, 512)); };
  card.refuses_overlap = false;
  card.empty = {"add_n0"};
  card.kernel_name = packs_where_aligned("elementwise");
  card.timed_on_host = {{"add_n65536", true}, {"add_n1048576"}, {"div_n524288"}};
  // At least 768 MiB of traffic at 2^27.
  card.timed_on_gpu = {{"add_n1024"},      {"add_n10240"},          {"add_n65536"},
                       {"add_n102400"},    {"add_n16777216", true}, {"add_n134217728"},
                       {"div_n134217728"}, {"add_n536870912"}};
  return card;
}

} // namespace kg::card
