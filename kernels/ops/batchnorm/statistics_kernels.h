// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Means and variances of batchnorm's channels in training.
//
// One read of x: 4 bytes per element in f32, 2 in f16 and bf16. With the pass that applies them, x
// is read twice and y written once: 12 or 6 bytes per element. Why twice: for image tensors,
// neither registers nor shared memory hold a channel (802,816 elements for 256 images of 56 x 56),
// and the mean is known only after the last element. The second pass starts where the first ended,
// so that data still in L2 (60 MB on an H200) is not read from memory again. Expected on an H200:
// 90 % of copy bandwidth from 64 MiB on. About 10 operations per element are a fifth of its
// capacity in that time.
//
// A thread centres its elements by their own mean and combines the moments of such chunks; two
// passes over registers are free. Why not sums of x and x^2: they lose the square of |mean| /
// deviation, all of f32's precision at 4096. Why not Welford's update: one division per element.
// Why not atomics: the order, and so the bits, would change from run to run.
#pragma once

#include "ops/batchnorm/columns.h"
#include "ops/batchnorm/moments.h"
#include "ops/batchnorm/planes.h"
#include "ops/batchnorm/short_planes.h"
#include "ops/batchnorm/strides.h"

namespace kg::batchnorm {

inline constexpr int kMomentVectors = 3; // count, mean, squares

// Outputs of training, from each channel's moments; the running pointers may be null.
struct Statistics {
  float* mean;
  float* rstd;
  float* running_mean;
  float* running_variance;
  float momentum;
  float epsilon;
  float count;          // per channel
  float count_less_one; // divisor of the unbiased running variance
};

__device__ inline void store_statistics(const Statistics& s, std::int64_t channel, float mean,
                                        float squares) {
  s.mean[channel] = mean;
  s.rstd[channel] = 1.0f / sqrtf(squares / s.count + s.epsilon);
  if (s.running_mean == nullptr) return;
  const float kept = 1.0f - s.momentum;
  s.running_mean[channel] = kept * s.running_mean[channel] + s.momentum * mean;
  s.running_variance[channel] =
      kept * s.running_variance[channel] + s.momentum * (squares / s.count_less_one);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    naive_statistics(const T* x, Strides strides, Statistics s) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (channel >= strides.channels) return;
  float mean = 0;
  strides.each_of(channel, [&](std::int64_t i) { mean += to_float(x[i]); });
  mean /= s.count;
  float squares = 0;
  strides.each_of(channel, [&](std::int64_t i) {
    const float centred = to_float(x[i]) - mean;
    squares += centred * centred;
  });
  store_statistics(s, channel, mean, squares);
}

// Moments of the elements that `use` visits: use(f) calls f(value) for each.
template <class Use>
__device__ __forceinline__ Moments moments_of(int count, Use use) {
  Moments own = {static_cast<float>(count), 0, 0};
  if (count == 0) return own;
  float sum = 0;
  use([&](float value) { sum += value; });
  own.mean = sum / own.count;
  use([&](float value) {
    const float centred = value - own.mean;
    own.squares += centred * centred;
  });
  return own;
}

__device__ __forceinline__ float* partial(float* partials, std::int64_t part, int vector,
                                          std::int64_t channels) {
  return partials + partial_offset(part, kMomentVectors, vector, channels);
}

// nchw: part blockIdx.y of channel blockIdx.x.
template <class T, int Count, bool kWhole>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    plane_moments(const T* x, Planes p, float* partials) {
  __shared__ Moments scratch[kThreads / kLanes];
  const std::int64_t channel = blockIdx.x;
  Moments own = {};
  each_chunk<Count, kWhole>(p, channel, [&](const Window(&windows)[kTogether], auto whole) {
    StoredPack<T, Count> stored[kTogether];
    int held = 0;
    KG_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      stored[k] = load_in_chunk<T, Count>(x, windows[k], p.elements, whole);
      const int has = windows[k].end - windows[k].begin;
      held += has > 0 ? has : 0;
    }
    const int count = whole ? kTogether * Count : held; // a constant divisor if whole
    Floats<Count> values[kTogether];
    widen(stored, values);
    own = joined(own, moments_of(count, [&](auto take) {
                   KG_UNROLL
                   for (int k = 0; k < kTogether; ++k) {
                     KG_UNROLL
                     for (int e = 0; e < Count; ++e)
                       if (whole || (e >= windows[k].begin && e < windows[k].end))
                         take(values[k].value[e]);
                   }
                 }));
  });
  own = block_joined(own, scratch);
  if (threadIdx.x > 0) return;
  *(partial(partials, blockIdx.y, 0, p.channels) + channel) = own.count;
  *(partial(partials, blockIdx.y, 1, p.channels) + channel) = own.mean;
  *(partial(partials, blockIdx.y, 2, p.channels) + channel) = own.squares;
}

// nhwc: part blockIdx.y of the rows of a strip of channels; or nchw, of a strip of columns.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    column_moments(const T* x, std::int64_t rows, std::int64_t channels, float* partials) {
  __shared__ float counts[kThreads];
  __shared__ float means[Count][kThreads];
  __shared__ float squares[Count][kThreads];
  const std::int64_t pack = column_pack();
  const bool has_channels = pack * Count < channels;
  float count = 0;
  Floats<Count> mean = {};
  Floats<Count> square = {};
  each_rows<Walk::forwards>(
      has_channels ? rows : 0, [&](const std::int64_t(&row)[kTogether], int rows_held, auto whole) {
        const int held = whole ? kTogether : rows_held;
        StoredPack<T, Count> stored[kTogether];
        KG_UNROLL
        for (int k = 0; k < kTogether; ++k)
          stored[k] = load_columns<T, Count>(x + row[k] * channels, pack, channels, k < held);
        Floats<Count> values[kTogether];
        widen(stored, values);
        const Joint sizes = joint(count, static_cast<float>(held));
        KG_UNROLL
        for (int e = 0; e < Count; ++e) {
          const Moments chunk = moments_of(held, [&](auto take) {
            KG_UNROLL
            for (int k = 0; k < kTogether; ++k)
              if (k < held) take(values[k].value[e]);
          });
          join(sizes, mean.value[e], square.value[e], chunk.mean, chunk.squares);
        }
        count = sizes.count;
      });

  // Tree reduction over the block's rows: the lower half combines with the upper half.
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    if (threadIdx.y >= half && threadIdx.y < 2 * half) {
      counts[thread] = count;
      KG_UNROLL
      for (int e = 0; e < Count; ++e) {
        means[e][thread] = mean.value[e];
        squares[e][thread] = square.value[e];
      }
    }
    __syncthreads();
    if (threadIdx.y >= half) continue;
    const unsigned other = thread + half * blockDim.x;
    const Joint sizes = joint(count, counts[other]);
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      join(sizes, mean.value[e], square.value[e], means[e][other], squares[e][other]);
    count = sizes.count;
  }
  if (threadIdx.y > 0 || !has_channels) return;
  Floats<Count> all;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) all.value[e] = count;
  store_floats<Count>(partial(partials, blockIdx.y, 0, channels), pack, channels, all);
  store_floats<Count>(partial(partials, blockIdx.y, 1, channels), pack, channels, mean);
  store_floats<Count>(partial(partials, blockIdx.y, 2, channels), pack, channels, square);
}

// Combines the parts of 32 channels: each of a block's W warps takes every W-th part, then the
// first warp combines the warps.
__global__ void __launch_bounds__(kFinishWarps* kLanes)
    finish_moments(float* partials, std::int64_t parts, std::int64_t channels, Statistics s) {
  __shared__ Moments sums[kFinishWarps][kLanes];
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  const unsigned warps = blockDim.x / kLanes;
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kLanes + lane;
  Moments own = {};
  if (channel < channels)
    for (std::int64_t part = warp; part < parts; part += warps)
      own = joined(own, {partial(partials, part, 0, channels)[channel],
                         partial(partials, part, 1, channels)[channel],
                         partial(partials, part, 2, channels)[channel]});
  sums[warp][lane] = own;
  __syncthreads();
  if (warp > 0 || channel >= channels) return;
  for (unsigned w = 1; w < warps; ++w) own = joined(own, sums[w][lane]);
  store_statistics(s, channel, own.mean, own.squares);
}

// nchw by columns: combines the parts of all columns of channel blockIdx.x.
__global__ void __launch_bounds__(kFinishWarps* kLanes)
    finish_planes(float* partials, std::int64_t parts, std::int64_t channels, std::int64_t spatial,
                  Statistics s) {
  __shared__ Moments scratch[kFinishWarps];
  const std::int64_t channel = blockIdx.x;
  const std::int64_t columns = channels * spatial;
  Moments own = {};
  each_of_plane(parts, spatial, [&](std::int64_t part, std::int64_t place) {
    const std::int64_t column = channel * spatial + place;
    own = joined(own, {partial(partials, part, 0, columns)[column],
                       partial(partials, part, 1, columns)[column],
                       partial(partials, part, 2, columns)[column]});
  });
  own = block_joined(own, scratch);
  if (threadIdx.x == 0) store_statistics(s, channel, own.mean, own.squares);
}

} // namespace kg::batchnorm
