// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Online softmax in the registers of a warp, for variants flash and wgmma. The warp has 16 rows of
// scores and results. Lane 4 r + c has columns 8 j + 2 c and 8 j + 2 c + 1 of rows r and r + 8:
// score[j][0] and [1], [2] and [3]. Both mma.sync and wgmma leave their sums so.
#pragma once

#include "instructions/exp2.h"
#include "ops/attention/visible.h"
#include "runtime/device_code.h"

namespace kg::attention {

// Reduces a row's maximum or sum over the four neighbouring lanes that share the row.
__device__ __forceinline__ float row_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}
__device__ __forceinline__ float row_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

// Raises the maximum of both rows to that of these scores, and rescales their sums to it. factor:
// what rescales results of earlier scores. by: as for RunningRow.
template <int kScores>
__device__ __forceinline__ void raise_rows(const float (&score)[kScores][4], float by,
                                           RunningRow (&running)[2], float (&factor)[2]) {
  KG_UNROLL_UNIFORM
  for (int half = 0; half < 2; ++half) {
    float largest = -INFINITY; // fmaxf ignores NaN; the sum propagates it
    KG_UNROLL_UNIFORM
    for (int j = 0; j < kScores; ++j)
      largest = fmaxf(largest, fmaxf(score[j][2 * half], score[j][2 * half + 1]));
    factor[half] = running[half].raise(row_max(largest), by);
  }
}

// Rescales results. If no row of the warp has a new maximum, all factors are 1 and are skipped.
template <int kValues>
__device__ __forceinline__ void rescale(float (&out)[kValues][4], const float (&factor)[2]) {
  if (__any_sync(0xffffffffu, factor[0] != 1 || factor[1] != 1)) {
    KG_UNROLL_UNIFORM
    for (int j = 0; j < kValues; ++j) {
      KG_UNROLL_UNIFORM
      for (int i = 0; i < 4; ++i) out[j][i] *= factor[i / 2];
    }
  }
}

// Converts scores to weights relative to the maximum of their rows, and adds them to the sums.
template <int kScores>
__device__ __forceinline__ void weigh(float (&score)[kScores][4], float by,
                                      RunningRow (&running)[2]) {
  KG_UNROLL_UNIFORM
  for (int half = 0; half < 2; ++half) {
    const float reference = running[half].reference(by);
    KG_UNROLL_UNIFORM
    for (int j = 0; j < kScores; ++j) {
      KG_UNROLL_UNIFORM
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        score[j][i] = ptx::exp2_flushed(fmaf(score[j][i], by, -reference));
        running[half].sum += score[j][i]; // the lane's columns; reduced over lanes at the end
      }
    }
  }
}

} // namespace kg::attention
