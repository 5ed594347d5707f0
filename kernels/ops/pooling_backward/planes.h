// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a maximum of planes (nchw) in the two steps of gather.h, where maximum_rows.h
// does not do both at once.
//
// choose_planes: the windows of ops/pooling/plane_windows.h; a thread loads all their elements
// before it uses the first. gather_planes: a thread has 16 bytes of dx, contiguous across row ends,
// so that every store is whole and aligned. It visits the windows over these elements in gather's
// order of addition and adds each window's gradient to the chosen element. It thus reads a window
// once per thread, not once per element. The sums are in shared memory, where a computed index
// selects one. In registers, each window would be compared with each element, as tiles.h does for
// windows known at compile time. Expected on an H200: a third of copy bandwidth, limited by issue
// slots: 420 instructions for 8 elements of 3x3 windows at stride 2, where gather takes 315 for one
// (nvcc 13.0).
//
// Averages use gather: a window contributes to each of its elements, so this scheme saved only a
// quarter of the instructions.
#pragma once

#include "ops/pooling/plane_windows.h"
#include "ops/pooling_backward/gather.h"

namespace kg::pooling_backward {

using pooling::PlaneWindows;
using pooling::Square;

template <class T, int kKernel, int kStride>
__global__ void __launch_bounds__(pooling::kPlaneThreads, pooling::kPlaneBlocksPerSm)
    choose_planes(const T* __restrict__ x, std::uint8_t* __restrict__ choices, PlaneWindows w) {
  constexpr Square square{kKernel, kStride};
  const unsigned index = blockIdx.x * pooling::kPlaneThreads + threadIdx.x;
  if (index >= w.threads) return;
  const pooling::PlaneStrip<T, square> strip(index, x, w, pooling::Max::kIdentity);
  std::uint8_t* const to = choices + strip.first_output(w);
  KG_UNROLL
  for (int o = 0; o < pooling::kPlaneStrip; ++o) {
    if (strip.first + o >= w.down.out) break;
    const int top = strip.top + o * square.stride;
    float most = pooling::Max::kIdentity;
    int choice = max(-top, 0) * square.kernel + max(-strip.left, 0); // the first in the input
    KG_UNROLL
    for (int i = 0; i < square.kernel; ++i) {
      KG_UNROLL
      for (int j = 0; j < square.kernel; ++j) {
        const float value = strip.tap(o * square.stride + i, j);
        if (!exceeds(value, most)) continue;
        most = value;
        choice = i * square.kernel + j;
      }
    }
    to[o * w.down.y_step] = static_cast<std::uint8_t>(choice);
  }
}

// The geometry of dx for gather_planes; the rows of all planes are contiguous.
struct Planes {
  Gathered down, across;
  NarrowDivisor columns, rows;
  std::int64_t elements, y_plane;
};

inline constexpr int kGatherBlocksPerSm = 6; // at most 40 registers per thread

// The running sums of a thread's elements.
template <int Count>
class StripSums {
 public:
  __device__ explicit StripSums(float (&sums)[Count][kThreads]) : sums_(sums) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) sums_[e][threadIdx.x] = 0;
  }
  // Adds to sum first + element if 0 <= element < count.
  __device__ void add(int first, int count, int element, float value) {
    if (static_cast<unsigned>(element) < static_cast<unsigned>(count))
      sums_[first + element][threadIdx.x] += value;
  }
  __device__ Floats<Count> result() const {
    Floats<Count> result;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) result.value[e] = sums_[e][threadIdx.x];
    return result;
  }

 private:
  float (&sums_)[Count][kThreads];
};

template <class T, int Count>
__global__ void __launch_bounds__(kThreads, kGatherBlocksPerSm)
    gather_planes(const T* __restrict__ dy, const std::uint8_t* __restrict__ choices,
                  T* __restrict__ dx, Planes planes) {
  constexpr int kAtOnce = Count / 2 + 1; // at stride 2, plus one that begins before
  __shared__ float memory[Count][kThreads];
  StripSums<Count> sums(memory);
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  const std::int64_t begin = static_cast<std::int64_t>(index) * Count;
  if (begin >= planes.elements) return;
  const Gathered& vertical = planes.down;
  const Gathered& horizontal = planes.across;
  const auto width = static_cast<int>(planes.columns.value);
  unsigned line = planes.columns.quotient(static_cast<unsigned>(begin)); // counted over all planes
  int column = static_cast<int>(begin - static_cast<std::int64_t>(line) * width);
  const auto count = static_cast<int>(min(planes.elements - begin, std::int64_t{Count}));
  for (int done = 0, run = 0; done < count; done += run, column = 0, ++line) {
    run = min(count - done, width - column); // in this row
    const unsigned plane = planes.rows.quotient(line);
    const auto row = static_cast<int>(line - plane * planes.rows.value);
    const Windows down = vertical.windows_over(row);
    const int first = horizontal.windows_over(column).first;
    const int end = horizontal.windows_over(column + run - 1).end;
    for (int i = down.first; i < down.end; ++i) {
      const int tap_down = vertical.tap_at(i, row);
      if (tap_down < 0) continue;
      const std::int64_t windows = plane * planes.y_plane + i * vertical.y_step;
      for (int j = first; j < end; j += kAtOnce) {
        StoredPack<T, 1> gradients[kAtOnce];
        StoredPack<std::uint8_t, 1> chosen[kAtOnce];
        KG_UNROLL
        for (int w = 0; w < kAtOnce; ++w) {
          if (j + w >= end) continue;
          gradients[w].load(dy + windows + (j + w));
          chosen[w].load(choices + windows + (j + w));
        }
        loaded(gradients);
        loaded(chosen);
        KG_UNROLL
        for (int w = 0; w < kAtOnce; ++w) {
          if (j + w >= end) continue;
          const int tap = chosen[w].pack().element[0] - tap_down * horizontal.kernel;
          const int start = (j + w) * horizontal.stride - horizontal.before - column;
          if (tap >= 0 && tap < horizontal.kernel)
            sums.add(done, run, start + tap * horizontal.dilation, widened(gradients[w]).value[0]);
        }
      }
    }
  }
  store_pack<T, Count, Store::wide>(dx, index, planes.elements, sums.result());
}

} // namespace kg::pooling_backward
