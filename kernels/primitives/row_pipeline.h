// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that a block takes one after the other, gridDim.x apart, through places in its shared
// memory: while it computes one, cp.async brings the next. So memory has always something to bring,
// and the barriers of a row's reductions let nothing wait but the block. A thread reads only what
// it has copied itself, so that a row needs no barrier to arrive. Of two places, a kernel asks for
// a row and commits (instructions/cp_async.h), waits for all but the last group, and takes the row
// before; of one, it waits, takes the row into registers and only then asks for the next. Which
// rows: pipeline_config.h.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/shared_pointer.h"
#include "primitives/pipeline_config.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"

#include <cstdint>

namespace kg {

// Of rows of `cols` elements, each aligned to its packs of Count elements: 16 bytes, or less of
// what is beside a row of such.
template <class T, int Count, int Packs, int Places = kRingPlaces>
class RowRing {
  static_assert(Places == 1 || Places == 2);
  using Stored = StoredPack<T, Count>;
  static constexpr int kBytes = Count * static_cast<int>(sizeof(T));

 public:
  // memory: Places times Packs packs of each thread. Those that no row has are `padding`.
  __device__ __forceinline__ RowRing(T* memory, int cols, T padding)
      : memory_(memory + threadIdx.x * Count), cols_(cols),
        step_(static_cast<int>(blockDim.x) * Count) {
    Pack<T, Count> none;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) none.element[e] = padding;
    for (int p = 0; p < Packs; ++p) {
      if (number(p) * Count < cols) continue;
      KG_UNROLL
      for (int place = 0; place < Places; ++place)
        *reinterpret_cast<Pack<T, Count>*>(&memory_[(place * Packs + p) * step_]) = none;
    }
  }

  // Asks for the packs in which the first `present` elements of a row are.
  __device__ __forceinline__ void ask(const T* row, int present) {
    const int first = static_cast<int>(threadIdx.x) * Count;
    const int rest = cols_ % Count, whole = cols_ - rest;
    const int end = present < whole ? present : whole;
    const T* from = row + first;
    ptx::SharedPointer<T> to = memory_ + asked_;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (first + p * step_ < end) copy(to, from);
      from += step_;
      to += step_;
    }
    // Of the pack that the row ends in its elements; a copy of so many bytes takes three times the
    // instructions.
    if (rest != 0 && present > whole && own_cut(whole) >= 0)
      ptx::cp_async_ca<kBytes>(memory_ + asked_ + own_cut(whole) * step_, row + whole,
                               rest * static_cast<int>(sizeof(T)));
    asked_ = other(asked_);
  }

  // The thread's packs of the first row that was asked for and not yet taken and has come,
  // `padding` behind its first `present` elements. kAll: these are all that rows of the ring have.
  template <bool kAll = true>
  __device__ __forceinline__ void take(Stored (&row)[Packs], int present, T padding) {
    if (const int rest = present % Count; rest != 0) {
      const int p = own_cut(present - rest);
      if (p >= 0)
        for (int e = rest; e < Count; ++e) memory_[taken_ + p * step_ + e] = padding;
    }
    Pack<T, Count> none;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) none.element[e] = padding;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (kAll || number(p) * Count < present)
        row[p].load(&memory_[taken_ + p * step_]);
      else
        row[p].set(none);
    }
    loaded(row);
    taken_ = other(taken_);
  }

  // Stores the thread's packs of a row, as what nobody reads soon.
  __device__ __forceinline__ void give(const Stored (&row)[Packs], T* to) const {
    const int first = static_cast<int>(threadIdx.x) * Count;
    T* at = to + first;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (first + p * step_ + Count <= cols_)
        store_streaming(reinterpret_cast<Pack<T, Count>*>(at), row[p].pack());
      at += step_;
    }
    if (const int rest = cols_ % Count; rest != 0) {
      Stored cut = row[0];
      KG_UNROLL
      for (int p = 1; p < Packs; ++p)
        if (own_cut(cols_ - rest) == p) cut = row[p];
      const Pack<T, Count> part = cut.pack();
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        if (e < rest && own_cut(cols_ - rest) >= 0) to[cols_ - rest + e] = part.element[e];
    }
  }

  // The number of the thread's pack p in the row.
  __device__ __forceinline__ static int number(int p) {
    return static_cast<int>(threadIdx.x) + p * static_cast<int>(blockDim.x);
  }
  // The same, of the row's last pack where the thread has none.
  __device__ __forceinline__ int number_in_row(int p) const {
    const int last = (cols_ - 1) / Count;
    return number(p) < last ? number(p) : last;
  }

 private:
  __device__ __forceinline__ static void copy(ptx::SharedPointer<T> to, const T* from) {
    if constexpr (kBytes == kPackBytes)
      ptx::cp_async_cg(to, from, kBytes);
    else
      ptx::cp_async_ca<kBytes>(to, from, kBytes);
  }
  // Which of the thread's packs begins with this element of a row, or -1.
  __device__ __forceinline__ int own_cut(int element) const {
    int own = -1;
    KG_ROLLED
    for (int p = 0; p < Packs; ++p)
      if (number(p) * Count == element) own = p;
    return own;
  }
  __device__ __forceinline__ int other(int place) const {
    return (Places - 1) * Packs * step_ - place;
  }

  ptx::SharedPointer<T> memory_; // the thread's first pack
  int cols_, step_;              // elements from one pack of the thread to the next
  int asked_ = 0, taken_ = 0;    // elements to the place
};

// Reductions over a block of whole warps, in kRingScratch bytes: each by its own one of two places,
// so that it overwrites nothing that others still read of the one before.
class RingReductions {
 public:
  __device__ explicit RingReductions(float* scratch) : scratch_(scratch) {}

  // Each warp's two numbers: lane w gets those of warp w, lanes behind the last one those given.
  __device__ __forceinline__ void exchange(float& first, float& second, float rest_of_first) {
    const unsigned lane = threadIdx.x % kLanes;
    if (lane == 0) {
      scratch_[place_ + threadIdx.x / kLanes] = first;
      scratch_[place_ + kMaxWarps + threadIdx.x / kLanes] = second;
    }
    __syncthreads();
    const bool exists = lane < blockDim.x / kLanes;
    first = exists ? scratch_[place_ + lane] : rest_of_first;
    second = exists ? scratch_[place_ + kMaxWarps + lane] : 0.0f;
    place_ = 2 * kMaxWarps - place_;
  }

  __device__ __forceinline__ float sum(float value) {
    value = warp_sum(value);
    const unsigned lane = threadIdx.x % kLanes;
    if (lane == 0) scratch_[place_ + threadIdx.x / kLanes] = value;
    __syncthreads();
    value = lane < blockDim.x / kLanes ? scratch_[place_ + lane] : 0.0f;
    place_ = 2 * kMaxWarps - place_;
    return warp_sum(value);
  }

 private:
  float* scratch_;
  int place_ = 0;
};

} // namespace kg
