// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm of rows that fit a warp, rows that fit a block's registers, and longer ones.
#include "ops/rmsnorm/rmsnorm.h"

#include "libraries/rmsnorm.h"
#include "tests/ops/normalization/forward.h"
#include "tests/oracle/random.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  return norm::problem(dtype, shape, rmsnorm::work, 4);
}

constexpr auto kRun = []<class T>(const Call& call, rmsnorm::Variant variant, Stream& stream) {
  return rmsnorm::run<T>(call.rows_in<T>("x"), call.in<T>("gamma"), call.scalar("epsilon"),
                         call.rows_out<T>("y"), call.out<float>("rstd"), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::rmsnorm(vendor, call.problem().dtype,
                  {call.address("x"), call.address("gamma"), call.scalar("epsilon"),
                   call.address("y"), call.extent("y", 0), call.extent("y", 1)},
                  stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const Size size{rows_of(problem), cols_of(problem)};
  const double epsilon = problem.scalars.at("epsilon");
  const std::vector<double>& x = inputs.at("x").values;
  References result = {{"y", norm::rms_result(problem.dtype, size, x, inputs, epsilon)}};
  norm::add_statistics(result, {problem.dtype, size, x, epsilon, false});
  return result;
}

std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto add = [&](Sample sample, std::vector<double> y) {
    samples.push_back(std::move(sample));
    samples.back().expected["y"] = std::move(y);
  };
  for (const Size size : norm::kSizesOfPowers) {
    const std::vector<double> gamma = test::normal(dtype, size.cols, test::Tensor::b).values;
    std::vector<double> x;
    auto expected =
        norm::rows_of_powers(size, gamma, [&](std::uint64_t, double magnitude, double sign) {
          x.push_back(sign * magnitude);
        });
    add(norm::sample(dtype, "powers of two", size, x, 0), std::move(expected));
  }
  const double gamma = dtype == Dtype::f32 ? 1.2345679F : 1.25;
  add(norm::sample(dtype, "one column", {5, 1}, {4, -0.5, 1, -2, 8}, 0),
      {gamma, -gamma, gamma, -gamma, gamma});
  samples.back().inputs["gamma"] = values(dtype, {gamma});
  // Zeros with gamma's sign: for rows of zeros, and if squares overflow f32, which counts as
  // infinite.
  const auto zeros = [&](Size size) {
    std::vector<double> y;
    for (std::int64_t r = 0; r < size.rows; ++r)
      for (const double each : test::normal(dtype, size.cols, test::Tensor::b).values)
        y.push_back(std::copysign(0.0, each));
    return y;
  };
  if (dtype != Dtype::f16) {
    add(norm::sample(dtype, "2^70", {3, 40}, std::vector<double>(120, 0x1p70)), zeros({3, 40}));
    samples.back().may_be_vacuous = true;
    samples.back().without = {"rstd"};
  }
  add(norm::sample(dtype, "zeros", {2, 20}, std::vector<double>(40, 0)), zeros({2, 20}));
  samples.back().may_be_vacuous = true;
  add(norm::sample(dtype, "zeros, epsilon 0", {2, 20}, std::vector<double>(40, 0), 0),
      std::vector<double>(40, kNan));
  samples.back().may_be_vacuous = true;
  return samples;
}

std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  norm::add_optional(samples, {{"rstd"}, {"gamma"}, {"gamma", "rstd"}});
  norm::add_scales(samples, dtype);
  if (dtype != Dtype::f16) { // just below the limit of squares: 40 * 2^122 = 1.25 * 2^127
    std::vector<double> x = test::normal(Dtype::bf16, 120, test::Tensor::a).values;
    for (double& value : x) value *= 0x1p59;
    samples.push_back(norm::sample(dtype, "2^61", {3, 40}, std::move(x)));
  }
  return samples;
}

} // namespace

Card rmsnorm_card() {
  Card card = norm::card(kRun);
  card.problem = problem;
  card.vendors = {[](const Problem& p) { return names(vendor::rmsnorm_table, p.dtype); },
                  run_vendor, 4,
                  [](const Problem& p, std::string_view) { return p.without("rstd"); }};
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  return card;
}

} // namespace kg::card
