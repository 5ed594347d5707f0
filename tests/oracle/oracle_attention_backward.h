// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of attention of one head.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/oracle/oracle_attention.h"

namespace kg::test {

// Dense and row-major, as attention_oracle takes and gives them: out and dout are queries x
// value_depth, log_sum has one number per query, bias none or queries x keys. out and log_sum are
// taken as they are stored: what a forward pass rounded is not the backward one's error.
struct AttentionBackwardInputs {
  std::span<const double> q, k, v, out, log_sum, dout, bias = {};
};

// One gradient; per element, sums over the pairs of a query and a key that it is made of.
struct AttentionGradient {
  std::vector<double> value;
  std::vector<double> terms;    // of the terms' magnitudes
  std::vector<double> scores;   // the same, each times scale sum |q| |k| + |bias| + |log_sum|
  std::vector<double> products; // each by sum |dout| |v| + sum |dout| |out| in place of dS; of dv 0
  std::vector<double> factors;  // of what P or dS is multiplied by

  explicit AttentionGradient(std::int64_t size = 0);

  // Elements [first, first + count).
  AttentionGradient part(std::int64_t first, std::int64_t count) const;
  void append(const AttentionGradient& more);
  // Adds another one's elements to those from `first` on: of another head of its group, say.
  void add(std::int64_t first, const AttentionGradient& other);
};
struct AttentionBackwardOracle {
  AttentionGradient dq, dk, dv; // as q, k and v
};

// Of the pairs that the masks leave, p = exp(score - log_sum), 0 where log_sum is -inf, and ds = p
// (<dout, v> - <dout, out>): dv = sum p dout, dq = scale sum ds k, dk = scale sum ds q.
AttentionBackwardOracle attention_backward_oracle(const AttentionProblem& problem,
                                                  const AttentionBackwardInputs& inputs);

} // namespace kg::test
