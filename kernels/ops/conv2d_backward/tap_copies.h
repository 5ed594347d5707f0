// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies slices of x to shared memory for the weights' gradient in nhwc, for gemm's main loop
// (ops/gemm/mma_walk.h): 16-byte cp.async, with positions as lines. Compared with
// ops/conv2d/copies.h roles are swapped: a thread's element of the filter, hence its tap, is fixed,
// and windows advance. A table lists the starts of the windows of kTable positions. Each thread
// computes one entry when the previous table's last slice is next; tables are double-buffered.
#pragma once

#include "ops/conv2d/copies.h"
#include "ops/conv2d_backward/weight_tiles.h"

#include "instructions/shared_pointer.h"

#include <cstdint>

namespace kg::conv2d_backward {

// Computes the starts of the windows of a part's positions.
struct WindowTable {
  const WeightTiles& w;
  std::int64_t place, end; // the thread's next position; the end of the part

  // Computes the thread's entry and advances by `places`.
  __device__ __forceinline__ void make(conv2d::Start* table, int places) {
    const std::int64_t image = w.image_places.quotient(place);
    auto row = static_cast<std::uint32_t>(place - image * w.image_places.value);
    const int column =
        static_cast<int>(w.columns.take_last(row)) * w.horizontal.stride - w.horizontal.before;
    const int first = static_cast<int>(row) * w.vertical.stride - w.vertical.before;
    table[threadIdx.x] =
        conv2d::Start::at(image * w.x.outer + first * w.x.row + column * w.x.column,
                          place < end ? first : conv2d::kOutside, column);
    place += places;
  }
};

// A thread's copies of a slice of x; same interface as gemm::MmaSlice::Copies. kThreads: per block.
template <class T, class Slice, int kThreads>
class TapCopies {
  using Own = conv2d::Pieces<Slice, kPackElements<T>>;
  static constexpr int kPlaces = gemm::kDepth<T>;            // per slice
  static constexpr int kTable = kThreads;                    // positions
  static constexpr int kTurns = Own::kStep % 8 == 0 ? 1 : 2; // the swizzle repeats every 8 lines
  static_assert(!Slice::kIsAlongK && Own::kStep % 4 == 0 && kTable % kPlaces == 0 &&
                kTable > kPlaces);

 public:
  static constexpr int kCount = Own::kRounds;
  static constexpr int kTables = 2 * kTable;

  // x: the group's first channel; tables: kTables entries; slice: the first slice of a ring. A
  // barrier must precede the first copy.
  __device__ __forceinline__ TapCopies(const WeightTiles& w, const T* x, const TilePart& part,
                                       conv2d::Start* tables, T* slice)
      : w_(w), windows_{w, part.place0 + threadIdx.x, part.place0 + part.places}, tables_(tables) {
    const Weight weight = weight_at(part.element0 + Own::element(), w.filter);
    const int row = weight.row * w.vertical.dilation,
              column = weight.column * w.horizontal.dilation;
    source_ = x + (weight.channel + row * w.x.row + column * w.x.column);
    row_ = static_cast<unsigned>(Own::element() < part.elements ? row : conv2d::kOutside);
    column_ = static_cast<unsigned>(column);
    KG_UNROLL
    for (int i = 0; i < kTurns; ++i) {
      const int line = Own::line() + i * Own::kStep;
      to_[i] = slice + Slice::place(line, Own::element() / Slice::kChunk);
    }
    windows_.make(tables, kTable);
  }

  __device__ __forceinline__ void start(int i, int, int at) const {
    const conv2d::Start start = tables_[now_ + Own::line() + i * Own::kStep];
    const bool inside =
        conv2d::is_inside(static_cast<unsigned>(start.row) + row_, w_.vertical.in) &&
        conv2d::is_inside(static_cast<unsigned>(start.column) + column_, w_.horizontal.in);
    Own::copy(to_[i % kTurns] + at + i / kTurns * (kTurns * Own::kStepElements),
              source_ + start.offset(), inside);
  }
  // A barrier precedes copies of the slice after the next one, except for those of the first table.
  __device__ __forceinline__ void advance() {
    now_ = (now_ + kPlaces) % kTables;
    const int then = (now_ + kPlaces) % kTables;
    if (then % kTable == 0) windows_.make(tables_ + then, kTable);
  }

 private:
  const WeightTiles& w_;
  WindowTable windows_;
  conv2d::Start* tables_;
  const T* source_; // the thread's element of the filter, for a window at the start of x
  ptx::SharedPointer<T> to_[kTurns];
  int now_ = 0; // index of the slice's positions in the tables
  unsigned row_, column_;
};

} // namespace kg::conv2d_backward
