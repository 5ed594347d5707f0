// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cross entropy of rows of logits with their target classes, and its gradient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::test {

struct CrossEntropyProblem {
  std::int64_t rows, classes;
  double label_smoothing = 0;
  double z_loss = 0;
  std::int64_t ignored = -100; // the target of rows that do not count
};

// Entries per row, 0 where it does not count. The loss is the sum of the classes'
// weights times (lse - x), of those that have a weight, and z lse^2: a logit of -inf without weight
// costs nothing, one with a weight an infinite loss. As in log_softmax_oracle, a NaN or +inf makes
// all of it NaN.
struct CrossEntropyOracle {
  std::vector<bool> counts;
  std::vector<double> loss;
  std::vector<double> log_sum;    // lse
  std::vector<double> log_of_sum; // of exp(x - m), m the row's maximum
  std::vector<double> distance;   // m - x of the target
  std::vector<double> spread;     // the mean of m - x, each class with its probability
  std::vector<double> apart;      // the mean of |x - x of the target|
};
CrossEntropyOracle cross_entropy_oracle(const CrossEntropyProblem& problem,
                                        std::span<const double> x,
                                        std::span<const std::int64_t> target);

// Entries per element; `log_sum` and `dloss` have one per row.
struct CrossEntropyBackwardOracle {
  std::vector<double> value;
  std::vector<double> probability; // |dloss| exp(x - lse) (1 + 2 z |lse|)
  std::vector<double> weight;      // |dloss| times what is subtracted from that
  std::vector<double> distance;    // |x - lse|
  std::vector<double> scale;       // |dloss| (1 + 2 z |lse|)
};
CrossEntropyBackwardOracle cross_entropy_backward_oracle(const CrossEntropyProblem& problem,
                                                         std::span<const double> x,
                                                         std::span<const std::int64_t> target,
                                                         std::span<const double> log_sum,
                                                         std::span<const double> dloss);

} // namespace kg::test
