// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations along the rows of a rows x columns matrix, beside the sums and softmax of oracle.h:
// extrema, log-softmax and the two normalisations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::test {

// The largest (or smallest) element of each row and the index of the first of its kind; a NaN in a
// row is its extremum, at the index of the first NaN. Rows must have elements.
struct ExtremumOracle {
  std::vector<double> value;
  std::vector<std::int64_t> index;
};
ExtremumOracle row_maxima_oracle(std::span<const double> x, std::int64_t rows,
                                 std::int64_t columns);
ExtremumOracle row_minima_oracle(std::span<const double> x, std::int64_t rows,
                                 std::int64_t columns);

// The mean of each row and of its magnitudes; NaN for rows without elements.
struct MeanOracle {
  std::vector<double> value;
  std::vector<double> norm2;    // Euclidean, of the row
  std::vector<double> mean_abs; //
};
MeanOracle row_means_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns);

// (x - m) - log(sum exp(x - m)), m the row's maximum. NaN throughout for a row with a NaN or +inf,
// and for a row of nothing but -inf; a single -inf gives -inf.
struct LogSoftmaxOracle {
  std::vector<double> value;
  std::vector<double> distance; // m - x, per element
  std::vector<double> log_sum;  // per element, its row's
};
LogSoftmaxOracle log_softmax_oracle(std::span<const double> x, std::int64_t rows,
                                    std::int64_t columns);

// What the error of a normalised element depends on. `gamma` and `beta` have one entry per column,
// or none: 1 and 0.
struct NormOracle {
  std::vector<double> value;
  std::vector<double> normalized; // before gamma and beta
  std::vector<double> skew;       // |mean| / deviation of the element's row; 0 for rms
  std::vector<double> spread; // the same of the deviation without epsilon: 1 where that is nothing
  std::vector<double> gamma;  // |gamma|, per element
  std::vector<double> beta;   // |beta|, per element
};

// (x - mean) / sqrt(variance + epsilon) gamma + beta, the variance that of the row's elements (over
// columns, not columns - 1): Ba, Kiros and Hinton, arXiv 1607.06450. A constant row gives beta as
// long as epsilon > 0.
NormOracle layer_norm_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns,
                             std::span<const double> gamma, std::span<const double> beta,
                             double epsilon);

// x / sqrt(mean of x^2 + epsilon) gamma: Zhang and Sennrich, arXiv 1910.07467.
NormOracle rms_norm_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns,
                           std::span<const double> gamma, double epsilon);

} // namespace kg::test
