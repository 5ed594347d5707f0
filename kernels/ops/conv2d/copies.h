// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies slices of windows and of filters to shared memory in nhwc, for gemm's main loop
// (ops/gemm/mma_walk.h): cp.async of kWidth elements, without divisions, with a branch only at the
// end of a tap's channels. Lines of a slice are contiguous along k: by taps, then channels.
//
// A thread copies the same pieces of every n-th line. All of them have the same tap and channel,
// which advance from slice to slice. When a new tap begins, the thread looks up for each line
// whether the tap is inside the image, and keeps the answer in one bit. The test adds the
// coordinates of tap and window and compares unsigned, so that negative sums are large. The
// distance of a line's window from the block's first window fits in 32 bits. A thread keeps 8 of
// them in registers and looks up further ones, since sums occupy the other registers.
#pragma once

#include "ops/conv2d/gathered.h"
#include "ops/conv2d/pieces.h"
#include "ops/gemm/mma_tile.h"

#include "instructions/shared_pointer.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kg::conv2d {

// First element of a position's window, including padding: its offset in x and its coordinates.
// Four words, which nvcc loads as 16 bytes.
struct alignas(16) Start {
  int row, column;
  std::uint32_t low, high; // halves of the offset

  __device__ __forceinline__ static Start at(std::int64_t offset, int row, int column) {
    const auto bits = static_cast<std::uint64_t>(offset);
    return {row, column, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
  // Offset in elements of x, to the group's first channel.
  __device__ __forceinline__ std::int64_t offset() const {
    return static_cast<std::int64_t>((std::uint64_t{high} << 32) | low);
  }
};

// A position that does not exist is outside the image for every tap.
inline constexpr int kOutside = -static_cast<int>(window::kMostExtent) - 1;
// A tap past the last is outside for every position: coordinates are below 2^30.
inline constexpr unsigned kBehindTaps = (1u << 31) - 1;

__device__ __forceinline__ bool is_inside(unsigned coordinate, int extent) {
  return coordinate < static_cast<unsigned>(extent);
}

// Whether windows of `places` neighbouring positions are close enough for WindowCopies with pieces
// of kWidth elements, counting images and the parts of windows outside of them.
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

// A thread's copies of a slice of windows; same interface as gemm::MmaSlice::Copies.
template <class T, class Slice, int kWidth>
class WindowCopies {
  using Own = Pieces<Slice, kWidth>;
  static constexpr int kDepth = gemm::kDepth<T>;
  static constexpr int kMostKept = 8, kMostBits = 16; // lines
  static_assert(Slice::kIsAlongK && Own::kStep % 8 == 0);

 public:
  static constexpr int kCount = Own::kRounds;
  static constexpr bool kKept = kCount <= kMostKept; // requires windows_are_near

  // x: the group's first channel; starts: one per line of a slice; slice: the first of a ring.
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
  // Advances to the tap of `channel_` after the current tap's last channel.
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

  // Whether the tap is inside the image for the thread's line `i`.
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
  int pieces_[kKept ? kCount : 1] = {}; // offsets of the lines' windows from that window
  int channel_;
  unsigned row_ = 0, column_ = 0; // of the tap in a window
  unsigned inside_ = 0;
};

// The same for filters, which are contiguous in memory.
template <class T, class Slice, int kWidth>
class FilterCopies {
  using Own = Pieces<Slice, kWidth>;
  static_assert(Slice::kIsAlongK && Own::kStep % 8 == 0);

 public:
  static constexpr int kCount = Own::kRounds;

  // filters: the first of `count` existing filters of `depth` elements each.
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
