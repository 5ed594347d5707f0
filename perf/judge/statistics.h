// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Statistics of timings: skewed, tied, often bimodal, so nothing here assumes a distribution. Every
// function leaves its input as it is, and throws kg::Error on no samples or on a sample that is not
// a finite number.
#pragma once

#include <cstddef>
#include <span>

namespace kg::judge {

struct Interval {
  double low = 0;
  double high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// Half the interval's width as a share of `centre`.
double half_width(Interval interval, double centre);

// The middle sample; of an even number, the mean of the middle two.
double median(std::span<const double> samples);

// The p-quantile, 0 <= p <= 1, interpolated linearly between order statistics (definition 7 of
// Hyndman and Fan, 1996).
double quantile(std::span<const double> samples, double p);

// The median absolute deviation from the median, not scaled (1.4826 of it estimate a normal sd).
double mad(std::span<const double> samples);

// exp of the mean logarithm; 0 when any value is 0. Values must be finite and >= 0.
double geometric_mean(std::span<const double> values);

// An interval between two order statistics that covers the true median with probability >=
// `coverage`, whatever the distribution; ties only raise the coverage. With too few samples for the
// confidence asked for it is [least, greatest], and `coverage` says how little that is.
struct MedianInterval {
  Interval interval;
  double coverage = 0;
};
MedianInterval median_interval(std::span<const double> samples, double confidence);

// The 1-based rank l of that interval [X(l), X(n+1-l)]: the largest l with P(l <= B <= n-l) >=
// confidence, B binomial(n, 1/2); 0 when even [X(1), X(n)] covers less.
std::size_t median_interval_rank(std::size_t n, double confidence);

// The fewest samples with which a 99 % interval of the median exists: 2 * 2^-8 < 1 % < 2 * 2^-7.
inline constexpr std::size_t kFewestSamples = 8;

// P(B <= k) and P(B >= k) for B binomial(n, p), each exact in its own small tail.
double binomial_at_most(std::size_t k, std::size_t n, double p);
double binomial_at_least(std::size_t k, std::size_t n, double p);

// The regularised incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

// Clopper and Pearson's (1934) exact two-sided interval of a rate, seen `hits` times in `trials`;
// and the one-sided upper bound by which a rate is claimed to be small ("0 of 3000: below 0.1 %").
Interval clopper_pearson(std::size_t hits, std::size_t trials, double confidence);
double clopper_pearson_upper(std::size_t hits, std::size_t trials, double confidence);

// The t with P(T <= t) = p, 0 < p < 1, for Student's T of `dof` > 0 degrees of freedom.
double student_t_quantile(double p, double dof);

// The mean without the least and the greatest `cut` samples, and its standard error from the
// variance of the winsorised samples (Tukey and McLaughlin, 1963): (mean - mu) / error is close to
// Student's t with `dof` degrees of freedom, also where a few samples are wild. With cut 0 it is
// the ordinary t statistic. There must be at least 2 samples more than are cut.
struct TrimmedMean {
  double mean = 0;
  double error = 0;
  double dof = 0;     // the samples kept, less one
  double squares = 0; // of the winsorised samples about their mean, summed
};
TrimmedMean trimmed_mean(std::span<const double> samples, std::size_t cut);

// Whether process medians fall into two clusters: the widest gap that leaves at least two on either
// side exceeds four times the spread within the clusters (the median absolute deviation from one's
// own cluster's median) and exceeds `matters`, as a share of the median. A kernel whose speed
// depends on where its buffers landed looks like this, and has no one time to bless. Without the
// second condition a quarter of all unimodal rows of five processes would be called bimodal: few
// points lie close to their own cluster's median by construction.
struct Modes {
  int count = 1;
  double low = 0;  // the median of the lower cluster, or of all
  double high = 0; // the median of the upper cluster, or of all
};
Modes modes(std::span<const double> process_medians, double matters);

// When a process has taken enough samples of a row. The rule looks at the precision of the median,
// not at the spread of the samples: more samples always bring it closer to an end.
struct StopRule {
  double confidence = 0.99;
  double half_width = 0.005; // of the median's interval, as a share of the median
  std::size_t least = 30;
  std::size_t most = 2000;
  double budget_ns =
      0.25e9; // heeded from kFewestSamples on: fewer samples have no 99 % interval at all
};
enum class Stop { no, precise, most, budget };
Stop should_stop(const StopRule& rule, std::span<const double> samples, double spent_ns);

} // namespace kg::judge
