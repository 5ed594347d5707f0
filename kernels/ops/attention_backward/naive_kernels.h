// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward, variant naive: one thread per query writes its weights and the gradients of
// its scores to memory and accumulates dQ from them. Then one thread per key accumulates dK and dV,
// one head of its group after another.
//
// Bytes: each thread reads all keys and values, or queries and dout, of its visible pairs. Threads
// share data only through the caches. naive is the baseline for flash and the fallback for any
// depth and device.
#pragma once

#include "ops/attention_backward/gradient.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention_backward {

constexpr int kNaiveThreads = 64;

// Each query's weights and gradients of its scores, in the workspace: rows of `keys` elements, for
// all queries of all heads.
struct Pairs {
  float *weights, *gradients;
};
template <class T>
__device__ __forceinline__ Pairs pairs_of(const Problem<T>& p, std::int64_t head, int query) {
  const attention::Problem<T>& f = p.forward;
  float* const weights = p.workspace + (head * f.queries + query) * f.keys;
  return {weights, weights + f.batch * f.heads * f.queries * f.keys};
}

template <class T>
__global__ void __launch_bounds__(kNaiveThreads) naive_queries(Arguments<T> a) {
  const Problem<T>& p = a.problem;
  const attention::Problem<T>& f = p.forward;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= f.batch * f.heads * f.queries) return;
  const Head<T> head(p, static_cast<int>(index / f.queries));
  const auto query = static_cast<int>(index % f.queries);
  if (query >= head.queries) return;
  const Visible visible = head.visible(f, query);
  const Pairs pairs = pairs_of(p, index / f.queries, query);
  const T* const q = head.q + query * f.q_stride.token;
  const T* const out = head.out + query * f.out_stride.token;
  const T* const dout = head.dout + query * p.dout_stride.token;

  Row row{Row::reference_of(head.log_sum[query]), 0};
  for (std::int64_t d = 0; d < f.value_depth; ++d)
    row.delta = fmaf(to_float(dout[d]), to_float(out[d]), row.delta);
  const float by = a.score_unit() * kLog2E;
  for (int j = visible.first; j < visible.end; ++j) {
    const T* const k = head.k + j * f.k_stride.token;
    const T* const v = head.v + j * f.v_stride.token;
    float score = 0, by_weight = 0;
    for (std::int64_t d = 0; d < f.depth; ++d) score = fmaf(to_float(q[d]), to_float(k[d]), score);
    if (head.bias != nullptr)
      score = fmaf(score, f.scale, to_float(head.bias[query * f.bias_stride.token + j]));
    for (std::int64_t d = 0; d < f.value_depth; ++d)
      by_weight = fmaf(to_float(dout[d]), to_float(v[d]), by_weight);
    const float weight = exp2f(row.exponent(score, by));
    pairs.weights[j] = weight;
    pairs.gradients[j] = row.gradient(weight, by_weight);
  }
  for (std::int64_t d = 0; d < f.depth; ++d) {
    float sum = 0;
    for (int j = visible.first; j < visible.end; ++j)
      sum = fmaf(pairs.gradients[j], to_float(head.k[j * f.k_stride.token + d]), sum);
    head.dq[query * p.dq_stride.token + d] = from_float<T>(sum * f.scale);
  }
}

template <class T>
__global__ void __launch_bounds__(kNaiveThreads) naive_keys(Arguments<T> a) {
  const Problem<T>& p = a.problem;
  const attention::Problem<T>& f = p.forward;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= f.batch * f.kv_heads * f.keys) return;
  const auto group = static_cast<int>(f.heads / f.kv_heads);
  const auto number = static_cast<int>(index / f.keys * group); // first head of the group
  const auto key = static_cast<int>(index % f.keys);
  const Head<T> first(p, number);
  if (key >= first.key_tokens.count) return;
  const Visible seen = first.seen_by(f, key);

  // The sum over the group's heads of values times rows of a tensor, for column d.
  const auto sum = [&](std::int64_t d, const T* rows, const Strides& stride, auto value) {
    float sum = 0;
    for (int of_group = 0; of_group < group; ++of_group, rows += stride.head) {
      for (int i = seen.first; i < seen.end; ++i)
        sum = fmaf(value(pairs_of(p, number + of_group, i)), to_float(rows[i * stride.token + d]),
                   sum);
    }
    return sum;
  };
  for (std::int64_t d = 0; d < f.depth; ++d)
    first.dk[key * p.dk_stride.token + d] = from_float<T>(
        sum(d, first.q, f.q_stride, [&](const Pairs& pairs) { return pairs.gradients[key]; }) *
        f.scale);
  for (std::int64_t d = 0; d < f.value_depth; ++d)
    first.dv[key * p.dv_stride.token + d] = from_float<T>(
        sum(d, first.dout, p.dout_stride, [&](const Pairs& pairs) { return pairs.weights[key]; }));
}

} // namespace kg::attention_backward
