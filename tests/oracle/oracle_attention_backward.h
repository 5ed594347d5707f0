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

// Dense and row-major, laid out as in attention_oracle: out and dout are queries x value_depth,
// log_sum has one number per query, bias is empty or queries x keys. out and log_sum are used as
// stored: the rounding error of the forward pass is not an error of the backward pass.
struct AttentionBackwardInputs {
  std::span<const double> q, k, v, out, log_sum, dout, bias = {};
};

// One gradient; per element, sums over its (query, key) pairs.
struct AttentionGradient {
  std::vector<double> value;
  std::vector<double> terms;    // sum of the terms' magnitudes
  std::vector<double> scores;   // the same, each term times scale sum |q| |k| + |bias| + |log_sum|
  std::vector<double> products; // sum |dout| |v| + sum |dout| |out| replaces dS; dv: 0
  std::vector<double> factors;  // sum of the magnitudes of the factors of P or dS

  explicit AttentionGradient(std::int64_t size = 0);

  // Elements [first, first + count).
  AttentionGradient part(std::int64_t first, std::int64_t count) const;
  void append(const AttentionGradient& more);
  // Adds another gradient, for example of another head of the group, at element `first`.
  void add(std::int64_t first, const AttentionGradient& other);
};
struct AttentionBackwardOracle {
  AttentionGradient dq, dk, dv; // like q, k and v
};

// Over all unmasked pairs, with p = exp(score - log_sum) (0 if log_sum is -inf) and ds = p (<dout,
// v> - <dout, out>): dv = sum p dout, dq = scale sum ds k, dk = scale sum ds q.
AttentionBackwardOracle attention_backward_oracle(const AttentionProblem& problem,
                                                  const AttentionBackwardInputs& inputs);

} // namespace kg::test
