// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How slices of windows and of filters come into shared memory in nhwc, for gemm's main loop
// (ops/gemm/mma_walk.h): by cp.async, kWidth elements at a time, without a division and without a
// branch but at the end of a tap's channels. A slice's lines lie along k: of a window tap by tap,
// and of each tap all channels.
//
// A thread has the same pieces of every n-th line. Which tap and channel they are of is the same
// in all of its lines and goes on from slice to slice; in which of its lines the tap lies in the
// image is looked up in shared memory where another tap begins, and kept in a bit each. The tap's
// coordinates and the window's are added, and the sum is compared: negative ones are large without
// a sign. How far a line's window is from the block's first one fits in 32 bits, which are kept for
// 8 lines and looked up for more, since the registers are full of sums.
#pragma once

#include "ops/conv2d/gathered.h"
#include "ops/conv2d/pieces.h"
#include "ops/gemm/mma_tile.h"

#include "instructions/shared_pointer.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kg::conv2d {

// Where the window of a place begins, the padding included: in x, and in the image. Of four words,
// which nvcc loads as 16 bytes.
struct alignas(16) Start {
  int row, column;
  std::uint32_t low, high; // of the offset

  __device__ __forceinline__ static Start at(std::int64_t offset, int row, int column) {
    const auto bits = static_cast<std::uint64_t>(offset);
    return {row, column, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
  // Elements of x, to the group's first channel.
  __device__ __forceinline__ std::int64_t offset() const {
    return static_cast<std::int64_t>((std::uint64_t{high} << 32) | low);
  }
};

// A place that does not exist has no element in the image, whatever the tap.
inline constexpr int kOutside = -static_cast<int>(window::kMostExtent) - 1;
// Nor has a tap behind the last, whatever the place: coordinates are below 2^30.
inline constexpr unsigned kBehindTaps = (1u << 31) - 1;

__device__ __forceinline__ bool is_inside(unsigned coordinate, int extent) {
  return coordinate < static_cast<unsigned>(extent);
}

// Whether windows of `places` neighbouring places are as near to each other as WindowCopies wants
// them of pieces of kWidth elements: images, and what windows may lie outside of them.
template <int kWidth>
bool windows_are_near(const Geometry& g, std::int64_t places) {
  const Strides x = strides_of_x(g);
  const auto product = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  const double span = product(std::min(g.batch, places / g.out_places() + 2), x.outer) +
                      product(g.vertical.pad_before + g.vertical.pad_after, x.row) +
                      product(g.horizontal.pad_before + g.horizontal.pad_after, x.column);
  return span / kWidth < std::numeric_limits<std::int32_t>::max();
}

// A thread's copies of a slice of windows; as gemm::MmaSlice::Copies.
template <class T, class Slice, int kWidth>
class WindowCopies {
  using Own = Pieces<Slice, kWidth>;
  static constexpr int kDepth = gemm::kDepth<T>;
  static constexpr int kMostKept = 8, kMostBits = 16; // lines
  static_assert(Slice::kIsAlongK && Own::kStep % 8 == 0);

 public:
  static constexpr int kCount = Own::kRounds;
  static constexpr bool kKept = kCount <= kMostKept; // windows_are_near is asked for

  // x: the group's first channel; starts: of the lines of a slice; slice: the first of a ring.
  __device__ __forceinline__ WindowCopies(const Gathered& g, const T* x, const Start* starts,
                                          T* slice)
      : g_(g), starts_(starts + Own::line()), source_(x + Own::element()),
        to_(slice + Own::place()), channel_(Own::element()) {
    if constexpr (kKept) {
      const std::int64_t first = starts->offset();
      source_ += first;
      KG_UNROLL
      for (int i = 0; i < kCount; ++i)
        pieces_[i] = static_cast<int>((starts_[i * Own::kStep].offset() - first) / kWidth);
    }
    look();
    next_taps();
  }

  __device__ __forceinline__ void start(int i, int, int at) const {
    std::int64_t offset;
    if constexpr (kKept)
      offset = std::int64_t{pieces_[i]} * kWidth;
    else
      offset = starts_[i * Own::kStep].offset();
    const bool inside = kCount <= kMostBits ? (inside_ >> i & 1) != 0 : lies_inside(i);
    Own::copy(to_ + at + i * Own::kStepElements, source_ + offset, inside);
  }
  __device__ __forceinline__ void advance() {
    channel_ += kDepth;
    source_ += kDepth;
    next_taps();
  }

 private:
  // Goes to the tap that `channel_` lies in, if it is none of this tap's.
  __device__ __forceinline__ void next_taps() {
    if (channel_ < g_.group_inputs) return;
    KG_ROLLED
    do {
      channel_ -= g_.group_inputs;
      source_ += g_.horizontal.dilation * g_.horizontal.x_step - g_.group_inputs;
      column_ += static_cast<unsigned>(g_.horizontal.dilation);
      const int columns = g_.horizontal.kernel * g_.horizontal.dilation;
      if (column_ < static_cast<unsigned>(columns)) continue;
      column_ = 0;
      source_ += g_.vertical.dilation * g_.vertical.x_step - columns * g_.horizontal.x_step;
      row_ += static_cast<unsigned>(g_.vertical.dilation);
      if (row_ >= static_cast<unsigned>(g_.vertical.kernel * g_.vertical.dilation))
        row_ = kBehindTaps;
    } while (channel_ >= g_.group_inputs);
    look();
  }

  // Whether the tap of the thread's line number `i` lies in the image.
  __device__ __forceinline__ bool lies_inside(int i) const {
    const Start& start = starts_[i * Own::kStep];
    return is_inside(static_cast<unsigned>(start.row) + row_, g_.vertical.in) &&
           is_inside(static_cast<unsigned>(start.column) + column_, g_.horizontal.in);
  }
  __device__ __forceinline__ void look() {
    inside_ = 0;
    if constexpr (kCount <= kMostBits) {
      KG_UNROLL
      for (int i = 0; i < kCount; ++i) inside_ |= static_cast<unsigned>(lies_inside(i)) << i;
    }
  }

  const Gathered& g_;
  const Start* starts_;
  const T*
      source_; // the thread's element of the tap, of the first window or one that begins with x
  ptx::SharedPointer<T> to_;
  int pieces_[kKept ? kCount : 1] = {}; // from that window to the lines'
  int channel_;
  unsigned row_ = 0, column_ = 0; // of the tap in a window
  unsigned inside_ = 0;
};

// The same of filters, which are lines of memory.
template <class T, class Slice, int kWidth>
class FilterCopies {
  using Own = Pieces<Slice, kWidth>;
  static_assert(Slice::kIsAlongK && Own::kStep % 8 == 0);

 public:
  static constexpr int kCount = Own::kRounds;

  // filters: the first of those `count` that exist, each of `depth` elements.
  __device__ __forceinline__ FilterCopies(const T* filters, std::int64_t depth, int count, T* slice)
      : source_(filters + Own::line() * depth + Own::element()), step_(Own::kStep * depth),
        to_(slice + Own::place()), left_(count - Own::line()), element_(Own::element()) {}

  __device__ __forceinline__ void start(int i, int depth, int at) const {
    Own::copy(to_ + at + i * Own::kStepElements, source_ + i * step_,
              i * Own::kStep < left_ && element_ < depth);
  }
  __device__ __forceinline__ void advance() { source_ += gemm::kDepth<T>; }

 private:
  const T* source_;
  std::int64_t step_;
  ptx::SharedPointer<T> to_;
  int left_, element_;
};

} // namespace kg::conv2d
