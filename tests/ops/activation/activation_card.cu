// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions of arrays; tolerances and their derivation in
// tests/oracle/tolerance_unary.h. relu's results are exact.
#include "ops/activation/activation.h"

#include <cmath>
#include <limits>

#include "libraries/activation.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/activation_functions.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_unary.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  const Activated parameters = activated_grammar().parse(shape);
  const std::int64_t n = parameters.n;
  Problem result{dtype, shape.text(), activation::work(dtype, n), static_cast<double>(n)};
  result.parameters = parameters;
  result.inputs = {{"x", dtype, {n}}};
  result.outputs = {{"y", dtype, {n}, true, {"x"}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, activation::Variant variant, Stream& stream) {
  return activation::run<T>(function_of(call.problem()), call.in<T>("x"), call.out<T>("y"),
                            call.extent("x", 0), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::activation(vendor, function_of(call.problem()), call.problem().dtype, call.address("x"),
                     call.address("y"), call.extent("x", 0), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const activation::Function op = function_of(problem);
  const Dtype dtype = problem.dtype;
  const std::vector<double>& x = inputs.at("x").values;
  const std::vector<double> y = test::unary_oracle(op, x);
  return {{"y",
           {y,
            [=](std::string_view variant) {
              if (variant.empty()) return test::library_tolerances(op, dtype, x, y);
              if (op == activation::Function::relu)
                return std::vector<double>(); // including a zero's sign
              return test::unary_tolerances(op, dtype, x, y);
            },
            test::unary_error_units(op, dtype, x, y)}}};
}

Sample sample(Function function, const std::string& fill, test::Observed x) {
  return {fill, word_of(function) + "_n" + std::to_string(x.values.size()), {{"x", std::move(x)}}};
}

// Arguments for which every legal computation gives the same number: zeros, and arguments so large
// that the result is the limit or the argument itself. Large positive arguments with full
// significands provide many distinct results.
std::vector<Sample> exact_samples(Dtype dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  const test::Random random(test::seed(), 19);
  std::vector<double> x;
  for (std::int64_t i = 0; i < kOdd; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const double large = test::round_to(dtype, 128 + 4096 * random.uniform(index));
    const double choices[] = {large, large, -large, 0, -0.0, infinity, -infinity};
    x.push_back(choices[random.integer(index, 0, 6)]);
  }
  std::vector<Sample> samples;
  for (const Function function : kFunctions) {
    samples.push_back(sample(function, "limits", values(dtype, x)));
    std::vector<double>& expected = samples.back().expected["y"];
    for (const double value : x) {
      const bool positive = value > 0;
      double y = positive ? value : value == 0 ? value : function == Function::relu ? 0.0 : -0.0;
      if (function == Function::sigmoid) y = value == 0 ? 0.5 : positive ? 1 : 0;
      if (function == Function::tanh && value != 0) y = positive ? 1 : -1;
      expected.push_back(y);
    }
  }
  return samples;
}

// From the left limits of all functions, through the tails with subnormal exponentials, to the
// right limits; and around 0, down to the subnormals.
std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<double> x;
  for (int i = -2200; i <= 600; ++i) x.push_back(test::round_to(dtype, 0.05 * i + 1e-3));
  const test::FloatFormat format = test::float_format(dtype);
  for (int exponent = format.min_exponent - format.precision + 1; exponent < 2; ++exponent)
    for (const double significand : {1.0, -1.25, 1.75, -1.0})
      x.push_back(test::round_to(dtype, std::ldexp(significand, exponent)));
  std::vector<Sample> samples;
  for (const Function function : kFunctions) { // all but tanh have zeros on the left
    samples.push_back(sample(function, "tails", values(dtype, x)));
    if (function != Function::tanh) samples.back().degenerate = test::Degenerate::sparse;
  }
  return samples;
}

// Within packs, at their ends and after them; and every bit pattern of a 16-bit type, and as many
// of f32, spread over all kinds.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<std::uint64_t> special;
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const test::SpecialValue& each : test::special_values(dtype)) special.push_back(each.bits);
  special.push_back(special[0]);
  const auto all = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
  std::vector<Sample> samples;
  for (const Function function : kFunctions) {
    samples.push_back(sample(function, "special", bits(dtype, special)));
    samples.push_back(sample(function, "all_bits", bits(dtype, all)));
  }
  return samples;
}

// The tile of a thread block of the vectorized kernel.
std::int64_t packs_of_tile(Dtype dtype) { return dtype == Dtype::f32 ? 1024 : 512; }

} // namespace

Card activation_card() {
  Card card = activation_family(packs_of_tile);
  card.problem = problem;
  run_by(card, activation::kVariants, kRun);
  // The correctness tests judge a library's accuracy; when timed, it only must have worked.
  card.vendors = {
      [](const Problem& p) { return names(vendor::activation_table, function_of(p), p.dtype); },
      run_vendor, 64};
  card.vendors.on_host = always({"onednn"});
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.kernel_name = packs_where_aligned("activation");
  card.bit_difference_reason = "expf, tanhf, erff";
  // At least 512 MiB of traffic at 2^27.
  card.timed_on_gpu = {{"silu_n65536"},          {"relu_n1048576"},   {"relu_n4194304"},
                       {"relu_n16777216", true}, {"relu_n134217728"}, {"tanh_n134217728"},
                       {"silu_n134217728"},      {"gelu_n134217728"}, {"relu_n536870912"}};
  return card;
}

} // namespace kg::card
