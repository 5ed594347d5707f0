// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// dx from dy, x and each channel's sums.
//
// Two reads and one write per element: 12 bytes in f32, 6 in f16 and bf16; per-channel values stay
// in L1 or in registers. Expected on an H200: 92 % of the bandwidth of adding two arrays from 64
// MiB on; 6 operations per element are cheap beside that. Threads hold one vector each of dy and x
// for planes (5 blocks per multiprocessor have 40 KiB in flight), or two rows of columns. The last
// elements come first, since L2 still has them from the sums.
#pragma once

#include "ops/batchnorm/columns.h"
#include "ops/batchnorm/planes.h"
#include "ops/batchnorm/strides.h"

namespace kg::batchnorm_backward {

using batchnorm::each_element;
using batchnorm::each_rows;
using batchnorm::kBlocksPerSm;
using batchnorm::kThreads;
using batchnorm::kTogether;
using batchnorm::kWideBlocksPerSm;
using batchnorm::load_columns;
using batchnorm::load_floats;
using batchnorm::load_window;
using batchnorm::Planes;
using batchnorm::Strides;
using batchnorm::Walk;
using batchnorm::Window;

inline constexpr int kPlaneGradientBlocksPerSm = 5; // threads hold a vector of dy and of x

// gamma may be null: ones. share: an element's fraction of its channel, 1 / N, which costs the
// means one more rounding than a division, but saves the division's instructions.
struct Channels {
  const float* mean;
  const float* rstd;
  const float* gamma;
  const float* dgamma;
  const float* dbeta;
  float share;
};

// dx = scale (dy - average - (x - mean) tilt), tilt = rstd dgamma / N: one register less than with
// n of each element, with as many roundings.
template <int Count>
struct Gradient {
  Floats<Count> mean;
  Floats<Count> scale;
  Floats<Count> average;
  Floats<Count> tilt;
};

// For channels starting at pack * Count.
template <int Count>
__device__ __forceinline__ Gradient<Count> gradient(const Channels& c, std::int64_t pack,
                                                    std::int64_t channels) {
  Gradient<Count> g;
  g.mean = load_floats<Count>(c.mean, pack, channels);
  g.scale = load_floats<Count>(c.rstd, pack, channels);
  g.average = load_floats<Count>(c.dbeta, pack, channels);
  g.tilt = load_floats<Count>(c.dgamma, pack, channels);
  KG_UNROLL
  for (int e = 0; e < Count; ++e) {
    g.average.value[e] *= c.share;
    g.tilt.value[e] *= c.share;
    g.tilt.value[e] *= g.scale.value[e];
  }
  if (c.gamma != nullptr) {
    const Floats<Count> gamma = load_floats<Count>(c.gamma, pack, channels);
    KG_UNROLL
    for (int e = 0; e < Count; ++e) g.scale.value[e] *= gamma.value[e];
  }
  return g;
}

// dx for channel e of the vector.
template <int Count>
__device__ __forceinline__ float differentiated(float dy, float x, const Gradient<Count>& g,
                                                int e) {
  const float centred = x - g.mean.value[e];
  return g.scale.value[e] * (dy - g.average.value[e] - centred * g.tilt.value[e]);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    naive_gradient(const T* dy, const T* x, Strides strides, Channels c, T* dx) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= strides.elements()) return;
  const Gradient<1> g = gradient<1>(c, strides.channel_of(i), strides.channels);
  dx[i] = from_float<T>(differentiated(to_float(dy[i]), to_float(x[i]), g, 0));
}

// nchw: all vectors of the tensor regardless of planes, in reverse order. dx may be dy or x.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads, kPlaneGradientBlocksPerSm)
    plane_gradient(const T* dy, const T* x, Planes p, Channels c, T* dx) {
  const std::int64_t block = gridDim.x - 1 - blockIdx.x;
  const std::int64_t pack = block * kThreads + threadIdx.x;
  const Window w = batchnorm::window<Count>(pack * Count - p.past, 0, p.elements);
  if (w.begin >= w.end) return;
  StoredPack<T, Count> stored_dy = load_window<T, Count>(dy, w, p.elements);
  StoredPack<T, Count> stored_x = load_window<T, Count>(x, w, p.elements);
  Floats<Count> gradients;
  Floats<Count> values;
  each_element<Count>(
      p, w, [&](std::int64_t channel) { return gradient<1>(c, channel, p.channels); },
      [&] {
        stored_dy.keep_raw();
        stored_x.keep_raw();
        gradients = widened(stored_dy);
        values = widened(stored_x);
      },
      [&](int e, const Gradient<1>& g) {
        gradients.value[e] = differentiated(gradients.value[e], values.value[e], g, 0);
      });
  batchnorm::store_window(dx, w, gradients);
}

// Vectors of dy and of x that a thread loads before the first use: four values for each of 8
// channels leave registers for two rows, of which three blocks have 48 KiB in flight.
template <int Count>
inline constexpr int kRowsAtOnce = Count > 4 ? 2 : kTogether;

// nhwc: part blockIdx.y of the rows of a strip of channels, in reverse order. dx may be dy or x.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    column_gradient(const T* dy, const T* x, std::int64_t rows, std::int64_t channels, Channels c,
                    T* dx) {
  const std::int64_t pack = batchnorm::column_pack();
  if (pack * Count >= channels) return;
  const Gradient<Count> g = gradient<Count>(c, pack, channels);
  each_rows<Walk::backwards, kRowsAtOnce<Count>>(rows, [&](const auto& row, int held, auto whole) {
    StoredPack<T, Count> stored_dy[kRowsAtOnce<Count>];
    StoredPack<T, Count> stored_x[kRowsAtOnce<Count>];
    KG_UNROLL
    for (int k = 0; k < kRowsAtOnce<Count>; ++k) {
      const bool is_there = whole || k < held;
      stored_dy[k] = load_columns<T, Count>(dy + row[k] * channels, pack, channels, is_there);
      stored_x[k] = load_columns<T, Count>(x + row[k] * channels, pack, channels, is_there);
    }
    Floats<Count> gradients[kRowsAtOnce<Count>];
    Floats<Count> values[kRowsAtOnce<Count>];
    widen(stored_dy, gradients);
    widen(stored_x, values);
    KG_UNROLL
    for (int k = 0; k < kRowsAtOnce<Count>; ++k) {
      if (!whole && k >= held) continue;
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        gradients[k].value[e] = differentiated(gradients[k].value[e], values[k].value[e], g, e);
      store_pack<T, Count, Store::streamed>(dx + row[k] * channels, pack, channels, gradients[k]);
    }
  });
}

} // namespace kg::batchnorm_backward
