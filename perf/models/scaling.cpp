// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/models/scaling.h"

#include "models/initial_values.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace kg::perf {
namespace {

constexpr double kTolerance = 0.05;

// The 97.5 % points of Student's t with 1, 2, ... degrees of freedom (NIST/SEMATECH e-Handbook of
// Statistical Methods, 1.3.6.7.2); beyond them that of 10, which is on the safe side.
double student(std::size_t degrees) {
  constexpr std::array<double, 10> kPoints = {12.706, 4.303, 3.182, 2.776, 2.571,
                                              2.447,  2.365, 2.306, 2.262, 2.228};
  return kPoints[std::min(degrees, kPoints.size()) - 1];
}

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) {
    require(value > 0 && std::isfinite(value), "fit_power: a size or a time is not above 0");
    logs.push_back(std::log(value));
  }
  return logs;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

const char* verdict(Growth growth) {
  switch (growth) {
  case Growth::as_expected: return "as expected";
  case Growth::undecided: return "undecided: the times scatter, or overhead takes a part of them";
  case Growth::unlike: return "NOT as expected";
  }
  return "";
}

struct Axis {
  const char* what;
  double theory;
  std::int64_t& (*of)(ScalingBase&);
};
constexpr Axis kAxes[] = {
    {"steps", 1, [](ScalingBase& base) -> std::int64_t& { return base.steps; }},
    {"layers", 1, [](ScalingBase& base) -> std::int64_t& { return base.mlp.layers; }},
    {"batch", 1, [](ScalingBase& base) -> std::int64_t& { return base.mlp.batch; }},
    {"dim", 2, [](ScalingBase& base) -> std::int64_t& { return base.mlp.dim; }}};

} // namespace

PowerFit fit_power(const std::vector<double>& sizes, const std::vector<double>& times) {
  require(sizes.size() == times.size() && sizes.size() >= 3,
          "fit_power: three sizes or more are needed, each with a time");
  const std::vector<double> x = logarithms(sizes), y = logarithms(times);
  const double x0 = mean(x), y0 = mean(y);
  double squares = 0, products = 0, left = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (x[i] - x0) * (x[i] - x0);
    products += (x[i] - x0) * (y[i] - y0);
  }
  require(squares > 0, "fit_power: the sizes are all the same");
  const double slope = products / squares;
  for (std::size_t i = 0; i < x.size(); ++i) left += std::pow(y[i] - y0 - slope * (x[i] - x0), 2);
  const std::size_t degrees = x.size() - 2;
  return {slope, student(degrees) * std::sqrt(left / static_cast<double>(degrees) / squares)};
}

Growth judge(const PowerFit& fit, double theory) {
  const double apart = std::abs(fit.exponent - theory);
  if (apart <= kTolerance * theory) return Growth::as_expected;
  return apart - fit.reach <= kTolerance * theory ? Growth::undecided : Growth::unlike;
}

std::vector<Scaled> scale(const ScalingBase& base, int most, const TimeOf& time) {
  std::vector<Scaled> all;
  for (const Axis& axis : kAxes) {
    Scaled scaled{.what = axis.what, .theory = axis.theory, .factors = {}, .ns = {}, .fit = {}};
    for (int factor = 1; factor <= most; ++factor) {
      ScalingBase larger = base;
      axis.of(larger) *= factor;
      scaled.factors.push_back(factor);
      scaled.ns.push_back(time(larger));
    }
    scaled.fit = fit_power(scaled.factors, scaled.ns);
    all.push_back(std::move(scaled));
  }
  return all;
}

double time_of_training(const ScalingBase& what, int runs) {
  Stream stream;
  models::Model model = models::mlp(what.mlp, models::Purpose::training);
  models::Execution execution(std::move(model.tape), stream);
  models::initialise(execution, 1);
  model.fill_inputs(execution, 2);
  const auto step = [&] {
    for (const models::Phase phase :
         {models::Phase::forward, models::Phase::backward, models::Phase::update})
      execution.run(phase);
  };
  step();
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    Event start, stop;
    stream.synchronize();
    start.record(stream);
    for (std::int64_t i = 0; i < what.steps; ++i) step();
    stop.record(stream);
    stop.synchronize();
    least = std::min(least, elapsed_ns(start, stop));
  }
  execution.check_memory();
  return least;
}

std::string text(const std::vector<Scaled>& all) {
  std::string text;
  for (const Scaled& scaled : all) {
    text += fmt::format("{:<7}", scaled.what);
    for (std::size_t i = 0; i < scaled.factors.size(); ++i)
      text += fmt::format("  x{:g} {:.2f} ms", scaled.factors[i], scaled.ns[i] / 1e6);
    text +=
        fmt::format("\n        exponent {:.3f} ± {:.3f}, theory {:g}: {}\n", scaled.fit.exponent,
                    scaled.fit.reach, scaled.theory, verdict(judge(scaled.fit, scaled.theory)));
  }
  return text;
}

int exit_code(const std::vector<Scaled>& all) {
  const auto is = [&](Growth growth) {
    return std::any_of(all.begin(), all.end(), [&](const Scaled& scaled) {
      return judge(scaled.fit, scaled.theory) == growth;
    });
  };
  return is(Growth::unlike) ? 1 : is(Growth::undecided) ? 77 : 0;
}

} // namespace kg::perf
