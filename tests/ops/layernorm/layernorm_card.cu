// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm of rows that fit a warp, rows that fit a block's registers, and longer ones.
#include "ops/layernorm/layernorm.h"

#include "libraries/layernorm.h"
#include "tests/ops/normalization/forward.h"
#include "tests/oracle/random.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  Problem result = norm::problem(dtype, shape, layernorm::work, 8);
  result.inputs.push_back(norm::parameter("beta", dtype, cols_of(result)));
  result.outputs.insert(result.outputs.begin() + 1,
                        norm::statistic("mean", rows_of(result), cols_of(result)));
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, layernorm::Variant variant, Stream& stream) {
  return layernorm::run<T>(call.rows_in<T>("x"), call.in<T>("gamma"), call.in<T>("beta"),
                           call.scalar("epsilon"), call.rows_out<T>("y"), call.out<float>("mean"),
                           call.out<float>("rstd"), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::layernorm(vendor, call.problem().dtype,
                    {call.address("x"), call.address("gamma"), call.address("beta"),
                     call.scalar("epsilon"), call.address("y"), call.extent("y", 0),
                     call.extent("y", 1)},
                    stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const Size size{rows_of(problem), cols_of(problem)};
  const double epsilon = problem.scalars.at("epsilon");
  const std::vector<double>& x = inputs.at("x").values;
  References result = {
      {"y",
       norm::result(
           problem.dtype, size.cols,
           test::layer_norm_oracle(x, size.rows, size.cols, norm::values_or_none(inputs, "gamma"),
                                   norm::values_or_none(inputs, "beta"), epsilon),
           [](const test::NormOracle& of, std::size_t i, std::int64_t chain) {
             return test::layer_norm_f32_tolerance(of.value[i], of.normalized[i], of.skew[i],
                                                   of.spread[i], of.gamma[i], of.beta[i], chain);
           },
           [](const test::NormOracle& of, std::size_t i) {
             return (std::fabs(of.normalized[i]) + 1 + of.skew[i]) * of.gamma[i] + of.beta[i];
           })}};
  norm::add_statistics(result, {problem.dtype, size, x, epsilon, true});
  return result;
}

// Rows with as many m + d as m - d: in every order of summation the mean is exactly m, the
// deviation d and the result beta +- gamma.
void add_pairs(std::vector<Sample>& samples, Dtype dtype, Size size) {
  const test::Random random(test::seed(), 0x52);
  std::vector<double> x, expected;
  auto gamma = test::integers(dtype, size.cols, 60, test::Tensor::b).values;
  const auto beta = test::integers(dtype, size.cols, 60, test::Tensor::c).values;
  for (double& g : gamma) g = g == 0 ? 7 : g;
  for (std::int64_t r = 0; r < size.rows; ++r) {
    const double deviation = std::ldexp(1.0, static_cast<int>(r % 4));
    const auto mean = static_cast<double>(random.integer(static_cast<std::uint64_t>(r), -40, 40));
    for (std::int64_t c = 0; c < size.cols; ++c) {
      // Pairs of opposite signs, in either order.
      const int sign =
          random.sign(static_cast<std::uint64_t>(r * size.cols + c / 2 * 2)) * (c % 2 ? -1 : 1);
      x.push_back(mean + sign * deviation);
      const auto j = static_cast<std::size_t>(c);
      expected.push_back(sign * gamma[j] + beta[j]);
    }
  }
  samples.push_back(norm::sample(dtype, "m + d and m - d", size, x, 0));
  samples.back().inputs["gamma"] = values(dtype, gamma);
  samples.back().inputs["beta"] = values(dtype, beta);
  samples.back().expected["y"] = std::move(expected);
}

// Every row of x gives beta.
Sample gives_beta(Dtype dtype, const std::string& fill, Size size, std::vector<double> x) {
  Sample result = norm::sample(dtype, fill, size, std::move(x));
  const auto beta = test::normal(dtype, size.cols, test::Tensor::c).values;
  std::vector<double>& y = result.expected["y"];
  for (std::int64_t r = 0; r < size.rows; ++r) y.insert(y.end(), beta.begin(), beta.end());
  return result;
}

std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Size size : {Size{24, 64}, Size{9, 998}, Size{17, 1024}, Size{6, 2052},
                          Size{2, kForCluster}, Size{3, norm::kBeyondBlock + 1}})
    add_pairs(samples, dtype, size);
  // A constant row gives beta if epsilon is not 0; so does a row of one element.
  for (const std::int64_t cols : {1, 64, 2048}) {
    std::vector<double> x;
    for (std::int64_t i = 0; i < 5 * cols; ++i) x.push_back(static_cast<double>(i / cols * 3 - 5));
    samples.push_back(gives_beta(dtype, "constant rows", {5, cols}, std::move(x)));
    if (cols == 1) samples.back().degenerate = test::Degenerate::constant;
  }
  samples.push_back(
      norm::sample(dtype, "constant rows, epsilon 0", {2, 32}, std::vector<double>(64, 3), 0));
  samples.back().expected["y"] = std::vector<double>(64, kNan);
  samples.back().may_be_vacuous = true;
  // Squares that overflow f32 count as infinite.
  if (dtype == Dtype::f16) return samples;
  std::vector<double> x;
  for (int i = 0; i < 3 * 40; ++i) x.push_back(i % 2 ? 0x1p70 : -0x1p70);
  samples.push_back(gives_beta(dtype, "2^70", {3, 40}, std::move(x)));
  samples.back().without = {"mean", "rstd"};
  return samples;
}

// mean| / deviation of 10, 100 and 1000 (bf16, whose spacing at 1000 is 4: an eighth of these), for
// which E[x^2] - mean^2 loses the variance.
std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const double width = dtype == Dtype::bf16 ? 8 : 1;
  for (const Size size : {Size{6, 200}, Size{3, 1400}, Size{1, norm::kBeyondBlock}})
    for (const double mean : {-10.0, 100.0, 1000.0}) {
      std::vector<double> x =
          test::normal(Dtype::f32, size.rows * size.cols, test::Tensor::a).values;
      for (double& value : x) value = test::round_to(dtype, mean + width * value);
      samples.push_back(norm::sample(dtype, "far from zero", size, std::move(x)));
    }
  norm::add_optional(
      samples, {{"mean"}, {"mean", "rstd"}, {"rstd"}, {"gamma"}, {"gamma", "beta"}, {"beta"}});
  norm::add_scales(samples, dtype);
  return samples;
}

} // namespace

Card layernorm_card() {
  Card card = norm::card(kRun);
  card.problem = problem;
  card.vendors = {[](const Problem& p) {
                    return names(vendor::layernorm_table, p.dtype, vendor::Statistics::none);
                  },
                  run_vendor, 4,
                  [](const Problem& p, std::string_view) {
                    const bool has_statistics = p.outputs.size() > 1; // which are not timed
                    return has_statistics ? p.without("mean").without("rstd") : p;
                  }};
  card.vendors.on_host = always({"onednn"});
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  return card;
}

} // namespace kg::card
