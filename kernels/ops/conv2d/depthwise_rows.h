// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant depthwise, nchw, 3x3 kernels of stride 1, one output per channel, rows of x and y
// of the same number of whole 16-byte vectors: a thread computes one vector of y in each of 4
// consecutive rows. It issues all loads of its windows, vector by vector, before it uses the first
// element.
//
// Bytes: x read once and y written once. L1 is read 1.5 times for x, mostly by threads of one
// block, and for the two elements beside each vector. For 16-bit elements, a warp takes about 155
// instructions per vector of y, 72 of them multiply-adds; an H200 issues 252 while it copies the
// same bytes. Element-wise access (depthwise_nchw.cu), at 506 instructions for 8 outputs per
// thread, reached 23 % of copy bandwidth there in bf16. depthwise_bands.h handles f16 and bf16
// shapes that fill Tensor Core tiles.
#pragma once

#include "primitives/divisor.h"
#include "primitives/row_of_packs.h"
#include "primitives/window_taps.h"

namespace kg::conv2d {

inline constexpr int kRowsKernel = 3;
inline constexpr int kRowsThreads = 128;
inline constexpr int kRowsBlocksPerSm = 4; // at most 128 registers per thread
inline constexpr int kRowsBelow = 4;       // rows of y per thread

// Launch parameters. Threads are numbered along the vectors of a row, then rows and planes of y.
struct DepthwiseRows {
  window::Line vertical;
  std::int64_t width;
  NarrowDivisor packs, strips, channels;
  unsigned threads;
};

template <class T>
__global__ void __launch_bounds__(kRowsThreads, kRowsBlocksPerSm)
    depthwise_rows(const T* __restrict__ x, const T* __restrict__ weights,
                   const T* __restrict__ bias, T* __restrict__ y, DepthwiseRows d) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kIn = kRowsBelow + kRowsKernel - 1;
  unsigned plane = blockIdx.x * kRowsThreads + threadIdx.x;
  if (plane >= d.threads) return;
  const auto pack = static_cast<int>(d.packs.take_last(plane));
  const int first = static_cast<int>(d.strips.take_last(plane)) * kRowsBelow;
  const int top = first - d.vertical.before;
  const T* const from =
      x + ((plane * static_cast<std::int64_t>(d.vertical.in) + top) * d.width + pack * kCount);
  const bool has_next = pack + 1 < static_cast<int>(d.packs.value);
  RowOfPacks<T, 1, 1, 1> rows[kIn];
  KG_UNROLL
  for (int i = 0; i < kIn; ++i) {
    const int row = top + i;
    const bool is_input = row >= 0 && row < d.vertical.in;
    rows[i].load(from + i * d.width, is_input, pack > 0, has_next, from_float<T>(0.0f));
  }
  unsigned image = plane;
  const unsigned channel = d.channels.take_last(image);
  float weight[kRowsKernel * kRowsKernel];
  const T* const filter = weights + channel * std::int64_t{kRowsKernel * kRowsKernel};
  KG_UNROLL
  for (int tap = 0; tap < kRowsKernel * kRowsKernel; ++tap) weight[tap] = to_float(filter[tap]);
  const float added = bias == nullptr ? 0.0f : to_float(bias[channel]);
  KG_UNROLL
  for (int i = 0; i < kIn; ++i) rows[i].loaded();

  Floats<kCount> sum[kRowsBelow] = {};
  KG_UNROLL
  for (int i = 0; i < kIn; ++i) {
    const auto values = rows[i].widened();
    KG_UNROLL
    for (int o = 0; o < kRowsBelow; ++o) {
      const int u = i - o;
      if (u < 0 || u >= kRowsKernel) continue;
      KG_UNROLL
      for (int v = 0; v < kRowsKernel; ++v) {
        KG_UNROLL
        for (int e = 0; e < kCount; ++e)
          sum[o].value[e] = fmaf(values.value[e + v], weight[u * kRowsKernel + v], sum[o].value[e]);
      }
    }
  }

  T* const to =
      y + ((plane * static_cast<std::int64_t>(d.vertical.out) + first) * d.width + pack * kCount);
  KG_UNROLL
  for (int o = 0; o < kRowsBelow; ++o) {
    if (first + o >= d.vertical.out) break;
    Pack<T, kCount> stored;
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) stored.element[e] = from_float<T>(sum[o].value[e] + added);
    store_wide(reinterpret_cast<Pack<T, kCount>*>(to + o * d.width), stored);
  }
}

} // namespace kg::conv2d
