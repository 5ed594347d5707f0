// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that a block takes one after the other, gridDim.x apart, through two places in its shared
// memory: while it computes one, cp.async brings the next. So memory has always something to bring,
// and the barriers of a row's reductions let nothing wait but the block. A thread reads only what
// it has copied itself, so that a row needs no barrier to arrive. Which rows: ring_shape.h.
#pragma once

#include "primitives/ring_shape.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"
#include "ptx/cp_async.h"
#include "ptx/shared_pointer.h"

#include <cstdint>

namespace kg {

// Of rows of `cols` elements, each aligned to 16 bytes, which packs of Count elements have.
template <class T, int Count, int Packs>
class RowRing {
  using Stored = StoredPack<T, Count>;
  static_assert(Count * sizeof(T) == kPackBytes);

 public:
  // memory: kRingPlaces rows of whole packs.
  __device__ __forceinline__ RowRing(T* memory, int cols)
      : memory_(memory + threadIdx.x * Count), cols_(cols), packs_((cols + Count - 1) / Count),
        own_(packs_ - static_cast<int>(threadIdx.x)) {}

  // Asks for a row, or, where it does not exist, for nothing.
  __device__ __forceinline__ void ask(const T* row, bool exists) {
    if (exists) {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        if (behind(p) >= own_) break;
        const int left = cols_ - number(p) * Count;
        ptx::cp_async_cg(memory_ + asked_ + behind(p) * Count, row + number(p) * Count,
                         (left < Count ? left : Count) * static_cast<int>(sizeof(T)));
      }
    }
    ptx::cp_async_commit();
    asked_ = other(asked_);
  }

  // The thread's packs of the row that was asked for before the last one, `padding` behind its end.
  __device__ __forceinline__ void take(Stored (&row)[Packs], T padding) {
    ptx::cp_async_wait_group<kRingPlaces - 1>();
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (behind(p) < own_) {
        row[p].load(&memory_[taken_ + behind(p) * Count]);
      } else {
        Pack<T, Count> none;
        KG_UNROLL
        for (int e = 0; e < Count; ++e) none.element[e] = padding;
        row[p].set(none);
      }
    }
    loaded(row);
    if (const int rest = cols_ % Count; rest != 0) {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        if (behind(p) != own_ - 1) continue;
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
    const int whole = rest == 0 ? own_ : own_ - 1;
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
  __device__ __forceinline__ int other(int place) const { return packs_ * Count - place; }

  ptx::SharedPointer<T> memory_; // the thread's first pack
  int cols_, packs_, own_;       // own_: packs from the thread's first one to the row's end
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
