// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/history/change_points.h"

#include "perf/judge/statistics.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace kg::history {
namespace {

// The sum of absolute deviations from the median of incrementally added values: the sum of the
// greater half minus the sum of the smaller half.
class Deviations {
 public:
  void add(double value) {
    if (low_.empty() || value <= *low_.rbegin()) {
      low_.insert(value);
      low_sum_ += value;
    } else {
      high_.insert(value);
      high_sum_ += value;
    }
    if (low_.size() > high_.size() + 1)
      move(low_, std::prev(low_.end()), low_sum_, high_, high_sum_);
    if (high_.size() > low_.size()) move(high_, high_.begin(), high_sum_, low_, low_sum_);
  }
  double sum() const {
    const double middle = low_.size() > high_.size() ? *low_.rbegin() : 0; // in neither half
    return high_sum_ - (low_sum_ - middle);
  }

 private:
  using Half = std::multiset<double>;
  static void move(Half& from, Half::iterator value, double& from_sum, Half& to, double& to_sum) {
    from_sum -= *value;
    to_sum += *value;
    to.insert(*value);
    from.erase(value);
  }
  Half low_, high_;
  double low_sum_ = 0, high_sum_ = 0;
};

// The scale b of Laplace noise around a level. The median absolute difference of adjacent values is
// 1.146 b: the difference has the distribution function 1 - (1 + x / 2b) / 2 exp(-x / b) for x >=
// 0, its magnitude 1 - (1 + x / 2b) exp(-x / b).
double noise_of(const std::vector<double>& logs) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < logs.size(); ++i) steps.push_back(std::fabs(logs[i] - logs[i - 1]));
  constexpr double kOfLaplace = 1.146;
  constexpr double kFinest = 1e-4; // clock resolution
  return std::max(judge::median(steps) / kOfLaplace, kFinest);
}

} // namespace

std::vector<ChangePoint> change_points(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) {
    require(std::isfinite(value) && value > 0,
            fmt::format("change_points: value {} is {}; times must be positive and finite",
                        logs.size(), value));
    logs.push_back(std::log(value));
  }
  const std::size_t n = logs.size();
  if (n < 2 * kLeastSegment) return {};
  const double penalty = 3 * noise_of(logs) * std::log(static_cast<double>(n));

  // cost[end]: of the best partition of the first `end` values; from[end]: the start of its last
  // segment.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> cost(n + 1, kNever);
  std::vector<std::size_t> from(n + 1, 0);
  cost[0] = -penalty;
  for (std::size_t begin = 0; begin + kLeastSegment <= n; ++begin) {
    if (cost[begin] == kNever) continue;
    Deviations segment;
    for (std::size_t end = begin + 1; end <= n; ++end) {
      segment.add(logs[end - 1]);
      const double total = cost[begin] + segment.sum() + penalty;
      if (end - begin < kLeastSegment || total >= cost[end]) continue;
      cost[end] = total;
      from[end] = begin;
    }
  }

  std::vector<std::size_t> begins;
  for (std::size_t end = n; end > 0; end = from[end]) begins.push_back(from[end]);
  std::reverse(begins.begin(), begins.end());
  begins.push_back(n);
  std::vector<ChangePoint> found;
  const auto level = [&](std::size_t segment) {
    return judge::median(values.subspan(begins[segment], begins[segment + 1] - begins[segment]));
  };
  for (std::size_t segment = 1; segment + 1 < begins.size(); ++segment) {
    const ChangePoint change{begins[segment], level(segment - 1), level(segment)};
    if (std::fabs(std::log(change.after / change.before)) >= kLeastChange) found.push_back(change);
  }
  return found;
}

} // namespace kg::history
