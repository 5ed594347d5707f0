// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arguments of attention's kernels, one head of the problem, and the mask: which keys a query sees.
#pragma once

#include "ops/attention/attention.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention {

constexpr float kLog2E = 1.44269504088896340736F; // 1 / ln 2

template <class T>
struct Arguments {
  Problem<T> problem;
  int tiles;   // of queries, per head
  bool vector; // every row of Q, K, V and out begins and ends at a multiple of 16 bytes

  // The unit of the scores: exp2(score * score_unit() * log2 e) is a score's exponential. Scores
  // with a bias are scaled already.
  __device__ __forceinline__ float score_unit() const {
    return problem.bias == nullptr ? problem.scale : 1.0F;
  }
};

// Keys [first, end) of a head.
struct Visible {
  int first, end;
};

// The range of tokens that belongs to one sequence.
struct Span {
  std::int64_t first;
  int count;
};
__device__ __forceinline__ Span span_of(const std::int32_t* offsets, int sequence,
                                        std::int64_t most) {
  if (offsets == nullptr) return {0, static_cast<int>(most)};
  const int first = offsets[sequence], count = offsets[sequence + 1] - first;
  return {first, count < most ? count : static_cast<int>(most)};
}

// One head of one sequence: pointers to its first tokens, and its numbers of tokens.
template <class T>
struct Head {
  int sequence, head, key_head;
  Span query_tokens, key_tokens; // of the sequence, including keys beyond key_lengths
  int queries, keys;             // keys: at most key_lengths
  const T *q, *k, *v, *bias;     // bias: may be null
  T* out;
  float* log_sum; // may be null

  __device__ __forceinline__ Head(const Problem<T>& p, int number)
      : sequence(number / static_cast<int>(p.heads)), head(number % static_cast<int>(p.heads)),
        key_head(head / static_cast<int>(p.heads / p.kv_heads)),
        query_tokens(span_of(p.query_offsets, sequence, p.queries)),
        key_tokens(span_of(p.key_offsets, sequence, p.keys)) {
    queries = query_tokens.count;
    keys = key_tokens.count;
    if (p.key_lengths != nullptr && p.key_lengths[sequence] < keys)
      keys = p.key_lengths[sequence]; // a negative length hides all keys
    q = p.q + of_queries(p.q_stride);
    k = p.k + of_keys(p.k_stride);
    v = p.v + of_keys(p.v_stride);
    out = p.out + of_queries(p.out_stride);
    bias = p.bias == nullptr
               ? nullptr
               : p.bias + sequence * p.bias_stride.sequence + head * p.bias_stride.head;
    // One row per head and sequence. Ragged sequences share one row per head.
    log_sum = p.log_sum == nullptr
                  ? nullptr
                  : p.log_sum + query_tokens.first +
                        (p.query_offsets == nullptr ? number : head) * p.log_sum_stride;
  }

  // The offset of the head's first token in a tensor of queries, or of keys.
  __device__ __forceinline__ std::int64_t of_queries(const Strides& stride) const {
    return sequence * stride.sequence + head * stride.head + query_tokens.first * stride.token;
  }
  __device__ __forceinline__ std::int64_t of_keys(const Strides& stride) const {
    return sequence * stride.sequence + key_head * stride.head + key_tokens.first * stride.token;
  }

  // The keys that a query sees.
  __device__ __forceinline__ Visible visible(const Problem<T>& p, int query) const {
    if (!p.causal) return {0, keys};
    const int own = query + keys - queries;
    const int end = own + 1 < 0 ? 0 : own + 1 < keys ? own + 1 : keys;
    const auto first = static_cast<int>(own + 1 - p.window);
    return {p.window == 0 || first < 0 ? 0 : first < end ? first : end, end};
  }
  // The queries that see a key.
  __device__ __forceinline__ Visible seen_by(const Problem<T>& p, int key) const {
    if (key >= keys) return {0, 0};
    if (!p.causal) return {0, queries};
    const int own = key - keys + queries; // the first one
    const int first = own < 0 ? 0 : own;
    const std::int64_t last = own + p.window;
    return {first, p.window == 0 || last > queries ? queries
                   : last < first                  ? first
                                                   : static_cast<int>(last)};
  }
};

// Online softmax of one row of scores (Milakov and Gimelshein, arXiv 1805.02867). Exponentials are
// powers of 2: `by` is log2(e) * score_unit().
struct RunningRow {
  float largest = -INFINITY; // of the scores so far
  float sum = 0;             // of their exponentials, relative to the largest

  // The exponent of the largest score, which is subtracted from all exponents. 0 if every score is
  // -inf, so that the exponentials are 0 and not NaN.
  __device__ __forceinline__ float reference(float by) const {
    return largest == -INFINITY ? 0 : largest * by;
  }

  // Updates the maximum by that of some new scores. Returns the factor that rescales earlier sums.
  __device__ __forceinline__ float raise(float candidate, float by) {
    const float before = largest;
    largest = fmaxf(largest, candidate);
    const float factor = exp2f(before * by - reference(by));
    sum *= factor;
    return factor;
  }

  __device__ __forceinline__ float normalizer() const { return sum == 0 ? 0 : 1 / sum; }

  // Log-sum-exp of the scaled scores. unit: score_unit().
  __device__ __forceinline__ float log_sum(float unit) const {
    return sum == 0 ? -INFINITY : fmaf(largest, unit, logf(sum));
  }
};

} // namespace kg::attention
