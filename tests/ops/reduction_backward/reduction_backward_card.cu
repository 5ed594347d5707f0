// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of reductions; no library has them. Results must be exact: a mean's share is
// rounded to f32 and then to T, which equals the exact quotient rounded to T, because f32 has more
// than twice the digits of the 16-bit types, plus two.
#include "ops/reduction_backward/reduction_backward.h"

#include <cmath>
#include <limits>

#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/contract/execute.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_reduction_backward.h"

namespace kg::card {
namespace {

using reduction_backward::Extents;
using reduction_backward::Op;

struct Reduced {
  Op op;
  std::int64_t outer, axis, inner;
};
ShapeGrammar<Reduced> grammar() {
  return ShapeGrammar<Reduced>()
      .one_of(&Reduced::op,
              {{"sum", Op::sum}, {"mean", Op::mean}, {"max", Op::max}, {"min", Op::min}})
      .number("o", &Reduced::outer)
      .number("a", &Reduced::axis)
      .number("i", &Reduced::inner);
}
Op op_of(const Problem& problem) { return problem.parameters.as<Reduced>().op; }
bool is_extremum(Op op) { return op == Op::max || op == Op::min; }

// If everything is reduced, a single gradient is broadcast.
test::Degenerate degenerate(const Reduced& reduced) {
  return reduced.outer == 1 && reduced.inner == 1 ? test::Degenerate::constant
                                                  : test::Degenerate::no;
}

std::string shape_of(Op op, const Extents& extents) {
  return grammar().print({op, extents[0], extents[1], extents[2]});
}
std::vector<std::string> of_each_op(const std::vector<Extents>& some) {
  std::vector<std::string> shapes;
  for (const Extents& extents : some)
    for (const Op op : {Op::sum, Op::mean, Op::max, Op::min})
      shapes.push_back(shape_of(op, extents));
  return shapes;
}

// Only extrema read x.
Problem problem(Dtype dtype, const Shape& shape) {
  const Reduced reduced = grammar().parse(shape);
  const auto [op, outer, axis, inner] = reduced;
  Problem result{dtype, shape.text(), reduction_backward::work(op, dtype, {outer, axis, inner}),
                 static_cast<double>(outer * axis * inner)};
  result.parameters = reduced;
  result.outputs = {{"dx", dtype, {outer, axis, inner}}};
  if (is_extremum(op)) {
    result.inputs = {{"x", dtype, {outer, axis, inner}}};
    result.outputs[0].may_be = {"x"};
  }
  result.inputs.push_back({.name = "dy", .dtype = dtype, .extents = {outer, inner}});
  return result;
}

Extents extents_of(const Problem& problem) {
  const std::vector<std::int64_t>& dx = problem.tensor("dx").extents;
  return {dx[0], dx[1], dx[2]};
}

std::size_t workspace_bytes(reduction_backward::Variant variant, const Problem& problem) {
  return dispatch(problem.dtype, [&]<class T>() {
    return reduction_backward::workspace_bytes<T>(op_of(problem), extents_of(problem), variant);
  });
}

constexpr auto kRun = []<class T>(const Call& call, reduction_backward::Variant variant,
                                  Stream& stream) {
  const Op op = op_of(call.problem());
  const Extents extents = extents_of(call.problem());
  const bool valid = extents[0] >= 0 && extents[1] >= 0 && extents[2] >= 0;
  const std::size_t bytes = valid ? workspace_bytes(variant, call.problem()) : 0;
  return reduction_backward::run<T>(
      op, extents,
      {is_extremum(op) ? call.in<T>("x") : nullptr, call.in<T>("dy"), call.out<T>("dx")},
      bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
};

References references(const Problem& problem, const Inputs& inputs) {
  const Op op = op_of(problem);
  const Extents extents = extents_of(problem);
  const std::vector<double>& dy = inputs.at("dy").values;
  if (is_extremum(op))
    return {
        {"dx",
         {test::extremum_gradient_oracle(inputs.at("x").values, dy, extents, op == Op::max), {}}}};
  std::vector<double> dx = test::shared_gradient_oracle(
      dy, extents, op == Op::mean ? static_cast<double>(extents[1]) : 1);
  for (double& value : dx) value = test::round_to(problem.dtype, value);
  return {{"dx", {std::move(dx), {}}}};
}

// Rows, columns and all of a large matrix, and axes between others; with and without whole packs.
const std::vector<Extents> kLarge = {
    {1, 101 * 1027, 1}, {101, 1027, 1}, {1, 101, 1027}, {5, 70, 24}, {3, 130, 7}};
const std::vector<Extents> kSmall = {{3, 300, 1}, {1, 2600, 1}, {2, 90, 16}};

// Every operation on these data; sums and means do not read x.
void add(std::vector<Sample>& samples, const std::string& fill, const Extents& extents,
         const test::Observed& x, const test::Observed& dy) {
  for (const std::string& shape : of_each_op({extents})) {
    samples.push_back({.fill = fill, .shape = shape, .inputs = {{"dy", dy}}});
    samples.back().may_be_vacuous = true;
    if (is_extremum(grammar().parse(shape).op)) samples.back().inputs["x"] = x;
  }
}

std::int64_t count_of(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }
std::vector<double> gradients(Dtype dtype, const Extents& extents) {
  return test::normal(dtype, extents[0] * extents[2], test::Tensor::b).values;
}

// Few distinct values, so that the extrema of a result have ties in other threads and blocks. And
// subnormal numbers, which differ from zero, both as elements and as gradients.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto integers = [&](const Extents& extents, std::int64_t most) {
    return test::integers(dtype, count_of(extents), most, test::Tensor::a).values;
  };
  for (const Extents& extents : kLarge)
    add(samples, "ties", extents, values(dtype, integers(extents, 1)),
        values(dtype, gradients(dtype, extents)));
  const double least = test::min_subnormal(dtype);
  for (const Extents& extents : kSmall) {
    std::vector<double> x = integers(extents, 100), dy = gradients(dtype, extents);
    for (double& value : x) value *= least;
    for (double& value : dy) value = std::copysign(3 * least, value);
    add(samples, "subnormal", extents, values(dtype, x), values(dtype, dy));
    for (double& value : x) value = value > 99 * least ? least : 0;
    add(samples, "subnormal and zero", extents, values(dtype, x), values(dtype, dy));
  }
  return samples;
}

std::vector<Sample> random_samples(Dtype) {
  std::vector<Sample> samples;
  for (const std::string& shape : of_each_op(kLarge)) {
    samples.push_back({"normal", shape});
    const Reduced reduced = grammar().parse(shape);
    samples.back().may_be_vacuous = is_extremum(reduced.op);
    samples.back().degenerate = degenerate(reduced);
  }
  return samples;
}

// The first NaN is the extremum, whichever has the larger payload or sign bit.
void add_pairs_of_nan(std::vector<Sample>& samples, Dtype dtype) {
  const std::string shape = "o1_a2600_i1";
  const auto normals = test::normal(dtype, 2600, test::Tensor::a).values;
  std::vector<std::uint64_t> x, nans = {test::poison_bits(dtype)};
  for (const double value : normals) x.push_back(test::encode(dtype, value));
  for (const test::SpecialValue& special : test::special_values(dtype))
    if (std::isnan(test::decode(dtype, special.bits))) nans.push_back(special.bits);
  for (const std::uint64_t first : nans)
    for (const std::uint64_t second : nans) {
      x[1300] = first;
      x[2000] = second;
      for (const char* const op : {"max_", "min_"}) {
        samples.push_back({"two NaNs", op + shape, {{"x", bits(dtype, x)}}});
        samples.back().may_be_vacuous = true;
      }
    }
}

// Zeros of both signs are equal; dy passes unchanged.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Extents& extents : kSmall) {
    const auto count = static_cast<std::size_t>(count_of(extents));
    const std::vector<double> normals =
        test::normal(dtype, count_of(extents), test::Tensor::a).values;
    const std::vector<double> ordinary = gradients(dtype, extents);
    for (const double special :
         {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, -0.0}) {
      std::vector<double> x = normals, dy = ordinary;
      for (const std::size_t place : {count / 3, count / 2, count - 1}) x[place] = special;
      dy.back() = special;
      add(samples, "special", extents, values(dtype, x), values(dtype, dy));
      add(samples, "special everywhere", extents,
          values(dtype, std::vector<double>(count, special)), values(dtype, dy));
    }
    std::vector<double> zeros(count, -0.0);
    std::fill(zeros.begin() + static_cast<std::ptrdiff_t>(count / 2), zeros.end(), 0.0);
    add(samples, "zeros", extents, values(dtype, zeros), values(dtype, ordinary));
  }
  add_pairs_of_nan(samples, dtype);
  return samples;
}

// Around packs, warps and blocks, on either side of the axis; and more than the resident blocks
// write in one pass, also in rows of whole packs.
std::vector<std::string> sizes(Dtype dtype) {
  std::vector<Extents> some;
  for (const std::int64_t n : {1, 2, 3, 5, 7, 8, 9, 31, 33, 257, 1025})
    for (const Extents& extents :
         {Extents{n, 7, 1}, Extents{3, n, 1}, Extents{1, n, 3}, Extents{1, n, 8}, Extents{2, 5, n}})
      some.push_back(extents);
  std::vector<std::string> shapes = of_each_op(some);
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * 4 * 256 * 2 * 16 /
                                static_cast<std::int64_t>(size_of(dtype));
  for (const Op op : {Op::mean, Op::min}) {
    shapes.push_back(shape_of(op, {3, resident / 24 + 7, 8}));
    shapes.push_back(shape_of(op, {3 * resident / 1000, 1000, 1}));
  }
  return shapes;
}

// The reduction of the same kind first finds the extrema, in one or two launches.
std::vector<std::vector<std::string>> kernels(std::string_view name, const Problem& problem,
                                              const Layout&) {
  if (problem.output_size() == 0) return {};
  std::vector<std::vector<std::string>> names;
  if (is_extremum(op_of(problem))) {
    constexpr std::size_t kAlignment = 16;
    const auto places =
        static_cast<std::size_t>(problem.tensor("dy").size()) * sizeof(std::int32_t);
    const std::size_t bytes =
        workspace_bytes(enumerator_of(reduction_backward::kVariants, name), problem);
    const bool in_pieces = bytes > (places + kAlignment - 1) / kAlignment * kAlignment;
    names.assign(in_pieces ? 2 : 1, {"reduction::", "FirstExtremum"});
  }
  names.push_back({"reduction_backward::" + std::string(name)});
  return names;
}

} // namespace

Card reduction_backward_card() {
  using reduction_backward::Variant;
  Card card(grammar());
  card.problem = problem;
  card.forms = {"sum", "mean", "max", "min"};
  run_by(card, reduction_backward::kVariants, kRun);
  card.references = references;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) {
    return of_each_op({{33, 200, 1}, {1, 9000, 1}, {2, 130, 24}, {3, 130, 7}});
  };
  card.sizes = sizes;
  card.degenerate = [](const Problem& p) { return degenerate(p.parameters.as<Reduced>()); };
  // Gradients of extrema are mostly zeros.
  card.vacuous_outputs = [](const Problem& p) {
    return is_extremum(op_of(p)) ? std::vector<std::string>{"dx"} : std::vector<std::string>();
  };
  card.misaligned = [](Dtype) {
    return of_each_op({{5, 130, 1}, {5, 128, 1}, {3, 16, 40}, {2, 9, 21}});
  };
  card.empty = of_each_op({{0, 7, 1}, {3, 0, 1}, {1, 0, 3}, {1, 0, 8}, {2, 5, 0}});
  card.kernels = kernels;
  card.timed_on_host = {{"sum_o256_a1024_i1", true}, {"max_o128_a1024_i1"}, {"mean_o4_a64_i512"}};
  // 512 MiB of 16-bit elements, except for the first.
  card.timed_on_gpu = {{"sum_o64_a1024_i1"},
                       {"sum_o262144_a1024_i1", true},
                       {"mean_o4096_a256_i256"},
                       {"max_o262144_a1024_i1"},
                       {"max_o4096_a256_i256"}};
  return card;
}

} // namespace kg::card
