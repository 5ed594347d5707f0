// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention, variant naive: one thread per query writes its scores to memory, converts them to
// weights in place, and accumulates the weighted values.
//
// Bytes: each thread reads every key and value that its query sees, and its own scores three times.
// Threads share data only through the caches. naive is the baseline for the other variants and the
// fallback for any depth and device. Why not two GEMMs and a softmax: the library variant is that
// chain (libraries/attention.h).
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
    row.largest = fmaxf(row.largest, score); // ignores NaN; the sum propagates it
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
