// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A slice of an operand of gemm in shared memory, for variant mma: how it is copied there, and how
// a warp reads fragments of it.
//
// Lines of the slice are lines of global memory: along k when neighbours in memory differ in k (A
// as it is, B transposed), else along m or n. A line consists of chunks of 16 bytes, and chunks are
// swizzled: chunk c of line l lies where chunk c ^ s(l) would, with s counting the 128 bytes that
// all banks hold. So ldmatrix, which reads the same chunk of 8 neighbouring lines, and the copy,
// which writes neighbouring chunks, both meet 8 different quarters of the banks, without padding.
//
// ldmatrix moves rows of 16 bytes, whatever they hold, but turns elements of 16 bits only. Where
// floats would have to be turned, lanes read them one by one, 8 neighbours of each of 4 lines at a
// time: there s moves pairs of chunks, so that these 32 floats lie in 32 banks.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/ldmatrix.h"
#include "instructions/opaque.h"
#include "instructions/shared_pointer.h"
#include "instructions/store_shared.h"
#include "primitives/pack.h"

#include <cstdint>

namespace kg::gemm {

// One operand as a block sees it.
template <class T>
struct MmaOperand {
  const T* data;        // element (0, 0) of the slice
  std::int64_t leading; // elements between lines of global memory
  int outer;            // how many of the tile's rows (A) or columns (B) exist
  bool vector;          // every line starts at a multiple of 16 bytes
};

// kOuter: extent in m or n; kDepth: in k.
template <class T, int kOuter, int kDepth, bool kAlongK, int kThreads>
struct MmaSlice {
  static constexpr bool kIsAlongK = kAlongK;
  static constexpr int kChunk = kPackElements<T>; // elements in 16 bytes
  static constexpr int kLines = kAlongK ? kOuter : kDepth;
  static constexpr int kChunks = (kAlongK ? kDepth : kOuter) / kChunk; // of a line
  static constexpr int kElements = kOuter * kDepth;
  static constexpr int kStep = kThreads / kChunks; // lines that are copied at a time
  static constexpr bool kOneByOne = sizeof(T) == sizeof(float) && !kAlongK;
  static_assert(kThreads % kChunks == 0 && kLines % kStep == 0,
                "each thread copies one chunk of equally many lines");

  // Where a chunk lies, in elements.
  __device__ static constexpr int place(int line, int chunk) {
    constexpr int kBanks = 8; // in chunks
    constexpr int kLinesInBanks = kChunks < kBanks ? kBanks / kChunks : 1;
    constexpr int kTurns = kChunks < kBanks ? kChunks : kBanks;
    const int turn = kOneByOne ? line % 4 * 2 : line / kLinesInBanks % kTurns;
    return kChunk * (line * kChunks + (chunk ^ turn));
  }

  // Copies the slice, of which `depth` steps of k exist, asynchronously where addresses permit.
  // What does not exist is 0, which adds nothing. kIsShort: in little code, for few slices.
  template <bool kIsShort = false>
  __device__ __forceinline__ static void fetch(const MmaOperand<T>& from, int depth, T* slice) {
    const int lines = kAlongK ? from.outer : depth;
    const int length = kAlongK ? depth : from.outer;
    const int first = static_cast<int>(threadIdx.x) / kChunks;
    const int chunk = static_cast<int>(threadIdx.x) % kChunks;
    const int left = length - chunk * kChunk;
    const int in_line = left < 0 ? 0 : left < kChunk ? left : kChunk; // elements that exist
    const T* source = from.data + first * from.leading + chunk * kChunk;
    if (from.vector) {
      const auto copy = [&](int line) __attribute__((always_inline)) {
        const int bytes = (line < lines ? in_line : 0) * static_cast<int>(sizeof(T));
        ptx::cp_async_cg(slice + place(line, chunk), source, bytes);
        source += kStep * from.leading;
      };
      if constexpr (kIsShort) {
        KG_ROLLED
        for (int line = first; line < kLines; line += kStep) copy(line);
      } else {
        KG_UNROLL
        for (int i = 0; i < kLines / kStep; ++i) copy(first + i * kStep);
      }
    } else {
      KG_ROLLED
      for (int line = first; line < kLines; line += kStep) {
        Pack<T, kChunk> elements;
        KG_UNROLL
        for (int e = 0; e < kChunk; ++e)
          elements.element[e] = line < lines && e < in_line ? source[e] : from_float<T>(0);
        ptx::store_shared(reinterpret_cast<Pack<T, kChunk>*>(slice + place(line, chunk)), elements);
        source += kStep * from.leading;
      }
    }
  }

  // A thread's part in copying slices of which chunks exist wholly or not at all, asynchronously:
  // as many copies of a slice for each thread, whose addresses differ by constants.
  class Copies {
   public:
    static constexpr int kCount = kLines / kStep; // of a slice

    // slice: the first of a ring.
    __device__ __forceinline__ Copies(const MmaOperand<T>& from, T* slice)
        : slice_step_(kAlongK ? kDepth : kDepth * from.leading),
          line_(static_cast<int>(threadIdx.x) / kChunks),
          in_line_(static_cast<int>(threadIdx.x) % kChunks * kChunk), outer_(from.outer),
          to_(slice + place(line_, in_line_ / kChunk)) {
      const T* source = from.data + line_ * from.leading + in_line_;
      KG_UNROLL
      for (int i = 0; i < kCount; ++i) {
        source_[i] = source;
        source += kStep * from.leading;
      }
    }

    // Starts copy number i of the slice `at` elements further, which has `depth` steps of k; there
    // are zeros behind them.
    __device__ __forceinline__ void start(int i, int depth, int at) const {
      const int line = line_ + i * kStep;
      const bool exists =
          kAlongK ? line < outer_ && in_line_ < depth : in_line_ < outer_ && line < depth;
      // The swizzle is the same kStep lines further.
      ptx::cp_async_cg(to_ + at + i * (kStep * kChunks * kChunk), source_[i],
                       exists ? kPackBytes : 0);
    }
    __device__ __forceinline__ void advance() {
      KG_UNROLL
      for (int i = 0; i < kCount; ++i) {
        source_[i] += slice_step_;
        ptx::make_opaque(source_[i]); // one pointer, not what the next slice begins at beside it
      }
    }

   private:
    const T* source_[kCount]; // the thread's chunk of each line
    std::int64_t slice_step_;
    int line_, in_line_, outer_;
    ptx::SharedPointer<T> to_;
  };

  // What a lane reads of slices: what mma takes from `outer` on, 16 rows of A, or 16 columns of B,
  // which are two operands; of two chunks of k. A quarter of the lanes points to each of four
  // matrices, 8 rows or columns of one chunk: of A the second lies 8 rows further and the third a
  // chunk, of B the other way round. Addresses differ by constants but for what the swizzle turns:
  // along k the chunk, else the rows or columns of a fragment.
  template <bool kOfA>
  class Reader {
   public:
    // `outer` is a multiple of a warp's extent, 64; slice: the first of a ring.
    __device__ __forceinline__ Reader(int outer, const T* slice) {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      const int outer_block = kOfA ? lane / 8 % 2 : lane / 16;
      const int k_block = kOfA ? lane / 16 : lane / 8 % 2;
      KG_UNROLL
      for (int i = 0; i < kTurned; ++i) {
        if constexpr (kOneByOne) {
          const int at = outer + i / 2 * 16 + i % 2 * 8 + lane / 4;
          from_[i] = slice + (place(lane % 4, at / kChunk) + at % kChunk);
        } else if constexpr (kAlongK) {
          from_[i] = slice + place(outer + 8 * outer_block + lane % 8, 2 * i + k_block);
        } else {
          from_[i] = slice + place(8 * k_block + lane % 8, outer / kChunk + 2 * i + outer_block);
        }
      }
    }

    // Fragment number i of step number `step`, two chunks of k, of the slice `at` elements further.
    __device__ __forceinline__ void read(unsigned (&fragment)[4], int at, int i, int step) const {
      if constexpr (kOneByOne) {
        // The swizzle turns what lies 8 or 16 rows or columns further, and leaves 32.
        KG_UNROLL
        for (int part = 0; part < 4; ++part) {
          const int line = kChunk * (2 * step + (kOfA ? part / 2 : part % 2));
          const int turned = i % 2 * 2 + (kOfA ? part % 2 : part / 2);
          fragment[part] = __float_as_uint(from_[turned][at + i / 2 * 32 + line * kOuter]);
        }
      } else {
        if constexpr (kAlongK)
          ptx::ldmatrix(fragment, from_[step] + at + i * (16 * kDepth));
        else
          ptx::ldmatrix_trans(fragment, from_[i] + at + step * (2 * kChunk * kOuter));
      }
    }

    // Goes on by `elements`, fragment by fragment, each before it is read.
    __device__ __forceinline__ void advance(int i, int elements) {
      constexpr int kEach = kOneByOne ? 2 : 1; // addresses that fragments 0, 1 and so on need
      KG_UNROLL
      for (int turned = 0; turned < kTurned; ++turned)
        if (turned / kEach == i) from_[turned] += elements;
    }

   private:
    static constexpr int kTurned = kAlongK ? kDepth / (2 * kChunk) : 4;
    ptx::SharedPointer<const T> from_[kTurned];
  };
};

} // namespace kg::gemm
