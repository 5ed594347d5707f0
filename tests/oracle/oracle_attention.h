// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention of one head, and rotary position embeddings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::test {

// softmax(scale Q K^T + bias) V. Dense, row-major: Q is queries x depth, K keys x depth, V keys x
// value_depth, bias queries x keys or empty. `causal`: query i sees keys up to i + keys - queries
// (the last query sees all, as in decoding); if `window` is not 0, only the last `window` of them.
// A query that sees no key, or whose scores are all -inf, gives zeros.
struct AttentionProblem {
  std::int64_t queries, keys, depth, value_depth;
  double scale = 1;
  bool causal = false;
  std::int64_t window = 0;
};

struct AttentionOracle {
  std::vector<double> value;        // queries x value_depth
  std::vector<double> weighted_abs; // sum_j p_j |v_j|, per element
  // max_j (scale sum |q| |k_j| + |bias_j|), per element, of its query
  std::vector<double> score_condition;
  // Per query: the logarithm of the sum of the exponentials of its scores (-inf if it sees no key),
  // and its condition.
  std::vector<double> log_sum, query_condition;
};
AttentionOracle attention_oracle(const AttentionProblem& problem, std::span<const double> q,
                                 std::span<const double> k, std::span<const double> v,
                                 std::span<const double> bias = {});

// Rotary positions (Su et al., arXiv 2104.09864): each pair (x1, x2) of a row is rotated by
// position x frequency[pair]. half_split: x2 is `depth / 2` after x1 (as in GPT-NeoX); interleaved:
// x2 is next to x1.
enum class RopeLayout { half_split, interleaved };

// base^(-2 pair / depth), rounded to f32; this also specifies the table that a kernel uses.
std::vector<double> rope_frequencies(std::int64_t depth, double base);

struct RopeOracle {
  std::vector<double> value;
  std::vector<double> turned;    // x1 cos| + |x2 sin|, the magnitudes of the element's terms
  std::vector<double> angle;     // |position x frequency|, per element
  std::vector<double> magnitude; // |x1| + |x2|
};

// `x` has one row of `depth` (even) elements per position.
RopeOracle rope_oracle(RopeLayout layout, std::span<const double> x,
                       std::span<const std::int64_t> positions,
                       std::span<const double> frequencies);

} // namespace kg::test
