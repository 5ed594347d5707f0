// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that a block takes one after the other, piece by piece, through a ring in its shared memory
// that holds a row and kPiecesAhead pieces more. Each piece is met twice: when it has come, and
// again, to be taken, when all of its row has been met. In turns a piece of the next row is met and
// one of this row taken, whose place cp.async fills with a piece that comes later. So memory always
// has pieces to bring, beside what is written, and a row's reductions let nothing wait but the
// block. A thread reads only what it has copied itself, so that a piece needs no barrier to arrive.
// Which rows: chunk_config.h.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/shared_pointer.h"
#include "primitives/chunk_config.h"
#include "primitives/stored_pack.h"

#include <cstdint>

namespace kg {

template <class T, int kThreads>
class PieceRing {
  static constexpr int kCount = kPackElements<T>;
  static constexpr int kStep = kThreads * kCount; // elements from one pack of a thread to the next
  static constexpr int kPadding = kPiecePadding / static_cast<int>(sizeof(T));

 public:
  using Stored = StoredPack<T, kCount>;
  static constexpr int kPiece = kPiecePacks * kStep; // elements

  // Asks for all that there is room for. memory: kPiecePadding bytes, and pieces + kPiecesAhead
  // pieces. from: the block's part of the first of its `rows`, of which `present` elements exist,
  // if any; that of the next one lies `stride` elements on.
  __device__ __forceinline__ PieceRing(T* memory, const T* from, std::int64_t stride,
                                       std::int64_t rows, int present, int pieces, T padding)
      : first_(static_cast<int>(threadIdx.x) * kCount), part_(pieces * kPiece), present_(present),
        memory_(memory + kPadding + first_), asked_(first_), asked_present_(present),
        from_(from + first_), next_row_(stride - part_), rows_(rows) {
    if (threadIdx.x < kCount) memory[threadIdx.x] = padding;
    __syncthreads(); // padding is for all
    const int end = places();
    KG_ROLLED
    for (int place = 0; place < end; place += kPiece) ask(place);
  }

  // A thread's elements of a row's pieces begin at first(), first() + kPiece, ..., before end().
  __device__ __forceinline__ int first() const { return first_; }
  __device__ __forceinline__ int end() const { return part_; }

  // The piece at `at` of the row that comes: the thread's packs of it, padding behind the row. Met
  // before the piece at `at` of the row before is taken.
  __device__ __forceinline__ void meet(Stored (&packs)[kPiecePacks], int at) {
    ptx::cp_async_wait_group<kPiecesAhead - 1>();
    load(packs, at, met_);
    met_ = behind(met_);
  }

  // The piece of that row.
  __device__ __forceinline__ void take(Stored (&packs)[kPiecePacks], int at) {
    load(packs, at, taken_);
    ask(taken_);
    taken_ = behind(taken_);
  }

  // Stores packs of the piece at `at`, as what nobody reads soon; row: where the block's part of it
  // begins.
  __device__ __forceinline__ void give(const Stored (&packs)[kPiecePacks], T* row, int at) const {
    T* const to = row + at;
    KG_UNROLL
    for (int p = 0; p < kPiecePacks; ++p)
      if (at + p * kStep < present_)
        store_streaming(reinterpret_cast<Pack<T, kCount>*>(to + p * kStep), packs[p].pack());
  }

 private:
  __device__ __forceinline__ int places() const { return part_ + kPiecesAhead * kPiece; }
  __device__ __forceinline__ int behind(int place) const {
    return place + kPiece == places() ? 0 : place + kPiece;
  }

  __device__ __forceinline__ void load(Stored (&packs)[kPiecePacks], int at, int place) const {
    KG_UNROLL
    for (int p = 0; p < kPiecePacks; ++p)
      packs[p].load(&memory_[at + p * kStep < present_ ? place + p * kStep : -kPadding - first_]);
    loaded(packs);
  }

  // For the next piece, or where no row follows for none.
  __device__ __forceinline__ void ask(int place) {
    KG_UNROLL
    for (int p = 0; p < kPiecePacks; ++p)
      if (asked_ + p * kStep < asked_present_)
        ptx::cp_async_cg(memory_ + (place + p * kStep), from_ + p * kStep, kPackBytes);
    ptx::cp_async_commit();
    asked_ += kPiece;
    from_ += kPiece;
    if (asked_ < part_) return;
    asked_ -= part_;
    from_ += next_row_;
    if (--rows_ <= 0) asked_present_ = 0;
  }

  int first_, part_, present_;   // elements: before the thread's first one, and of the part
  ptx::SharedPointer<T> memory_; // the thread's first pack
  // What is asked for next: the piece at asked_ of a row with so many elements, at from_.
  int asked_, asked_present_;
  const T* from_;
  std::int64_t next_row_;   // from a row's end to the next one
  std::int64_t rows_;       // not yet asked for wholly
  int met_ = 0, taken_ = 0; // elements to the places of what is met and taken next
};

} // namespace kg
