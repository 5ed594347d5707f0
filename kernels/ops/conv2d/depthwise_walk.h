// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant depthwise, nhwc, 3x3 kernels of stride 1, f16 and bf16, one output per channel: a
// thread moves down 4 neighbouring columns of 4 channels, with its filters in registers as floats.
// Each element of x is converted once and used by all windows of the strip that contain it,
// including those of the next two rows.
//
// Bytes: x and y once. Two of a strip's 6 columns belong to neighbouring strips and hit L1 or L2;
// parts of 14 rows load two more rows. Three rows are in flight while one is used, 4.5 KiB per
// warp. Warp instructions per 32 x 8 elements of y (sm_90a): 132, plus 18 for the rows beyond a
// part and 8 for its start. depthwise_nhwc.cu needs 194, and an H200 issues 252 while it copies the
// same bytes.
#pragma once

#include "instructions/opaque.h"
#include "ops/conv2d/strip.h"
#include "primitives/divisor.h"

namespace kg::conv2d {

inline constexpr int kWalkThreads = 128;
inline constexpr int kWalkBlocksPerSm = 3; // at most 168 registers per thread
inline constexpr int kWalkKernel = 3;
inline constexpr int kWalkAhead = kWalkKernel; // rows of x, rotating like the sums
inline constexpr int kWalkChannels = 4;
inline constexpr int kWalkColumns = 4;

// Launch parameters. Threads are numbered through channels, along rows, parts of columns, and
// images of y.
struct DepthwiseWalk {
  window::Line vertical, horizontal;
  int part; // consecutive rows of y per thread
  NarrowDivisor channels, across, parts;
  unsigned threads;
};

template <class T>
__global__ void __launch_bounds__(kWalkThreads, kWalkBlocksPerSm)
    depthwise_walk(const T* __restrict__ x, const T* __restrict__ weights,
                   const T* __restrict__ bias, T* __restrict__ y, DepthwiseWalk d) {
  constexpr int kCount = kWalkChannels, kTaps = kWalkKernel * kWalkKernel;
  constexpr int kElements = kWalkColumns + kWalkKernel - 1; // per row of x
  const unsigned index = blockIdx.x * kWalkThreads + threadIdx.x;
  if (index >= d.threads) return;
  unsigned image = d.channels.quotient(index); // at least two vectors of channels
  const int channels = static_cast<int>(d.channels.value) * kCount;
  const int channel = static_cast<int>(index - image * d.channels.value) * kCount;
  const int column = static_cast<int>(d.across.take_last(image)) * kWalkColumns;
  const int first = static_cast<int>(d.parts.take_last(image)) * d.part;

  int row = first - d.vertical.before; // row of x to load next
  const int begin = column - d.horizontal.before;
  const T* from =
      x + ((image * static_cast<std::int64_t>(d.vertical.in) + row) * d.vertical.x_step +
           begin * d.horizontal.x_step + channel);
  bool is_column[kElements];
  KG_UNROLL
  for (int c = 0; c < kElements; ++c)
    is_column[c] = static_cast<unsigned>(begin + c) < static_cast<unsigned>(d.horizontal.in);
  using Row = StoredPack<T, kCount>[kElements];
  const auto load = [&](Row & stored) __attribute__((always_inline)) {
    const bool is_row = static_cast<unsigned>(row) < static_cast<unsigned>(d.vertical.in);
    KG_UNROLL
    for (int c = 0; c < kElements; ++c) {
      stored[c].set({});
      if (is_row && is_column[c]) stored[c].load(from + c * channels);
    }
    ++row;
    from += d.vertical.x_step;
  };
  Row ring[kWalkAhead];
  KG_UNROLL
  for (int a = 0; a < kWalkAhead; ++a) load(ring[a]);

  // The filters of a vector of channels, one vector per tap.
  StoredPack<T, kCount> stored_filters[kTaps];
  const T* const filters = weights + channel * std::int64_t{kTaps};
  KG_UNROLL
  for (int p = 0; p < kTaps; ++p) stored_filters[p].load(filters + p * kCount);
  loaded(stored_filters);
  Floats<kCount> filter[kTaps];
  KG_UNROLL
  for (int p = 0; p < kTaps; ++p) {
    const Floats<kCount> values = unpack_pairs(stored_filters[p]);
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) {
      const int weight = p * kCount + e;
      unsigned bits = __float_as_uint(values.value[e]);
      ptx::make_opaque(bits); // prevents repeated conversion for each row
      filter[weight % kTaps].value[weight / kTaps] = __uint_as_float(bits);
    }
  }
  Floats<kCount> added{};
  if (bias != nullptr) {
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) added.value[e] = to_float(bias[channel + e]);
  }

  const std::int64_t y_row = static_cast<std::int64_t>(d.horizontal.out) * channels;
  T* to = y + ((image * static_cast<std::int64_t>(d.vertical.out) + first) * y_row +
               column * static_cast<std::int64_t>(channels) + channel);
  const int steps = min(d.part, d.vertical.out - first) + kWalkKernel - 1;
  Floats<kCount> sum[kWalkKernel][kWalkColumns] = {}; // three rows of y, rotating
  for (int base = 0; base < steps; base += kWalkKernel) {
    KG_UNROLL
    for (int k = 0; k < kWalkKernel; ++k) {
      const int i = base + k;
      if (i >= steps) break;
      loaded(ring[k]);
      Floats<kCount> value[kElements];
      KG_UNROLL
      for (int c = 0; c < kElements; ++c) value[c] = unpack_pairs(ring[k][c]);
      if (i + kWalkAhead < steps) load(ring[k]);
      KG_UNROLL
      for (int s = 0; s < kWalkColumns; ++s) sum[k][s] = {};
      KG_UNROLL
      for (int u = 0; u < kWalkKernel; ++u) {
        KG_UNROLL
        for (int v = 0; v < kWalkKernel; ++v) {
          KG_UNROLL
          for (int s = 0; s < kWalkColumns; ++s)
            add(sum[(k + kWalkKernel - u) % kWalkKernel][s], value[s + v],
                filter[u * kWalkKernel + v]);
        }
      }
      if (i < kWalkKernel - 1) continue; // no row of y is complete yet
      KG_UNROLL
      for (int s = 0; s < kWalkColumns; ++s) {
        if (column + s >= d.horizontal.out) break;
        Pack<T, kCount> result;
        KG_UNROLL
        for (int e = 0; e < kCount; ++e)
          result.element[e] =
              from_float<T>(sum[(k + 1) % kWalkKernel][s].value[e] + added.value[e]);
        store_wide(reinterpret_cast<Pack<T, kCount>*>(to + s * channels), result);
      }
      to += y_row;
    }
  }
}

} // namespace kg::conv2d
