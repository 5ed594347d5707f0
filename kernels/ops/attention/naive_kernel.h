// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention, variant naive: one thread per query writes its scores to memory, turns them into
// weights, and adds up the values.
//
// Bytes: each thread reads all keys and values that it sees, and its scores three times; nothing is
// shared but through the caches. What the other variants are compared with, and what runs where
// they cannot: any depth, any device. Why not three kernels, two of them matrix products: that is
// what the libraries' chain is (libraries/attention.h).
#pragma once

#include "ops/attention/visible.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention {

constexpr int kNaiveThreads = 64;

template <class T>
__global__ void __launch_bounds__(kNaiveThreads) naive(Arguments<T> a) {
  const Problem<T>& p = a.problem;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= p.batch * p.heads * p.queries) return;
  const Head<T> head(p, static_cast<int>(index / p.queries));
  const auto query = static_cast<int>(index % p.queries);
  if (query >= head.queries) return;
  const Visible visible = head.visible(p, query);
  float* const scores = p.workspace + index * p.keys;
  const T* const q = head.q + query * p.q_stride.token;

  RunningRow row;
  for (int j = visible.first; j < visible.end; ++j) {
    const T* const k = head.k + j * p.k_stride.token;
    float score = 0;
    for (std::int64_t d = 0; d < p.depth; ++d) score = fmaf(to_float(q[d]), to_float(k[d]), score);
    if (head.bias != nullptr)
      score = fmaf(score, p.scale, to_float(head.bias[query * p.bias_stride.token + j]));
    scores[j] = score;
    row.largest = fmaxf(row.largest, score); // passes over NaN; the sum does not
  }
  const float by = a.score_unit() * kLog2E;
  const float reference = row.reference(by);
  for (int j = visible.first; j < visible.end; ++j) {
    const float weight = exp2f(fmaf(scores[j], by, -reference));
    scores[j] = weight;
    row.sum += weight;
  }
  const float normalizer = row.normalizer();
  for (std::int64_t d = 0; d < p.value_depth; ++d) {
    float sum = 0;
    for (int j = visible.first; j < visible.end; ++j)
      sum = fmaf(scores[j], to_float(head.v[j * p.v_stride.token + d]), sum);
    head.out[query * p.out_stride.token + d] = from_float<T>(sum * normalizer);
  }
  if (head.log_sum != nullptr) head.log_sum[query] = row.log_sum(a.score_unit());
}

} // namespace kg::attention
