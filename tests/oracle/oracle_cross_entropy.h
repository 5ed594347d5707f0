// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cross entropy of rows of logits and target classes, and its gradient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::test {

struct CrossEntropyProblem {
  std::int64_t rows, classes;
  double label_smoothing = 0;
  double z_loss = 0;
  std::int64_t ignored = -100; // the target of ignored rows
};

// Entries per row, 0 for ignored rows. The loss is the sum of weight times (lse - x) over the
// classes with a nonzero weight, plus z lse^2. So a logit of -inf costs nothing without weight, and
// infinity with one. As in log_softmax_oracle, a NaN or +inf makes the whole row NaN.
struct CrossEntropyOracle {
  std::vector<bool> counts;
  std::vector<double> loss;
  std::vector<double> log_sum;    // lse
  std::vector<double> log_of_sum; // of exp(x - m), m the row's maximum
  std::vector<double> distance;   // m - x of the target
  std::vector<double> spread;     // the mean of m - x, weighted by the classes' probabilities
  std::vector<double> apart;      // the mean of |x - x of the target|
};
CrossEntropyOracle cross_entropy_oracle(const CrossEntropyProblem& problem,
                                        std::span<const double> x,
                                        std::span<const std::int64_t> target);

// Entries per element; `log_sum` and `dloss` have one entry per row.
struct CrossEntropyBackwardOracle {
  std::vector<double> value;
  std::vector<double> probability; // |dloss| exp(x - lse) (1 + 2 z |lse|)
  std::vector<double> weight;      // dloss| times the target weight subtracted from it
  std::vector<double> distance;    // |x - lse|
  std::vector<double> scale;       // |dloss| (1 + 2 z |lse|)
};
CrossEntropyBackwardOracle cross_entropy_backward_oracle(const CrossEntropyProblem& problem,
                                                         std::span<const double> x,
                                                         std::span<const std::int64_t> target,
                                                         std::span<const double> log_sum,
                                                         std::span<const double> dloss);

} // namespace kg::test
