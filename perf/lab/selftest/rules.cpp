// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/rules.h"

#include "perf/judge/statistics.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace kg::selftest {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The sum of squared deviations from the mean.
double squares(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

double relative_deviation(std::span<const double> values) {
  return std::sqrt(squares(values) / static_cast<double>(values.size() - 1)) / mean(values);
}

Call beyond(double change, double limit) {
  if (change > limit) return Call::slower;
  return change < -limit ? Call::faster : Call::same;
}

Call fixed(const Processes& a, const Processes& b, double limit) {
  const double before = judge::median(a.front()), after = judge::median(b.front());
  if (after / before > 1 + limit) return Call::slower;
  return before / after > 1 + limit ? Call::faster : Call::same;
}

// Whether the samples of `one` have neighbours in `other` (both sorted): enough of all samples, and
// enough of the distinct values.
bool covered(std::span<const double> one, std::span<const double> other) {
  constexpr double kNear = 0.005, kSamples = 0.97, kDistinct = 0.80;
  double samples = 0, distinct = 0, all_distinct = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto above = std::lower_bound(other.begin(), other.end(), one[i]);
    double distance = HUGE_VAL;
    if (above != other.end()) distance = std::log(*above / one[i]);
    if (above != other.begin()) distance = std::min(distance, std::log(one[i] / *(above - 1)));
    const bool near = distance <= std::log1p(kNear);
    const bool is_new = i == 0 || one[i] != one[i - 1];
    samples += near;
    distinct += near && is_new;
    all_distinct += is_new;
  }
  return samples >= kSamples * static_cast<double>(one.size()) &&
         distinct >= kDistinct * all_distinct;
}

std::vector<double> process_medians(const Processes& processes) {
  std::vector<double> medians;
  for (const std::vector<double>& samples : processes) medians.push_back(judge::median(samples));
  return medians;
}

constexpr double kSignificant = 0.05;

} // namespace

Call nvbench_legacy(const Processes& a, const Processes& b) {
  const double change = mean(b.front()) / mean(a.front()) - 1;
  return beyond(change, std::min(relative_deviation(a.front()), relative_deviation(b.front())));
}

Call nvbench_robust(const Processes& a, const Processes& b) {
  constexpr double kGap = 0.005;
  const std::vector<double> before = sorted(a.front()), after = sorted(b.front());
  const auto upper = [](const std::vector<double>& values) {
    return values[static_cast<std::size_t>(
        std::round(0.75 * static_cast<double>(values.size() - 1)))];
  };
  if (after.front() / upper(before) - 1 >= kGap) return Call::slower;
  if (before.front() / upper(after) - 1 >= kGap) return Call::faster;
  return covered(before, after) && covered(after, before) ? Call::same : Call::undecided;
}

Call mann_whitney_5(const Processes& a, const Processes& b) {
  const MannWhitney found = mann_whitney(a.front(), b.front());
  if (found.p >= kSignificant) return Call::same;
  const double pairs = static_cast<double>(a.front().size() * b.front().size());
  return found.u > pairs / 2 ? Call::slower : Call::faster;
}

Call fixed_5(const Processes& a, const Processes& b) { return fixed(a, b, 0.05); }
Call fixed_10(const Processes& a, const Processes& b) { return fixed(a, b, 0.10); }

Call onednn_t(const Processes& a, const Processes& b) {
  const double p = pooled_t_greater(process_medians(a), process_medians(b));
  if (p <= kSignificant) return Call::slower;
  return 1 - p <= kSignificant ? Call::faster : Call::same;
}

Call onednn_t_10(const Processes& a, const Processes& b) {
  constexpr double kMatters = 0.1;
  const std::vector<double> before = sorted(process_medians(a)), after = sorted(process_medians(b));
  const Call call = onednn_t(a, b);
  const double medians = judge::median(after) / judge::median(before);
  const double least = after.front() / before.front();
  if (call == Call::slower && std::max(medians, least) >= 1 + kMatters) return call;
  if (call == Call::faster && std::max(1 / medians, 1 / least) >= 1 + kMatters) return call;
  return Call::same;
}

std::span<const Rule> rivals() {
  static constexpr std::array<Rule, 7> kRules = {{
      {"nvbench_legacy", "NVBench legacy", 1, nvbench_legacy},
      {"nvbench_robust", "NVBench robust (times)", 1, nvbench_robust},
      {"mann_whitney", "Mann-Whitney p < 0.05", 1, mann_whitney_5},
      {"fixed_5", "medians, fixed 5 %", 1, fixed_5},
      {"fixed_10", "medians, fixed 10 %", 1, fixed_10},
      {"onednn_t", "t of 5 processes, p <= 0.05", 5, onednn_t},
      {"onednn_t_10", "t of 5 processes and 10 %", 5, onednn_t_10},
  }};
  return kRules;
}

MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b) {
  require(!a.empty() && !b.empty(), "mann_whitney: a or b has no samples; give both some");
  const std::vector<double> first = sorted(a), second = sorted(b);
  MannWhitney found;
  for (const double value : second) {
    const auto [low, high] = std::equal_range(first.begin(), first.end(), value);
    found.u += static_cast<double>(low - first.begin()) + 0.5 * static_cast<double>(high - low);
  }
  std::vector<double> all = first;
  all.insert(all.end(), second.begin(), second.end());
  std::sort(all.begin(), all.end());
  double ties = 0; // sum of t^3 - t over the groups of t equal values
  for (auto at = all.begin(); at != all.end();) {
    const auto end = std::upper_bound(at, all.end(), *at);
    const auto t = static_cast<double>(end - at);
    ties += t * t * t - t;
    at = end;
  }
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
  if (!(variance > 0)) return found;
  const double z = std::max(0.0, std::abs(found.u - n * m / 2) - 0.5) / std::sqrt(variance);
  found.p = std::erfc(z / std::sqrt(2.0));
  return found;
}

double pooled_t_greater(std::span<const double> a, std::span<const double> b) {
  require(a.size() + b.size() > 2 && !a.empty() && !b.empty(),
          "pooled_t_greater: it takes at least three samples, with one on either side");
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double difference = mean(b) - mean(a), dof = n + m - 2;
  if (difference == 0) return 0.5;
  const double variance = (squares(a) + squares(b)) / dof * (1 / n + 1 / m);
  if (variance == 0) return difference > 0 ? 0 : 1;
  const double t2 = difference * difference / variance;
  // P(|T| >= |t|) = I_x(dof / 2, 1 / 2) at x = dof / (dof + t^2).
  const double tail = judge::incomplete_beta(dof / 2, 0.5, dof / (dof + t2)) / 2;
  return difference > 0 ? tail : 1 - tail;
}

} // namespace kg::selftest
