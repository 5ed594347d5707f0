// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A persistent block streams rows through a circular buffer in shared memory, which holds one row
// plus kPrefetchedChunks chunks. Each chunk is read twice: first for the row's maximum and sum,
// then, once the row is complete, to write the result. Its slot is refilled at once (cp.async), so
// loads stay in flight during the reductions. The kernel alternates between chunks of the next row
// (first read) and of this row (second read). A thread reads only what it copied itself, so no
// barrier is needed. chunk_config.h says which rows take this path.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/shared_pointer.h"
#include "primitives/chunk_config.h"
#include "primitives/stored_pack.h"

#include <cstdint>

namespace kg {

template <class T, int kThreads>
class ChunkPipeline {
  static constexpr int kCount = kPackElements<T>;
  static constexpr int kStep = kThreads * kCount; // elements from one pack of a thread to the next
  static constexpr int kPadding = kChunkPadding / static_cast<int>(sizeof(T));

 public:
  using Stored = StoredPack<T, kCount>;
  static constexpr int kChunk = kChunkPacks * kStep; // elements

  // Prefetches as much as the buffer holds. memory: kChunkPadding bytes, then chunks +
  // kPrefetchedChunks chunks. from: the block's part of the first of its `rows` rows, which are
  // `stride` elements apart; `present` elements of the part exist, possibly none.
  __device__ __forceinline__ ChunkPipeline(T* memory, const T* from, std::int64_t stride,
                                           std::int64_t rows, int present, int chunks, T padding)
      : first_(static_cast<int>(threadIdx.x) * kCount), part_(chunks * kChunk), present_(present),
        memory_(memory + kPadding + first_), prefetched_(first_), prefetched_present_(present),
        from_(from + first_), next_row_(stride - part_), rows_(rows) {
    if (threadIdx.x < kCount) memory[threadIdx.x] = padding;
    __syncthreads(); // all threads read the padding
    const int end = ring_elements();
    KG_ROLLED
    for (int slot = 0; slot < end; slot += kChunk) prefetch(slot);
  }

  // A thread's elements of a row's chunks begin at first(), first() + kChunk, ..., before end().
  __device__ __forceinline__ int first() const { return first_; }
  __device__ __forceinline__ int end() const { return part_; }

  // First read: the thread's packs of the chunk at `at` of the next row, padded beyond its end.
  // Must precede reread() of the chunk at `at` of the current row.
  __device__ __forceinline__ void read(Stored (&packs)[kChunkPacks], int at) {
    ptx::cp_async_wait_group<kPrefetchedChunks - 1>();
    load(packs, at, read_);
    read_ = next_slot(read_);
  }

  // Second read: the chunk at `at` of the current row. Refills its slot.
  __device__ __forceinline__ void reread(Stored (&packs)[kChunkPacks], int at) {
    load(packs, at, reread_);
    prefetch(reread_);
    reread_ = next_slot(reread_);
  }

  // Stores packs of the chunk at `at` with a streaming hint. row: the start of the block's part.
  __device__ __forceinline__ void store(const Stored (&packs)[kChunkPacks], T* row, int at) const {
    T* const to = row + at;
    KG_UNROLL
    for (int p = 0; p < kChunkPacks; ++p)
      if (at + p * kStep < present_)
        store_streaming(reinterpret_cast<Pack<T, kCount>*>(to + p * kStep), packs[p].pack());
  }

 private:
  __device__ __forceinline__ int ring_elements() const {
    return part_ + kPrefetchedChunks * kChunk;
  }
  __device__ __forceinline__ int next_slot(int slot) const {
    return slot + kChunk == ring_elements() ? 0 : slot + kChunk;
  }

  __device__ __forceinline__ void load(Stored (&packs)[kChunkPacks], int at, int slot) const {
    KG_UNROLL
    for (int p = 0; p < kChunkPacks; ++p)
      packs[p].load(&memory_[at + p * kStep < present_ ? slot + p * kStep : -kPadding - first_]);
    loaded(packs);
  }

  // Copies the next chunk to `slot`; after the last row an empty group.
  __device__ __forceinline__ void prefetch(int slot) {
    KG_UNROLL
    for (int p = 0; p < kChunkPacks; ++p)
      if (prefetched_ + p * kStep < prefetched_present_)
        ptx::cp_async_cg(memory_ + (slot + p * kStep), from_ + p * kStep, kPackBytes);
    ptx::cp_async_commit();
    prefetched_ += kChunk;
    from_ += kChunk;
    if (prefetched_ < part_) return;
    prefetched_ -= part_;
    from_ += next_row_;
    if (--rows_ <= 0) prefetched_present_ = 0;
  }

  int first_, part_, present_;   // elements: before the thread's first, of the part, existing
  ptx::SharedPointer<T> memory_; // the thread's first pack
  // The next chunk to copy: element prefetched_ of the part, at from_. prefetched_present_ elements
  // of its row's part exist.
  int prefetched_, prefetched_present_;
  const T* from_;
  std::int64_t next_row_;     // elements from the end of a part to the next one
  std::int64_t rows_;         // not yet prefetched completely
  int read_ = 0, reread_ = 0; // offsets of the slots to read next
};

} // namespace kg
