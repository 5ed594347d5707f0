// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that a block takes one after the other, gridDim.x apart, through two places in its shared
// memory: while it computes one, cp.async brings the next. So memory has always something to bring,
// and the barriers of a row's reductions let nothing wait but the block. A thread reads only what
// it has copied itself, so that a row needs no barrier to arrive: a kernel asks for a row and
// commits (ptx/cp_async.h), waits for all but the last group, and takes the row before. Which rows:
// ring_shape.h.
#pragma once

#include "primitives/ring_shape.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"
#include "ptx/cp_async.h"
#include "ptx/shared_pointer.h"

#include <cstdint>

namespace kg {

// Of rows of `cols` elements, each aligned to its packs of Count elements: 16 bytes, or less of
// what is beside a row of such.
template <class T, int Count, int Packs>
class RowRing {
  using Stored = StoredPack<T, Count>;
  static constexpr int kBytes = Count * static_cast<int>(sizeof(T));

 public:
  // memory: kRingPlaces rows of whole packs.
  __device__ __forceinline__ RowRing(T* memory, int cols)
      : memory_(memory + threadIdx.x * Count), cols_(cols),
        place_((cols + Count - 1) / Count * Count) {}

  // Asks for the packs in which the first `present` elements of a row are: all that take() will
  // look at.
  __device__ __forceinline__ void ask(const T* row, int present) {
    const T* const first = row + static_cast<int>(threadIdx.x) * Count;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (number(p) * Count >= present) break;
      const int left = cols_ - number(p) * Count;
      const int bytes = (left < Count ? left : Count) * static_cast<int>(sizeof(T));
      if constexpr (kBytes == kPackBytes)
        ptx::cp_async_cg(memory_ + asked_ + behind(p) * Count, first + behind(p) * Count, bytes);
      else
        ptx::cp_async_ca<kBytes>(memory_ + asked_ + behind(p) * Count, first + behind(p) * Count,
                                 bytes);
    }
    asked_ = other(asked_);
  }

  // The thread's packs of the row that was asked for before the last one and has come, `padding`
  // behind its first `present` elements.
  __device__ __forceinline__ void take(Stored (&row)[Packs], int present, T padding) {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (number(p) * Count < present) {
        row[p].load(&memory_[taken_ + behind(p) * Count]);
      } else {
        Pack<T, Count> none;
        KG_UNROLL
        for (int e = 0; e < Count; ++e) none.element[e] = padding;
        row[p].set(none);
      }
    }
    loaded(row);
    if (const int rest = present % Count; rest != 0) {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        if (number(p) != present / Count) continue;
        Pack<T, Count> part = row[p].pack();
        KG_UNROLL
        for (int e = 0; e < Count; ++e)
          if (e >= rest) part.element[e] = padding;
        row[p].set(part);
      }
    }
    taken_ = other(taken_);
  }

  // Stores the thread's packs of a row, as what nobody reads soon.
  __device__ __forceinline__ void give(const Stored (&row)[Packs], T* to) const {
    T* const first = to + threadIdx.x * Count;
    const int rest = cols_ % Count;
    const int whole = cols_ / Count - static_cast<int>(threadIdx.x);
    KG_UNROLL
    for (int p = 0; p < Packs; ++p)
      if (behind(p) < whole)
        store_streaming(reinterpret_cast<Pack<T, Count>*>(first + behind(p) * Count),
                        row[p].pack());
    if (rest != 0) {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        if (behind(p) != whole) continue;
        const Pack<T, Count> part = row[p].pack();
        KG_UNROLL
        for (int e = 0; e < Count; ++e)
          if (e < rest) first[behind(p) * Count + e] = part.element[e];
      }
    }
  }

  // The number of the thread's pack p in the row.
  __device__ __forceinline__ static int number(int p) {
    return static_cast<int>(threadIdx.x) + behind(p);
  }

 private:
  // Packs from the thread's first one to its pack p.
  __device__ __forceinline__ static int behind(int p) { return p * static_cast<int>(blockDim.x); }
  __device__ __forceinline__ int other(int place) const { return place_ - place; }

  ptx::SharedPointer<T> memory_; // the thread's first pack
  int cols_, place_;             // place_: from the first place to the second one
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
