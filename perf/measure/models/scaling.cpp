// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/scaling.h"

#include "models/initial_values.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kg::perf {
namespace {

constexpr double kTolerance = 0.05;

const char* verdict(Growth growth) {
  switch (growth) {
  case Growth::as_expected: return "as expected";
  case Growth::undecided:
    return "inconclusive: the times scatter, or overhead takes a part of them";
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
