// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Per-query values that all its pairs need: delta and the exponents' reference. Eight threads
// share a row.
//
// Bytes: out, dout and log_sum read once, 8 bytes written per query. The kernel takes a few percent
// of the time of the following products; fused into them, it would read out once per key tile.
#pragma once

#include "ops/attention_backward/gradient.h"
#include "primitives/pack.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention_backward {

constexpr int kRowLanes = 8;
constexpr int kRowsPerBlock = 32;

// kVector: rows are aligned to 16 bytes.
template <class T, bool kVector>
__global__ void __launch_bounds__(kRowLanes* kRowsPerBlock) row_sums(Arguments<T> a) {
  constexpr int kPack = kVector ? kPackElements<T> : 1;
  const Problem<T>& p = a.problem;
  const attention::Problem<T>& f = p.forward;
  const std::int64_t index =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kRowLanes;
  if (index - threadIdx.x % 32 / kRowLanes >= f.batch * f.heads * f.queries) return; // a whole warp
  const bool exists = index < f.batch * f.heads * f.queries;
  const Head<T> head(p, exists ? static_cast<int>(index / f.queries) : 0);
  const auto query = static_cast<int>(index % f.queries);
  const bool is_row = exists && query < head.queries;
  float sum = 0;
  if (is_row) {
    const T* const out = head.out + query * f.out_stride.token;
    const T* const dout = head.dout + query * p.dout_stride.token;
    for (std::int64_t d = static_cast<std::int64_t>(threadIdx.x) % kRowLanes * kPack;
         d < f.value_depth; d += kRowLanes * kPack) {
      const auto of_out = *reinterpret_cast<const Pack<T, kPack>*>(out + d);
      const auto of_dout = *reinterpret_cast<const Pack<T, kPack>*>(dout + d);
      KG_UNROLL
      for (int e = 0; e < kPack; ++e)
        sum = fmaf(to_float(of_dout.element[e]), to_float(of_out.element[e]), sum);
    }
  }
  KG_UNROLL
  for (int step = kRowLanes / 2; step > 0; step /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (is_row && threadIdx.x % kRowLanes == 0)
    *reinterpret_cast<float2*>(p.workspace + 2 * index) =
        float2{Row::reference_of(head.log_sum[query]), sum};
}

} // namespace kg::attention_backward
