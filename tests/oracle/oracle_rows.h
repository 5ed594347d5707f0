// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations along the rows of a rows x columns matrix, in addition to the sums and softmax of
// oracle.h: extrema, log-softmax, and layer and RMS normalisation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::test {

// The largest (or smallest) element of each row and its first index; a NaN in a row is the
// extremum, at the index of the first NaN. Rows must not be empty.
struct ExtremumOracle {
  std::vector<double> value;
  std::vector<std::int64_t> index;
};
ExtremumOracle row_maxima_oracle(std::span<const double> x, std::int64_t rows,
                                 std::int64_t columns);
ExtremumOracle row_minima_oracle(std::span<const double> x, std::int64_t rows,
                                 std::int64_t columns);

// The mean of each row and of its magnitudes; NaN for empty rows.
struct MeanOracle {
  std::vector<double> value;
  std::vector<double> norm2;    // Euclidean norm of the row
  std::vector<double> mean_abs; //
};
MeanOracle row_means_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns);

// (x - m) - log(sum exp(x - m)), m the row's maximum. All NaN for a row with a NaN or +inf, and for
// a row of -inf only; a single -inf gives -inf.
struct LogSoftmaxOracle {
  std::vector<double> value;
  std::vector<double> distance; // m - x, per element
  std::vector<double> log_sum;  // per element, of its row
};
LogSoftmaxOracle log_softmax_oracle(std::span<const double> x, std::int64_t rows,
                                    std::int64_t columns);

// The quantities that determine the error of a normalised element. `gamma` and `beta` have one
// entry per column, or are empty: 1 and 0.
struct NormOracle {
  std::vector<double> value;
  std::vector<double> normalized; // before gamma and beta
  std::vector<double> skew;       // |mean| / deviation of the element's row; 0 for rms
  std::vector<double> spread;     // ratio of the deviation without epsilon to the deviation
  std::vector<double> gamma;      // |gamma|, per element
  std::vector<double> beta;       // |beta|, per element
};

// (x - mean) / sqrt(variance + epsilon) gamma + beta, with the variance of the row's elements
// (divided by columns, not columns - 1): Ba, Kiros and Hinton, arXiv 1607.06450. A constant row
// gives beta if epsilon > 0.
NormOracle layer_norm_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns,
                             std::span<const double> gamma, std::span<const double> beta,
                             double epsilon);

// x / sqrt(mean of x^2 + epsilon) gamma: Zhang and Sennrich, arXiv 1910.07467.
NormOracle rms_norm_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns,
                           std::span<const double> gamma, double epsilon);

} // namespace kg::test
