// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients by the inputs of softmax and log-softmax along the rows of a rows x columns matrix.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::test {

// Entries per element.
struct SoftmaxBackwardOracle {
  std::vector<double> value;
  std::vector<double> weight;  // the probability: |y|, of log-softmax exp(y)
  std::vector<double> sum_abs; // of the terms of its row's sum
};

// y (dy - sum y dy), as IEEE arithmetic has it where y or dy is not finite.
SoftmaxBackwardOracle softmax_backward_oracle(std::span<const double> y, std::span<const double> dy,
                                              std::int64_t rows, std::int64_t columns);

// dy - exp(y) sum dy.
SoftmaxBackwardOracle log_softmax_backward_oracle(std::span<const double> y,
                                                  std::span<const double> dy, std::int64_t rows,
                                                  std::int64_t columns);

} // namespace kg::test
