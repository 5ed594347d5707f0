// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Statistics of timings. Timings are skewed, tied and often bimodal, so most functions assume no
// distribution. Every function throws kg::Error on no samples or on a sample that is not finite.
#pragma once

#include <cstddef>
#include <span>

namespace kg::judge {

struct Interval {
  double low = 0;
  double high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// Half of the width of the interval, as a share of `centre`.
double half_width(Interval interval, double centre);

// The middle sample, or the mean of the middle two.
double median(std::span<const double> samples);

// The p-quantile, 0 <= p <= 1, interpolated linearly between order statistics (definition 7 of
// Hyndman and Fan, 1996).
double quantile(std::span<const double> samples, double p);

// The median absolute deviation from the median, not scaled (times 1.4826: estimates a normal sd).
double mad(std::span<const double> samples);

// exp of the mean logarithm; 0 if any value is 0. Values must be finite and >= 0.
double geometric_mean(std::span<const double> values);

// An interval between two order statistics that covers the true median with probability >=
// `coverage`, whatever the distribution; ties only raise the coverage. With too few samples for the
// requested confidence it is [smallest, largest], and `coverage` is below `confidence`.
struct MedianInterval {
  Interval interval;
  double coverage = 0;
};
MedianInterval median_interval(std::span<const double> samples, double confidence);

// The 1-based rank l of that interval [X(l), X(n+1-l)]: the largest l with P(l <= B <= n-l) >=
// confidence, B binomial(n, 1/2); 0 if even [X(1), X(n)] covers less.
std::size_t median_interval_rank(std::size_t n, double confidence);

// The fewest samples with which a 99 % interval of the median exists: 2 * 2^-8 < 1 % < 2 * 2^-7.
inline constexpr std::size_t kFewestSamples = 8;

// P(B <= k) and P(B >= k) for B binomial(n, p), each exact in its own small tail.
double binomial_at_most(std::size_t k, std::size_t n, double p);
double binomial_at_least(std::size_t k, std::size_t n, double p);

// The regularised incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

// Clopper and Pearson's exact two-sided interval (1934) of a rate with `hits` hits in `trials`, and
// the one-sided upper bound ("0 of 3000: below 0.1 %").
Interval clopper_pearson(std::size_t hits, std::size_t trials, double confidence);
double clopper_pearson_upper(std::size_t hits, std::size_t trials, double confidence);

// The t with P(T <= t) = p, 0 < p < 1, for Student's T of `dof` > 0 degrees of freedom.
double student_t_quantile(double p, double dof);

// The mean without the `cut` smallest and `cut` largest samples, and its standard error from the
// variance of the winsorised samples (Tukey and McLaughlin, 1963). (mean - mu) / error is close to
// Student's t with `dof` degrees of freedom, even with a few outliers. With cut 0 this is the
// ordinary t statistic. Requires at least 2 samples more than are cut.
struct TrimmedMean {
  double mean = 0;
  double error = 0;
  double dof = 0;     // kept samples - 1
  double squares = 0; // sum of squared deviations of the winsorised samples
};
TrimmedMean trimmed_mean(std::span<const double> samples, std::size_t cut);

// Tests whether process medians form two clusters: the widest gap that leaves at least two on each
// side exceeds four times the spread within the clusters (median absolute deviation from the
// cluster's median), and exceeds `matters` as a share of the median. This happens when a kernel's
// speed depends on buffer placement; such a row has no single time to bless. Without the second
// condition a quarter of the unimodal rows with five processes would count as bimodal, since few
// points always lie close to their cluster's median.
struct Modes {
  int count = 1;
  double low = 0;  // median of the lower cluster, or of all samples
  double high = 0; // median of the upper cluster, or of all samples
};
Modes modes(std::span<const double> process_medians, double matters);

// Decides when a process has taken enough samples of a row. The criterion is the precision of the
// median, not the spread of the samples, so that sampling always ends.
struct StopRule {
  double confidence = 0.99;
  double half_width = 0.005; // of the median's interval, as a share of the median
  std::size_t least = 30;
  std::size_t most = 2000;
  double budget_ns = 0.25e9; // applies after kFewestSamples samples
};
enum class Stop { no, precise, most, budget };
Stop should_stop(const StopRule& rule, std::span<const double> samples, double spent_ns);

} // namespace kg::judge
