// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/statistics.h"

#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

std::vector<double> checked_copy(std::span<const double> samples) {
  require(!samples.empty(), "samples: expected at least one, got none");
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!std::isfinite(samples[i]))
      fail("samples[" + std::to_string(i) + "] is " + std::to_string(samples[i]) +
           "; a sample must be a finite number");
  return {samples.begin(), samples.end()};
}

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> values = checked_copy(samples);
  std::sort(values.begin(), values.end());
  return values;
}

double median_of_sorted(std::span<const double> values) {
  const std::size_t n = values.size();
  return n % 2 ? values[n / 2] : std::midpoint(values[n / 2 - 1], values[n / 2]);
}

void require_confidence(double confidence) {
  require(confidence > 0 && confidence < 1,
          "confidence is " + std::to_string(confidence) + "; it must lie between 0 and 1");
}

// The p in [0, 1] at which an increasing function of p crosses `target`, to the last bit.
template <typename Rising>
double crossing(Rising rising, double target) {
  double low = 0, high = 1;
  for (;;) {
    const double middle = std::midpoint(low, high);
    if (middle == low || middle == high) return high;
    (rising(middle) < target ? low : high) = middle;
  }
}

// The continued fraction of I_x(a, b) (DLMF 8.17.22) by the modified Lentz method (Thompson and
// Barnett, 1986). It converges in O(sqrt(max(a, b))) steps if x <= (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny =
      std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  constexpr int kSteps = 1'000'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m <= kSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= c * d;
    if (std::abs(c * d - 1) <= std::numeric_limits<double>::epsilon()) return fraction;
  }
  fail("incomplete_beta(" + std::to_string(a) + ", " + std::to_string(b) + ", " +
       std::to_string(x) + ") does not converge; use fewer trials");
}

// I_x(a, b) with y = 1 - x as an argument, since 1 - x would lose the digits of a small y.
double incomplete_beta(double a, double b, double x, double y) {
  // x^a y^b / B(a, b), the factor of DLMF 8.17.22 that both branches share; 0 if x or y is 0.
  const double factor = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                 a * std::log(x) + b * std::log(y));
  if (x <= (a + 1) / (a + b + 2)) return factor * beta_fraction(a, b, x) / a;
  return 1 - factor * beta_fraction(b, a, y) / b; // I_x(a, b) = 1 - I_y(b, a), DLMF 8.17.4
}

void require_probability(double p) {
  require(p >= 0 && p <= 1, "p is " + std::to_string(p) + "; a probability lies in [0, 1]");
}

} // namespace

double half_width(Interval interval, double centre) {
  return (interval.high - interval.low) / (2 * centre);
}

double median(std::span<const double> samples) { return median_of_sorted(sorted(samples)); }

double quantile(std::span<const double> samples, double p) {
  require(p >= 0 && p <= 1, "p is " + std::to_string(p) + "; a quantile's p lies in [0, 1]");
  const std::vector<double> values = sorted(samples);
  const double position = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

double mad(std::span<const double> samples) {
  std::vector<double> values = checked_copy(samples);
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return median(values);
}

double geometric_mean(std::span<const double> values) {
  // Sums logarithms, since the product of many ratios leaves the range of a double.
  double sum = 0;
  for (const double value : checked_copy(values)) {
    require(value >= 0, "values: " + std::to_string(value) + " is negative; ratios are >= 0");
    sum += std::log(value); // log 0 = -infinity, whose exp is the correct 0
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

double incomplete_beta(double a, double b, double x) {
  require(a > 0 && b > 0 && x >= 0 && x <= 1, "incomplete_beta(" + std::to_string(a) + ", " +
                                                  std::to_string(b) + ", " + std::to_string(x) +
                                                  "): a and b must be positive and x in [0, 1]");
  return incomplete_beta(a, b, x, 1 - x);
}

// DLMF 8.17.5: a binomial tail is an incomplete beta function.
double binomial_at_least(std::size_t k, std::size_t n, double p) {
  require_probability(p);
  if (k == 0) return 1;
  if (k > n) return 0;
  return incomplete_beta(static_cast<double>(k), static_cast<double>(n - k + 1), p, 1 - p);
}

double binomial_at_most(std::size_t k, std::size_t n, double p) {
  require_probability(p);
  if (k >= n) return 1;
  return incomplete_beta(static_cast<double>(n - k), static_cast<double>(k + 1), 1 - p, p);
}

// The interval misses the median m iff fewer than l samples lie below m or fewer than l above it;
// each has probability P(B <= l-1) (David and Nagaraja, Order Statistics, 2003, section 7.1).
std::size_t median_interval_rank(std::size_t n, double confidence) {
  require_confidence(confidence);
  const auto covers = [&](std::size_t l) {
    return 2 * binomial_at_most(l - 1, n, 0.5) <= 1 - confidence;
  };
  std::size_t good = 0, bad = n / 2 + 1; // rank 0 stands for "none"; l and n+1-l meet at n/2 + 1
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (covers(middle) ? good : bad) = middle;
  }
  return good;
}

MedianInterval median_interval(std::span<const double> samples, double confidence) {
  const std::vector<double> values = sorted(samples);
  const std::size_t n = values.size();
  const std::size_t rank = std::max<std::size_t>(1, median_interval_rank(n, confidence));
  const double coverage = std::max(0.0, 1 - 2 * binomial_at_most(rank - 1, n, 0.5));
  return {{values[rank - 1], values[n - rank]}, coverage};
}

double clopper_pearson_upper(std::size_t hits, std::size_t trials, double confidence) {
  require_confidence(confidence);
  require(trials > 0 && hits <= trials, std::to_string(hits) + " hits of " +
                                            std::to_string(trials) +
                                            " trials; give at least one trial per hit");
  if (hits == trials) return 1;
  // P(B <= hits) decreases with p, so its negative increases.
  return crossing([&](double p) { return -binomial_at_most(hits, trials, p); }, -(1 - confidence));
}

Interval clopper_pearson(std::size_t hits, std::size_t trials, double confidence) {
  const double one_sided = 1 - (1 - confidence) / 2;
  const double high = clopper_pearson_upper(hits, trials, one_sided);
  if (hits == 0) return {0, high};
  const double low =
      crossing([&](double p) { return binomial_at_least(hits, trials, p); }, 1 - one_sided);
  return {low, high};
}

double student_t_quantile(double p, double dof) {
  require(p > 0 && p < 1 && dof > 0, "student_t_quantile(" + std::to_string(p) + ", " +
                                         std::to_string(dof) +
                                         "): p must lie between 0 and 1, and dof be positive");
  if (p < 0.5) return -student_t_quantile(1 - p, dof);
  // P(T > t) = I_x(dof / 2, 1 / 2) / 2 with x = dof / (dof + t^2), for t >= 0.
  const double x =
      crossing([&](double at) { return incomplete_beta(dof / 2, 0.5, at); }, 2 * (1 - p));
  return std::sqrt(dof * (1 - x) / x);
}

TrimmedMean trimmed_mean(std::span<const double> samples, std::size_t cut) {
  std::vector<double> values = sorted(samples);
  const std::size_t n = values.size();
  require(n >= 2 * cut + 2, std::to_string(n) + " samples, of which " + std::to_string(2 * cut) +
                                " are cut; take at least 2 more than that");
  const auto kept = static_cast<double>(n - 2 * cut);
  TrimmedMean found;
  found.dof = kept - 1;
  found.mean = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(cut),
                               values.end() - static_cast<std::ptrdiff_t>(cut), 0.0) /
               kept;
  double sum = 0; // of the winsorised samples
  for (double& value : values) sum += value = std::clamp(value, values[cut], values[n - 1 - cut]);
  const double centre = sum / static_cast<double>(n);
  for (const double value : values) found.squares += (value - centre) * (value - centre);
  found.error =
      std::sqrt(found.squares / static_cast<double>(n - 1) * static_cast<double>(n)) / kept;
  return found;
}

Modes modes(std::span<const double> process_medians, double matters) {
  const std::vector<double> values = sorted(process_medians);
  const double centre = median_of_sorted(values);
  const Modes one = {1, centre, centre};
  constexpr std::size_t kSmallestCluster = 2;
  if (values.size() < 2 * kSmallestCluster) return one;

  std::size_t split = kSmallestCluster; // the upper cluster's first value
  for (std::size_t i = split; i + kSmallestCluster <= values.size(); ++i)
    if (values[i] - values[i - 1] > values[split] - values[split - 1]) split = i;

  const std::span<const double> all = values;
  const double low = median_of_sorted(all.first(split));
  const double high = median_of_sorted(all.subspan(split));
  std::vector<double> deviations;
  for (std::size_t i = 0; i < values.size(); ++i)
    deviations.push_back(std::abs(values[i] - (i < split ? low : high)));
  const double gap = values[split] - values[split - 1];
  return gap > 4 * median(deviations) && gap > matters * centre ? Modes{2, low, high} : one;
}

Stop should_stop(const StopRule& rule, std::span<const double> samples, double spent_ns) {
  const std::size_t n = samples.size();
  if (n >= rule.most) return Stop::most;
  if (n >= rule.least) {
    const MedianInterval found = median_interval(samples, rule.confidence);
    const double centre = median(samples);
    // The median of differences may be 0 or less; then no precision is sufficient.
    const bool precise = centre > 0 && half_width(found.interval, centre) <= rule.half_width;
    if (precise && found.coverage >= rule.confidence) return Stop::precise;
  }
  if (n >= kFewestSamples && spent_ns >= rule.budget_ns) return Stop::budget;
  return Stop::no;
}

} // namespace kg::judge
