// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/confirm.h"

#include "perf/judge/limits.h"
#include "perf/judge/wording.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kg::judge {
namespace {

constexpr double kPassAlpha = 0.025; // per test, for a pass by the median
constexpr std::size_t kRowsAtAlpha = 10;

// Trims one in twenty at each end. With 3 % outliers, more than that rarely fall on one side of 40
// pairs. With normal noise the trimmed t test keeps its level down to alpha = 0.00025.
std::size_t cut_of(std::size_t n) { return n / 20; }

void require_times(const std::vector<double>& times, const char* arm, std::size_t pairs) {
  require(times.size() == pairs, fmt::format("{} times of {}, but {} of a; each round gives one of "
                                             "each",
                                             times.size(), arm, pairs));
  for (std::size_t i = 0; i < times.size(); ++i)
    if (!std::isfinite(times[i]) || times[i] <= 0)
      fail(fmt::format("{}[{}] is {}; a time is a positive number of nanoseconds", arm, i,
                       times[i]));
}

std::vector<double> log_ratios(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < over.size(); ++i) logs.push_back(std::log(over[i] / under[i]));
  return logs;
}

// Lower and upper bound, each with error probability `alpha` for each of the two tests.
Interval bounds(const std::vector<double>& d, double alpha) {
  // An interval that misses on either side with probability `alpha` has confidence 1 - 2 alpha.
  const MedianInterval sign = median_interval(d, 1 - 2 * alpha);
  const TrimmedMean trimmed = trimmed_mean(d, cut_of(d.size()));
  const double reach = student_t_quantile(1 - alpha, trimmed.dof) * trimmed.error;
  Interval found = {trimmed.mean - reach, trimmed.mean + reach};
  if (median_interval_rank(d.size(), 1 - 2 * alpha) == 0) return found; // too few for a sign test
  found.low = std::max(found.low, sign.interval.low);
  found.high = std::min(found.high, sign.interval.high);
  return found;
}

// The smallest shift of d, beyond `tolerated`, that one of the tests detects with probability
// kPower. t test: (t(1 - alpha) + t(power)) standard errors. Sign test: its lower bound is the l-th
// smallest d, so at most l - 1 pairs may lie below `tolerated`. That allows a share q of the noise
// below, with P(B <= l - 1) = kPower for B binomial(n, q).
double detectable(const std::vector<double>& d, double tolerated, double alpha) {
  const TrimmedMean trimmed = trimmed_mean(d, cut_of(d.size()));
  const double by_t =
      (student_t_quantile(1 - alpha, trimmed.dof) + student_t_quantile(kPower, trimmed.dof)) *
      trimmed.error;
  const std::size_t rank = median_interval_rank(d.size(), 1 - 2 * alpha);
  if (rank == 0) return tolerated + by_t;
  const double share = clopper_pearson_upper(rank - 1, d.size(), 1 - kPower);
  return tolerated + std::min(by_t, median(d) - quantile(d, share));
}

double percent(double log_ratio) { return 100 * std::expm1(log_ratio); }

Verdict decide(const std::vector<double>& d, const std::vector<double>& control,
               const ConfirmRule& rule) {
  const double tolerated = std::log1p(rule.tol_pct / 100);
  const double forged = std::log1p(rule.tol_pct / 200);
  const Interval null = bounds(control, rule.alpha);
  if (null.low > forged || null.high < -forged) return Verdict::env;
  const Interval found = bounds(d, rule.alpha);
  if (found.low > tolerated) return Verdict::regressed;
  if (-found.high > std::log(kGpuImproves)) return Verdict::improved;
  const bool near = median(d) < forged && bounds(d, kPassAlpha).high < tolerated;
  return found.high < tolerated || near ? Verdict::pass : Verdict::inconclusive;
}

} // namespace

ConfirmRule confirm_rule(double tol_pct, std::size_t rows) {
  ConfirmRule rule;
  rule.tol_pct = tol_pct;
  if (rows > kRowsAtAlpha)
    rule.alpha *= static_cast<double>(kRowsAtAlpha) / static_cast<double>(rows);
  return rule;
}

Confirmation confirm(const PairedTimes& times, const ConfirmRule& rule) {
  const std::size_t pairs = times.a_ns.size();
  require(pairs >= rule.first_look && pairs > 0,
          fmt::format("{} pairs; the first look needs {}", pairs, rule.first_look));
  require_times(times.a_ns, "a", pairs);
  require_times(times.b_ns, "b", pairs);
  require_times(times.control_ns, "control", pairs);

  const std::vector<double> d = log_ratios(times.b_ns, times.a_ns);
  const std::vector<double> control = log_ratios(times.control_ns, times.a_ns);
  const Interval slower = bounds(d, rule.alpha);
  Confirmation found;
  found.pairs = pairs;
  found.verdict = decide(d, control, rule);
  found.more = found.verdict == Verdict::inconclusive && pairs < rule.second_look;
  found.ratio = std::exp(-median(d));
  found.ratio_interval = {std::exp(-slower.high), std::exp(-slower.low)};
  found.detectable_pct = percent(detectable(d, std::log1p(rule.tol_pct / 100), rule.alpha));
  found.reason = confirmation_text(found, rule.tol_pct, std::abs(percent(median(control))));
  return found;
}

} // namespace kg::judge
