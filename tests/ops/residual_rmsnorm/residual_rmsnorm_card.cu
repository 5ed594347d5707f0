// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum with a residual, which must be exact, and the rmsnorm of the exact sum. Properties of the
// kernels shared with rmsnorm, such as scales and epsilons, are tested by rmsnorm's card only.
#include "ops/residual_rmsnorm/residual_rmsnorm.h"

#include "libraries/residual_rmsnorm.h"
#include "tests/ops/normalization/forward.h"
#include "tests/oracle/random.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  Problem result = norm::problem(dtype, shape, residual_rmsnorm::work, 5);
  const std::vector<std::int64_t> matrix = result.inputs[0].extents;
  result.inputs.push_back({"residual", dtype, matrix});
  result.outputs[0].may_be = {"x", "residual"};
  result.outputs.insert(result.outputs.begin(), {"z", dtype, matrix, true, {"x", "residual"}});
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, residual_rmsnorm::Variant variant,
                                  Stream& stream) {
  return residual_rmsnorm::run<T>({call.rows_in<T>("x"), call.rows_in<T>("residual"),
                                   call.rows_out<T>("z"), call.rows_out<T>("y")},
                                  call.in<T>("gamma"), call.scalar("epsilon"),
                                  call.out<float>("rstd"), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::residual_rmsnorm(vendor, call.problem().dtype,
                           {call.address("x"), call.address("residual"), call.address("gamma"),
                            call.scalar("epsilon"), call.address("z"), call.address("y"),
                            call.extent("y", 0), call.extent("y", 1)},
                           stream);
}

// A sum in f64 rounded to T equals the exact sum rounded to f32 and then to T: each format has more
// than twice the digits of the next, plus two. A library also rounds the sum.
References references(const Problem& problem, const Inputs& inputs) {
  const Size size{rows_of(problem), cols_of(problem)};
  const double epsilon = problem.scalars.at("epsilon");
  std::vector<double> z = inputs.at("x").values;
  const std::vector<double>& residual = inputs.at("residual").values;
  for (std::size_t i = 0; i < z.size(); ++i)
    z[i] = test::round_to(problem.dtype, z[i] + residual[i]);
  References result = {{"y", norm::rms_result(problem.dtype, size, z, inputs, epsilon)}};
  norm::add_statistics(result, {problem.dtype, size, z, epsilon, false});
  result["z"] = {std::move(z), {}};
  return result;
}

Sample sample(Dtype dtype, const std::string& fill, Size size, std::vector<double> x,
              std::vector<double> residual, double epsilon = norm::kEpsilon) {
  Sample result = norm::sample(dtype, fill, size, std::move(x), epsilon);
  result.inputs["residual"] = values(dtype, std::move(residual));
  return result;
}

std::vector<double> numbers(Dtype dtype, Size size, test::Tensor tensor) {
  return test::normal(dtype, size.rows * size.cols, tensor).values;
}

// Exact sums of adjacent multiples of 2^k.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Size size : norm::kSizesOfPowers) {
    const test::Random random(test::seed(), 0x52);
    std::vector<double> x, residual, z;
    const std::vector<double> gamma = test::normal(dtype, size.cols, test::Tensor::b).values;
    auto y =
        norm::rows_of_powers(size, gamma, [&](std::uint64_t index, double magnitude, double sign) {
          const auto of_residual = static_cast<double>(random.integer(index, -3, 3));
          residual.push_back(of_residual * magnitude);
          x.push_back((sign - of_residual) * magnitude);
          z.push_back(sign * magnitude);
        });
    samples.push_back(sample(dtype, "powers of two", size, x, residual, 0));
    samples.back().expected = {{"z", std::move(z)}, {"y", std::move(y)}};
  }
  return samples;
}

// A residual so small that T keeps little of it: the norm is that of the rounded sum.
std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Size size : {Size{9, 64}, Size{3, 1536}, Size{2, norm::kBeyondBlock}}) {
    std::vector<double> residual = numbers(dtype, size, test::Tensor::c);
    for (double& value : residual) value = test::round_to(dtype, value * test::ulp(dtype, 1));
    samples.push_back(sample(dtype, "less than an ulp", size, numbers(dtype, size, test::Tensor::a),
                             std::move(residual)));
  }
  norm::add_optional(samples, {{"rstd"}, {"gamma", "rstd"}, {"gamma"}});
  return samples;
}

// One special value at each position that a thread, a pack or a row could miss, in either operand;
// the other rows do not change.
std::vector<Sample> special_samples(Dtype dtype) {
  const double largest = test::max_finite(dtype);
  const std::vector<std::pair<double, double>> specials = {
      {kNan, 1},         {1, kNan}, {kInfinity, 1}, {-1, -kInfinity}, {kInfinity, -kInfinity},
      {largest, largest}};
  std::vector<Sample> samples;
  for (const std::int64_t cols :
       {std::int64_t{2}, std::int64_t{67}, std::int64_t{1024}, kForCluster, norm::kBeyondBlock}) {
    const Size size{2 * std::ssize(specials), cols};
    std::vector<double> x = numbers(dtype, size, test::Tensor::a);
    std::vector<double> residual = numbers(dtype, size, test::Tensor::c);
    for (std::size_t s = 0; s < specials.size(); ++s) {
      const std::int64_t place = s % 3 == 0 ? cols - 1 : s % 3 == 1 ? 0 : cols / 2;
      const auto at = 2 * s * static_cast<std::size_t>(cols) + static_cast<std::size_t>(place);
      x[at] = specials[s].first;
      residual[at] = specials[s].second;
    }
    samples.push_back(sample(dtype, "special", size, std::move(x), std::move(residual)));
  }
  return samples;
}

} // namespace

Card residual_rmsnorm_card() {
  Card card = norm::card(kRun);
  card.problem = problem;
  card.vendors = {[](const Problem& p) { return names(vendor::residual_rmsnorm_table, p.dtype); },
                  run_vendor, 4,
                  [](const Problem& p, std::string_view) { return p.without("rstd"); }};
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.kernel_name = norm::kernel_name("residual_rmsnorm");
  // A small one, and at least 0.5 GiB of f16.
  card.timed_on_gpu = {{"rows128_cols1024"},
                       {"rows65536_cols1024", true},
                       {"rows16384_cols8192"},
                       {"rows4096_cols32768"}};
  return card;
}

} // namespace kg::card
