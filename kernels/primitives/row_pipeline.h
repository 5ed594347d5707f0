// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A persistent block processes rows gridDim.x apart. While it computes one, cp.async loads the next
// into shared memory, so loads stay in flight during the reductions. A thread reads only what it
// copied itself, so no barrier is needed.
//
// With two stages, a kernel prefetches a row and commits (instructions/cp_async.h), waits for all
// but the last group, and reads the previous row. With one stage, it waits, reads the row into
// registers, and only then prefetches the next. pipeline_config.h says which rows take this path.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/shared_pointer.h"
#include "primitives/pipeline_config.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"

#include <cstdint>

namespace kg {

// For rows of `cols` elements, aligned to packs of Count elements. A pack has 16 bytes, or fewer in
// a row that accompanies another, such as a mask.
template <class T, int Count, int Packs, int Stages = kRowStages>
class RowPipeline {
  static_assert(Stages == 1 || Stages == 2);
  using Stored = StoredPack<T, Count>;
  static constexpr int kBytes = Count * static_cast<int>(sizeof(T));

 public:
  // memory: Stages x Packs packs per thread. Packs beyond the row are set to `padding`.
  __device__ __forceinline__ RowPipeline(T* memory, int cols, T padding)
      : memory_(memory + threadIdx.x * Count), cols_(cols),
        step_(static_cast<int>(blockDim.x) * Count) {
    Pack<T, Count> none;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) none.element[e] = padding;
    for (int p = 0; p < Packs; ++p) {
      if (number(p) * Count < cols) continue;
      KG_UNROLL
      for (int stage = 0; stage < Stages; ++stage)
        *reinterpret_cast<Pack<T, Count>*>(&memory_[(stage * Packs + p) * step_]) = none;
    }
  }

  // Starts copying the packs that hold the first `present` elements of a row.
  __device__ __forceinline__ void prefetch(const T* row, int present) {
    const int first = static_cast<int>(threadIdx.x) * Count;
    const int rest = cols_ % Count, whole = cols_ - rest;
    const int end = present < whole ? present : whole;
    const T* from = row + first;
    ptx::SharedPointer<T> to = memory_ + prefetched_;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (first + p * step_ < end) copy(to, from);
      from += step_;
      to += step_;
    }
    // The partial pack at the end of the row. A copy with a variable size takes three times the
    // instructions, so only this one uses it.
    if (rest != 0 && present > whole && own_cut(whole) >= 0)
      ptx::cp_async_ca<kBytes>(memory_ + prefetched_ + own_cut(whole) * step_, row + whole,
                               rest * static_cast<int>(sizeof(T)));
    prefetched_ = other_stage(prefetched_);
  }

  // Reads the thread's packs of the oldest prefetched row, which must have arrived, with `padding`
  // beyond its first `present` elements. kAll: every row of the pipeline has the same `present`.
  template <bool kAll = true>
  __device__ __forceinline__ void read(Stored (&row)[Packs], int present, T padding) {
    if (const int rest = present % Count; rest != 0) {
      const int p = own_cut(present - rest);
      if (p >= 0)
        for (int e = rest; e < Count; ++e) memory_[read_ + p * step_ + e] = padding;
    }
    Pack<T, Count> none;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) none.element[e] = padding;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (kAll || number(p) * Count < present)
        row[p].load(&memory_[read_ + p * step_]);
      else
        row[p].set(none);
    }
    loaded(row);
    read_ = other_stage(read_);
  }

  // Stores the thread's packs of a row with a streaming hint.
  __device__ __forceinline__ void store(const Stored (&row)[Packs], T* to) const {
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

  // The index in the row of the thread's pack p.
  __device__ __forceinline__ static int number(int p) {
    return static_cast<int>(threadIdx.x) + p * static_cast<int>(blockDim.x);
  }
  // The same, clamped to the last pack of the row.
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
  // Which of the thread's packs begins with this element of a row; -1 if none.
  __device__ __forceinline__ int own_cut(int element) const {
    int own = -1;
    KG_ROLLED
    for (int p = 0; p < Packs; ++p)
      if (number(p) * Count == element) own = p;
    return own;
  }
  __device__ __forceinline__ int other_stage(int stage) const {
    return (Stages - 1) * Packs * step_ - stage;
  }

  ptx::SharedPointer<T> memory_;  // the thread's first pack
  int cols_, step_;               // elements from one pack of the thread to the next
  int prefetched_ = 0, read_ = 0; // offsets of the stages
};

// Reductions over a block of whole warps, in kRowPipelineScratch bytes. Two buffers alternate, so a
// fast warp cannot overwrite a value still being read; one barrier per reduction.
class PipelineReductions {
 public:
  __device__ explicit PipelineReductions(float* scratch) : scratch_(scratch) {}

  // Exchanges two numbers per warp: lane w receives those of warp w. Lanes without a warp receive
  // rest_of_first and 0.
  __device__ __forceinline__ void exchange(float& first, float& second, float rest_of_first) {
    const unsigned lane = threadIdx.x % kLanes;
    if (lane == 0) {
      scratch_[buffer_ + threadIdx.x / kLanes] = first;
      scratch_[buffer_ + kMaxWarps + threadIdx.x / kLanes] = second;
    }
    __syncthreads();
    const bool exists = lane < blockDim.x / kLanes;
    first = exists ? scratch_[buffer_ + lane] : rest_of_first;
    second = exists ? scratch_[buffer_ + kMaxWarps + lane] : 0.0f;
    buffer_ = 2 * kMaxWarps - buffer_;
  }

  __device__ __forceinline__ float sum(float value) {
    value = warp_sum(value);
    const unsigned lane = threadIdx.x % kLanes;
    if (lane == 0) scratch_[buffer_ + threadIdx.x / kLanes] = value;
    __syncthreads();
    value = lane < blockDim.x / kLanes ? scratch_[buffer_ + lane] : 0.0f;
    buffer_ = 2 * kMaxWarps - buffer_;
    return warp_sum(value);
  }

 private:
  float* scratch_;
  int buffer_ = 0;
};

} // namespace kg
