// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// y from x and each channel's statistics, in training and inference.
//
// One read and one write per element: 8 bytes in f32, 4 in f16 and bf16; per-channel values stay in
// L1 or in registers. Expected on an H200: 92 % of copy bandwidth from 64 MiB on. rstd and gamma
// are folded into one factor: 3 operations per element. Why the mean is not folded into beta: for a
// mean far from 0, x scale and mean scale are large and nearly cancel, while x - mean is exact.
// Memory bandwidth hides the subtraction.
//
// nchw: a thread has one vector, usually of one channel, whose values it loads once along with the
// vector. With four vectors per thread and a check for a new plane at each element, training in
// bf16 took 474 us on an H200, where nhwc took 321 (docs/measured, 2a35b298).
#pragma once

#include "ops/batchnorm/columns.h"
#include "ops/batchnorm/planes.h"
#include "ops/batchnorm/strides.h"

namespace kg::batchnorm {

// gamma and beta may be null: ones and zeros.
struct Channels {
  const float* mean;
  const float* spread; // rstd, or the variance
  const float* gamma;
  const float* beta;
  float epsilon;
  bool spread_is_variance;
};

// y = (x - mean) scale + shift
template <int Count>
struct Affine {
  Floats<Count> mean;
  Floats<Count> scale;
  Floats<Count> shift;
};

// For channels starting at pack * Count.
template <int Count>
__device__ __forceinline__ Affine<Count> affine(const Channels& c, std::int64_t pack,
                                                std::int64_t channels) {
  Affine<Count> a;
  a.mean = load_floats<Count>(c.mean, pack, channels);
  a.scale = load_floats<Count>(c.spread, pack, channels);
  if (c.spread_is_variance) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) a.scale.value[e] = 1.0f / sqrtf(a.scale.value[e] + c.epsilon);
  }
  if (c.gamma != nullptr) {
    const Floats<Count> gamma = load_floats<Count>(c.gamma, pack, channels);
    KG_UNROLL
    for (int e = 0; e < Count; ++e) a.scale.value[e] *= gamma.value[e];
  }
  a.shift = {};
  if (c.beta != nullptr) a.shift = load_floats<Count>(c.beta, pack, channels);
  return a;
}

__device__ __forceinline__ float applied(float x, float mean, float scale, float shift) {
  return (x - mean) * scale + shift;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    naive_apply(const T* x, Strides strides, Channels c, T* y) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= strides.elements()) return;
  const Affine<1> a = affine<1>(c, strides.channel_of(i), strides.channels);
  y[i] =
      from_float<T>(applied(to_float(x[i]), a.mean.value[0], a.scale.value[0], a.shift.value[0]));
}

// nchw: all vectors of the tensor regardless of planes, in reverse order, since L2 still has the
// last ones from the previous pass. y may be x.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads, kPlaneBlocksPerSm)
    plane_apply(const T* x, Planes p, Channels c, T* y) {
  const std::int64_t block = gridDim.x - 1 - blockIdx.x;
  const std::int64_t pack = block * kThreads + threadIdx.x;
  const Window w = window<Count>(pack * Count - p.past, 0, p.elements);
  if (w.begin >= w.end) return;
  StoredPack<T, Count> stored = load_window<T, Count>(x, w, p.elements);
  Floats<Count> values;
  each_element<Count>(
      p, w, [&](std::int64_t channel) { return affine<1>(c, channel, p.channels); },
      [&] {
        stored.keep_raw();
        values = widened(stored);
      },
      [&](int e, const Affine<1>& a) {
        values.value[e] =
            applied(values.value[e], a.mean.value[0], a.scale.value[0], a.shift.value[0]);
      });
  store_window(y, w, values);
}

// nhwc: part blockIdx.y of the rows of a strip of channels, in reverse order. y may be x.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads, kWideBlocksPerSm)
    column_apply(const T* x, std::int64_t rows, std::int64_t channels, Channels c, T* y) {
  const std::int64_t pack = column_pack();
  if (pack * Count >= channels) return;
  const Affine<Count> a = affine<Count>(c, pack, channels);
  each_rows<Walk::backwards>(rows, [&](const std::int64_t(&row)[kTogether], int held, auto whole) {
    StoredPack<T, Count> stored[kTogether];
    KG_UNROLL
    for (int k = 0; k < kTogether; ++k)
      stored[k] = load_columns<T, Count>(x + row[k] * channels, pack, channels, whole || k < held);
    Floats<Count> values[kTogether];
    widen(stored, values);
    KG_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      if (!whole && k >= held) continue;
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        values[k].value[e] =
            applied(values[k].value[e], a.mean.value[e], a.scale.value[e], a.shift.value[e]);
      store_pack<T, Count, Store::streamed>(y + row[k] * channels, pack, channels, values[k]);
    }
  });
}

} // namespace kg::batchnorm
