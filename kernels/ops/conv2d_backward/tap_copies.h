// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How slices of x come into shared memory for the weights' gradient in nhwc, for gemm's main loop
// (ops/gemm/mma_walk.h): packs by cp.async, whose lines are places. It is ops/conv2d/copies.h the
// other way round: a thread's element of the filter, and so its tap, stays, and the windows go on.
// Where they begin is looked up in a table for kTable places, of which each thread makes an entry
// when the last slice of the table before it is next; of two tables one is read while the other is
// made.
#pragma once

#include "ops/conv2d/copies.h"
#include "ops/conv2d_backward/weight_tiles.h"

#include "instructions/shared_pointer.h"

#include <cstdint>

namespace kg::conv2d_backward {

// Where the windows of the part's places begin.
struct WindowTable {
  const WeightTiles& w;
  std::int64_t place, end; // the thread's next one; behind the part

  // Makes the thread's entry, and goes on by `places`.
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

// A thread's copies of a slice of x, as gemm::MmaSlice::Copies. kThreads of the block.
template <class T, class Slice, int kThreads>
class TapCopies {
  using Own = conv2d::Pieces<Slice, kPackElements<T>>;
  static constexpr int kPlaces = gemm::kDepth<T>;            // of a slice
  static constexpr int kTable = kThreads;                    // places
  static constexpr int kTurns = Own::kStep % 8 == 0 ? 1 : 2; // the swizzle is that of 8 lines
  static_assert(!Slice::kIsAlongK && Own::kStep % 4 == 0 && kTable % kPlaces == 0 &&
                kTable > kPlaces);

 public:
  static constexpr int kCount = Own::kRounds;
  static constexpr int kTables = 2 * kTable;

  // x: the group's first channel; tables: kTables entries; slice: the first of a ring. A barrier
  // follows before the first copy.
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
  // Copies of the slice after the next one start behind a barrier, but for those of the first
  // table.
  __device__ __forceinline__ void advance() {
    now_ = (now_ + kPlaces) % kTables;
    const int then = (now_ + kPlaces) % kTables;
    if (then % kTable == 0) windows_.make(tables_ + then, kTable);
  }

 private:
  const WeightTiles& w_;
  WindowTable windows_;
  conv2d::Start* tables_;
  const T* source_; // the thread's element of the filter, of a window that begins with x
  ptx::SharedPointer<T> to_[kTurns];
  int now_ = 0; // where the slice's places begin in the tables
  unsigned row_, column_;
};

} // namespace kg::conv2d_backward
