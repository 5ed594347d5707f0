// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel of attention gets, and which keys a query sees.
#pragma once

#include "attention/attention.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention {

constexpr float kLog2E = 1.44269504088896340736F; // 1 / ln 2

// Keys [first, end) of a head.
struct Visible {
  int first, end;
};

template <class T>
struct Arguments {
  Problem<T> problem;
  int tiles;   // of queries, per head
  bool vector; // every row of Q, K, V and out begins and ends at a multiple of 16 bytes

  __device__ __forceinline__ int keys_of(int sequence) const {
    const auto most = static_cast<int>(problem.keys);
    if (problem.key_lengths == nullptr) return most;
    const int length = problem.key_lengths[sequence];
    return length < most ? length : most; // a negative one hides all keys, too
  }

  // `keys` is keys_of the query's sequence.
  __device__ __forceinline__ Visible visible(int query, int keys) const {
    if (!problem.causal) return {0, keys};
    const int own = query + keys - static_cast<int>(problem.queries);
    const int end = own + 1 < 0 ? 0 : own + 1 < keys ? own + 1 : keys;
    const auto first = static_cast<int>(own + 1 - problem.window);
    return {problem.window == 0 || first < 0 ? 0 : first < end ? first : end, end};
  }

  // 1 / what scores count in: the exponential of a score is exp2(score x exponent_scale).
  __device__ __forceinline__ float score_unit() const {
    return problem.bias == nullptr ? problem.scale : 1.0F;
  }
};

// One head of one sequence, as a block or thread sees it.
template <class T>
struct Head {
  int sequence, head, keys;
  const T *q, *k, *v, *bias; // bias: null where there is none
  T* out;
  float* log_sum; // null where it is not wanted

  __device__ __forceinline__ Head(const Arguments<T>& a, int number) {
    const Problem<T>& p = a.problem;
    sequence = number / static_cast<int>(p.heads);
    head = number % static_cast<int>(p.heads);
    keys = a.keys_of(sequence);
    const int of_keys = head / static_cast<int>(p.heads / p.kv_heads);
    q = p.q + sequence * p.q_stride.sequence + head * p.q_stride.head;
    k = p.k + sequence * p.k_stride.sequence + of_keys * p.k_stride.head;
    v = p.v + sequence * p.v_stride.sequence + of_keys * p.v_stride.head;
    out = p.out + sequence * p.out_stride.sequence + head * p.out_stride.head;
    bias = p.bias == nullptr
               ? nullptr
               : p.bias + sequence * p.bias_stride.sequence + head * p.bias_stride.head;
    log_sum = p.log_sum == nullptr ? nullptr : p.log_sum + number * p.log_sum_stride;
  }
};

// The running softmax of one row of scores (Milakov and Gimelshein, arXiv 1805.02867). Exponentials
// are powers of 2: `by` is log2(e) times the scores' unit.
struct RunningRow {
  float largest = -INFINITY; // of the scores so far
  float sum = 0;             // of their exponentials, relative to the largest

  // The exponent of the largest score; any other number where every score is -inf, so that their
  // exponentials are 0 and not NaN.
  __device__ __forceinline__ float reference(float by) const {
    return largest == -INFINITY ? 0 : largest * by;
  }

  // Takes in the largest of some new scores. Gives what sums so far are to be multiplied by.
  __device__ __forceinline__ float raise(float candidate, float by) {
    const float before = largest;
    largest = fmaxf(largest, candidate);
    const float factor = exp2f(before * by - reference(by));
    sum *= factor;
    return factor;
  }

  __device__ __forceinline__ float normalizer() const { return sum == 0 ? 0 : 1 / sum; }

  // Of the sum of exponentials, in the scores' own scale.
  __device__ __forceinline__ float log_sum(float unit) const {
    return sum == 0 ? -INFINITY : largest * unit + logf(sum);
  }
};

} // namespace kg::attention
