// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Per-channel sums for the gradients: dbeta = sum of dy and dgamma = sum of dy n, with
// n = (x - mean) rstd.
//
// One read of x and dy: 8 bytes per element in f32, 4 in f16 and bf16. With the pass that computes
// dx, both are read twice: 20 or 10 bytes per element; ops/batchnorm/statistics_kernels.h explains
// why. Expected on an H200: 90 % of its read bandwidth from 64 MiB on; 5 operations per element are
// an eighth of its capacity in that time. No atomics: the order, and so the bits, would change from
// run to run.
#pragma once

#include "ops/batchnorm/columns.h"
#include "ops/batchnorm/planes.h"
#include "ops/batchnorm/short_planes.h"
#include "ops/batchnorm/strides.h"
#include "primitives/divisor.h"
#include "primitives/partials.h"

namespace kg::batchnorm_backward {

using batchnorm::each_chunk;
using batchnorm::each_of_plane;
using batchnorm::each_rows;
using batchnorm::kThreads;
using batchnorm::kTogether;
using batchnorm::kWideBlocksPerSm;
using batchnorm::load_columns;
using batchnorm::load_floats;
using batchnorm::load_in_chunk;
using batchnorm::Planes;
using batchnorm::Strides;
using batchnorm::Walk;
using batchnorm::Window;

// The order of the sums in a part.
inline constexpr int kSumVectors = 2;
enum class SumVector { dgamma, dbeta };

__device__ __forceinline__ float* partial(float* partials, std::int64_t part, SumVector vector,
                                          std::int64_t channels) {
  return partials + partial_offset(part, kSumVectors, static_cast<int>(vector), channels);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    naive_sums(const T* dy, const T* x, Strides strides, const float* mean, const float* rstd,
               float* dgamma, float* dbeta) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (channel >= strides.channels) return;
  float weighted = 0;
  float sum = 0;
  strides.each_of(channel, [&](std::int64_t i) {
    const float gradient = to_float(dy[i]);
    weighted += gradient * ((to_float(x[i]) - mean[channel]) * rstd[channel]);
    sum += gradient;
  });
  dgamma[channel] = weighted;
  dbeta[channel] = sum;
}

// nchw: part blockIdx.y of channel blockIdx.x.
template <class T, int Count, bool kWhole>
__global__ void __launch_bounds__(kThreads, kWideBlocksPerSm)
    plane_sums(const T* dy, const T* x, Planes p, const float* mean, const float* rstd,
               float* partials) {
  __shared__ float scratch[kSumVectors][kThreads / kLanes];
  const std::int64_t channel = blockIdx.x;
  const float centre = mean[channel];
  const float factor = rstd[channel];
  float weighted = 0;
  float sum = 0;
  each_chunk<Count, kWhole>(p, channel, [&](const Window(&windows)[kTogether], auto whole) {
    StoredPack<T, Count> stored_dy[kTogether];
    StoredPack<T, Count> stored_x[kTogether];
    KG_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      stored_dy[k] = load_in_chunk<T, Count>(dy, windows[k], p.elements, whole);
      stored_x[k] = load_in_chunk<T, Count>(x, windows[k], p.elements, whole);
    }
    Floats<Count> gradients[kTogether];
    Floats<Count> values[kTogether];
    widen(stored_dy, gradients);
    widen(stored_x, values);
    KG_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) {
        if (!whole && (e < windows[k].begin || e >= windows[k].end)) continue;
        weighted += gradients[k].value[e] * ((values[k].value[e] - centre) * factor);
        sum += gradients[k].value[e];
      }
    }
  });
  weighted = block_sum(weighted, scratch[0]);
  sum = block_sum(sum, scratch[1]);
  if (threadIdx.x > 0) return;
  partial(partials, blockIdx.y, SumVector::dgamma, p.channels)[channel] = weighted;
  partial(partials, blockIdx.y, SumVector::dbeta, p.channels)[channel] = sum;
}

// A statistic for the channels of a vector of columns; each channel has by_plane columns.
template <int Count>
__device__ __forceinline__ Floats<Count> load_of_columns(const float* statistic, std::int64_t pack,
                                                         const Divisor& by_plane) {
  Floats<Count> values;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) values.value[e] = statistic[by_plane.quotient(pack * Count + e)];
  return values;
}

// nhwc: part blockIdx.y of the rows of a strip of channels. kPlanes: nchw, a strip of columns, with
// one plane of columns per channel.
template <class T, int Count, bool kPlanes>
__global__ void __launch_bounds__(kThreads, kWideBlocksPerSm)
    column_sums(const T* dy, const T* x, std::int64_t rows, std::int64_t channels, Divisor by_plane,
                const float* mean, const float* rstd, float* partials) {
  __shared__ float scratch[kSumVectors][Count][kThreads];
  const std::int64_t pack = batchnorm::column_pack();
  const bool has_channels = pack * Count < channels;
  Floats<Count> weighted = {};
  Floats<Count> sum = {};
  if (has_channels) {
    const auto of_pack = [&](const float* statistic) {
      if constexpr (kPlanes)
        return load_of_columns<Count>(statistic, pack, by_plane);
      else
        return load_floats<Count>(statistic, pack, channels);
    };
    const Floats<Count> centre = of_pack(mean);
    const Floats<Count> factor = of_pack(rstd);
    each_rows<Walk::forwards>(rows, [&](const std::int64_t(&row)[kTogether], int held, auto whole) {
      StoredPack<T, Count> stored_dy[kTogether];
      StoredPack<T, Count> stored_x[kTogether];
      KG_UNROLL
      for (int k = 0; k < kTogether; ++k) {
        const bool is_there = whole || k < held;
        stored_dy[k] = load_columns<T, Count>(dy + row[k] * channels, pack, channels, is_there);
        stored_x[k] = load_columns<T, Count>(x + row[k] * channels, pack, channels, is_there);
      }
      Floats<Count> gradients[kTogether];
      Floats<Count> values[kTogether];
      widen(stored_dy, gradients);
      widen(stored_x, values);
      KG_UNROLL
      for (int k = 0; k < kTogether; ++k) {
        if (!whole && k >= held) continue;
        KG_UNROLL
        for (int e = 0; e < Count; ++e) {
          weighted.value[e] +=
              gradients[k].value[e] * ((values[k].value[e] - centre.value[e]) * factor.value[e]);
          sum.value[e] += gradients[k].value[e];
        }
      }
    });
  }

  // Tree reduction over the block's rows: the lower half adds the sums of the upper half.
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    if (threadIdx.y >= half && threadIdx.y < 2 * half) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) {
        scratch[0][e][thread] = weighted.value[e];
        scratch[1][e][thread] = sum.value[e];
      }
    }
    __syncthreads();
    if (threadIdx.y >= half) continue;
    const unsigned other = thread + half * blockDim.x;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      weighted.value[e] += scratch[0][e][other];
      sum.value[e] += scratch[1][e][other];
    }
  }
  if (threadIdx.y > 0 || !has_channels) return;
  batchnorm::store_floats<Count>(partial(partials, blockIdx.y, SumVector::dgamma, channels), pack,
                                 channels, weighted);
  batchnorm::store_floats<Count>(partial(partials, blockIdx.y, SumVector::dbeta, channels), pack,
                                 channels, sum);
}

// nchw by columns: combines the parts of all columns of channel blockIdx.x.
__global__ void __launch_bounds__(kSumWarps* kLanes)
    join_planes(float* partials, std::int64_t parts, std::int64_t channels, std::int64_t spatial,
                float* dgamma, float* dbeta) {
  __shared__ float scratch[kSumVectors][kSumWarps];
  const std::int64_t channel = blockIdx.x;
  const std::int64_t columns = channels * spatial;
  float weighted = 0;
  float sum = 0;
  each_of_plane(parts, spatial, [&](std::int64_t part, std::int64_t place) {
    const std::int64_t column = channel * spatial + place;
    weighted += partial(partials, part, SumVector::dgamma, columns)[column];
    sum += partial(partials, part, SumVector::dbeta, columns)[column];
  });
  weighted = block_sum(weighted, scratch[0]);
  sum = block_sum(sum, scratch[1]);
  if (threadIdx.x > 0) return;
  dgamma[channel] = weighted;
  dbeta[channel] = sum;
}

} // namespace kg::batchnorm_backward
