// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of softmax and log-softmax with respect to their inputs, along the rows of a matrix.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::test {

// Entries per element.
struct SoftmaxBackwardOracle {
  std::vector<double> value;
  std::vector<double> weight;  // the probability: |y|; for log-softmax exp(y)
  std::vector<double> sum_abs; // of the terms of the row's sum
};

// y (dy - sum y dy), with IEEE arithmetic if y or dy is not finite.
SoftmaxBackwardOracle softmax_backward_oracle(std::span<const double> y, std::span<const double> dy,
                                              std::int64_t rows, std::int64_t columns);

// dy - exp(y) sum dy.
SoftmaxBackwardOracle log_softmax_backward_oracle(std::span<const double> y,
                                                  std::span<const double> dy, std::int64_t rows,
                                                  std::int64_t columns);

} // namespace kg::test
