// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of activation functions; tolerances and their derivation in
// tests/oracle/tolerance_unary_backward.h. relu's results are exact.
#include "ops/activation_backward/activation_backward.h"

#include <cmath>
#include <limits>

#include "libraries/activation_backward.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/activation_functions.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_unary_backward.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  const Activated parameters = activated_grammar().parse(shape);
  const std::int64_t n = parameters.n;
  Problem result{dtype, shape.text(), activation_backward::work(dtype, n), static_cast<double>(n)};
  result.parameters = parameters;
  result.inputs = {{"x", dtype, {n}}, {"dy", dtype, {n}}};
  result.outputs = {{"dx", dtype, {n}, true, {"x", "dy"}}};
  result.kept = {{"y", dtype, {n}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, activation_backward::Variant variant,
                                  Stream& stream) {
  return activation_backward::run<T>(function_of(call.problem()), call.in<T>("x"), call.in<T>("dy"),
                                     call.out<T>("dx"), call.extent("x", 0), variant, stream);
};

// The y of the library's own forward pass.
void prepare(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::activation(vendor, function_of(call.problem()), call.problem().dtype, call.address("x"),
                     call.address("y"), call.extent("x", 0), stream);
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::activation_backward(vendor, function_of(call.problem()), call.problem().dtype,
                              call.address("x"), call.address("y"), call.address("dy"),
                              call.address("dx"), call.extent("x", 0), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const activation::Function op = function_of(problem);
  const Dtype dtype = problem.dtype;
  const std::vector<double>&x = inputs.at("x").values, &dy = inputs.at("dy").values;
  const std::vector<double> dx = test::unary_backward_oracle(op, x, dy);
  return {{"dx",
           {dx,
            [=](std::string_view variant) {
              if (variant.empty()) return test::library_backward_tolerances(op, dtype, x, dy, dx);
              if (op == activation::Function::relu)
                return std::vector<double>(); // including a zero's sign
              return test::unary_backward_tolerances(op, dtype, x, dy, dx);
            },
            test::unary_backward_error_units(op, dtype, x, dy, dx)}}};
}

Sample sample(Function function, const std::string& fill, test::Observed x, test::Observed dy) {
  return {fill,
          word_of(function) + "_n" + std::to_string(x.values.size()),
          {{"x", std::move(x)}, {"dy", std::move(dy)}}};
}

// Arguments for which every legal computation gives the same derivative: a power of two at 0, and 0
// or 1 far away. dy has full significands.
std::vector<Sample> exact_samples(Dtype dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  const test::Random random(test::seed(), 23);
  std::vector<double> x, dy;
  for (std::int64_t i = 0; i < kOdd; ++i) { // cycles through right, 0 and left
    const auto index = static_cast<std::uint64_t>(i);
    const bool far = random.integer(index, 0, 1) == 1;
    const double choices[] = {far ? infinity : 300, far ? -0.0 : 0, far ? -infinity : -300};
    x.push_back(choices[i % 3]);
    dy.push_back(
        test::round_to(dtype, random.sign(index) * (1 + 63 * random.uniform(index + kOdd))));
  }
  std::vector<Sample> samples;
  for (const Function function : kFunctions) {
    const bool rises = function != Function::sigmoid && function != Function::tanh;
    const double at_zero = function == Function::relu      ? 0
                           : function == Function::sigmoid ? 0.25
                           : function == Function::tanh    ? 1
                                                           : 0.5;
    samples.push_back(sample(function, "limits", values(dtype, x), values(dtype, dy)));
    samples.back().zero = test::SignedZero::ignored;
    for (std::size_t i = 0; i < x.size(); ++i)
      samples.back().expected["dx"].push_back(dy[i] * (x[i] == 0           ? at_zero
                                                       : x[i] > 0 && rises ? 1
                                                                           : 0));
  }
  return samples;
}

// From zero derivatives on the left, through the tails with subnormal exponentials, to those on the
// right; and around 0, down to the subnormals.
std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<double> x;
  for (int i = -2200; i <= 2200; ++i) x.push_back(test::round_to(dtype, 0.05 * i + 1e-3));
  const test::FloatFormat format = test::float_format(dtype);
  for (int exponent = format.min_exponent - format.precision + 1; exponent < 2; ++exponent)
    for (const double significand : {1.0, -1.25, 1.75, -1.0})
      x.push_back(test::round_to(dtype, std::ldexp(significand, exponent)));
  const double factor = dtype == Dtype::f16 ? 256 : 0x1p20; // lifts the tails above subnormals
  const auto dy = test::outliers(dtype, std::ssize(x), 2, factor, test::Tensor::b).values;
  std::vector<Sample> samples;
  for (const Function function : kFunctions) {
    samples.push_back(sample(function, "tails", values(dtype, x), values(dtype, dy)));
    samples.back().degenerate = test::Degenerate::sparse;
  }
  return samples;
}

// Each special value with each; every bit pattern of a 16-bit type, and as many of f32, spread over
// all kinds, as x.
std::vector<Sample> special_samples(Dtype dtype) {
  const test::BitPairs pairs = test::special_pairs(dtype);
  const auto all = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
  const auto dy = test::normal(dtype, std::ssize(all), test::Tensor::b).values;
  std::vector<Sample> samples;
  for (const Function function : kFunctions) {
    samples.push_back(sample(function, "special", bits(dtype, pairs.a), bits(dtype, pairs.b)));
    samples.back().degenerate = test::Degenerate::sparse;
    samples.push_back(sample(function, "all_bits", bits(dtype, all), values(dtype, dy)));
    // Derivatives that vanish on both sides: with many exponents, most bit patterns give 0.
    if (dtype != Dtype::f16 && (function == Function::sigmoid || function == Function::tanh))
      samples.back().degenerate = test::Degenerate::sparse;
  }
  return samples;
}

// The tile of a thread block of the vectorized kernel.
std::int64_t packs_of_tile(Dtype dtype) { return dtype == Dtype::f32 ? 512 : 256; }

} // namespace

Card activation_backward_card() {
  Card card = activation_family(packs_of_tile);
  card.problem = problem;
  run_by(card, activation_backward::kVariants, kRun);
  card.vendors.names = [](const Problem& p) {
    return names(vendor::activation_backward_table, function_of(p), p.dtype);
  };
  card.vendors.run = run_vendor;
  card.vendors.on_host = always({"onednn"});
  card.vendors.prepare = prepare;
  // The correctness tests judge a library's accuracy; when timed, it only must have worked.
  card.vendors.slack_when_timed = 64;
  card.vendors.zero = test::SignedZero::ignored;
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.kernel_name = packs_where_aligned("activation_backward");
  card.bit_difference_reason = "expf, tanhf, erff, fused products";
  // At least 768 MiB of traffic at 2^27.
  card.timed_on_gpu = {{"silu_n65536"},     {"relu_n16777216", true}, {"relu_n134217728"},
                       {"tanh_n134217728"}, {"silu_n134217728"},      {"gelu_n134217728"},
                       {"gelu_n268435456"}};
  return card;
}

} // namespace kg::card
