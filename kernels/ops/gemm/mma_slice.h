// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A slice of a gemm operand in shared memory, for variant mma: its copy from global memory, and how
// a warp reads its fragments.
//
// Lines of the slice are lines of global memory: along k if neighbours in memory differ in k (A not
// transposed, B transposed), else along m or n. Lines consist of swizzled 16-byte chunks: chunk c
// of line l is stored at position c ^ s(l), where s(l) counts the 128-byte rows of banks before l.
// Both ldmatrix, which reads the same chunk of 8 neighbouring lines, and the copy, which writes
// neighbouring chunks, thus access 8 different groups of 4 banks without padding.
//
// ldmatrix moves rows of 16 bytes of any type, but transposes only 16-bit elements. To transpose
// floats, lanes read single elements, 8 neighbours in each of 4 lines at a time. In this case s
// moves pairs of chunks, so that these 32 floats fall into 32 banks.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/ldmatrix.h"
#include "instructions/opaque.h"
#include "instructions/shared_pointer.h"
#include "instructions/store_shared.h"
#include "primitives/pack.h"

#include <cstdint>

namespace kg::gemm {

// One operand as a thread block sees it.
template <class T>
struct MmaOperand {
  const T* data;        // element (0, 0) of the slice
  std::int64_t leading; // elements between lines of global memory
  int outer;            // number of the tile's rows (A) or columns (B) that exist
  bool vector;          // every line is aligned to 16 bytes
};

// kOuter: extent in m or n; kDepth: in k.
template <class T, int kOuter, int kDepth, bool kAlongK, int kThreads>
struct MmaSlice {
  static constexpr bool kIsAlongK = kAlongK;
  static constexpr int kChunk = kPackElements<T>; // elements in 16 bytes
  static constexpr int kLines = kAlongK ? kOuter : kDepth;
  static constexpr int kChunks = (kAlongK ? kDepth : kOuter) / kChunk; // per line
  static constexpr int kElements = kOuter * kDepth;
  static constexpr int kStep = kThreads / kChunks; // lines copied at a time
  static constexpr bool kOneByOne = sizeof(T) == sizeof(float) && !kAlongK;
  static_assert(kThreads % kChunks == 0 && kLines % kStep == 0,
                "each thread copies one chunk of equally many lines");

  // Offset of a chunk in the slice, in elements.
  __device__ static constexpr int place(int line, int chunk) {
    constexpr int kBanks = 8; // in chunks
    constexpr int kLinesInBanks = kChunks < kBanks ? kBanks / kChunks : 1;
    constexpr int kTurns = kChunks < kBanks ? kChunks : kBanks;
    const int turn = kOneByOne ? line % 4 * 2 : line / kLinesInBanks % kTurns;
    return kChunk * (line * kChunks + (chunk ^ turn));
  }

  // Copies the slice, of which `depth` steps of k exist, asynchronously if alignment permits.
  // Elements out of range become 0. kIsShort: compact code, for few slices.
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

  // A thread's share of asynchronous copies, for chunks that exist wholly or not at all. Each
  // thread issues the same number of copies per slice, at constant address offsets.
  class Copies {
   public:
    static constexpr int kCount = kLines / kStep; // per slice

    // slice: the first slice of a ring.
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

    // Starts copy i of the slice at offset `at` elements, of which `depth` steps of k exist; the
    // rest is filled with zeros.
    __device__ __forceinline__ void start(int i, int depth, int at) const {
      const int line = line_ + i * kStep;
      const bool exists =
          kAlongK ? line < outer_ && in_line_ < depth : in_line_ < outer_ && line < depth;
      // The swizzle repeats every kStep lines.
      ptx::cp_async_cg(to_ + at + i * (kStep * kChunks * kChunk), source_[i],
                       exists ? kPackBytes : 0);
    }
    __device__ __forceinline__ void advance() {
      KG_UNROLL
      for (int i = 0; i < kCount; ++i) {
        source_[i] += slice_step_;
        ptx::make_opaque(source_[i]); // avoids a second pointer to the next slice
      }
    }

   private:
    const T* source_[kCount]; // the thread's chunk in each line
    std::int64_t slice_step_;
    int line_, in_line_, outer_;
    ptx::SharedPointer<T> to_;
  };

  // A lane's reads of slices: fragments of 16 rows of A, or of 16 columns of B (two MMA operands),
  // by two chunks of k, starting at `outer`. Each quarter of the lanes addresses one of four 8x8
  // matrices. For A, the second matrix is 8 rows further and the third one chunk further; for B,
  // vice versa. Address offsets are constants except where the swizzle changes: by chunk along k,
  // else by fragment.
  template <bool kOfA>
  class Reader {
   public:
    // outer: a multiple of the warp's extent, 64; slice: the first slice of a ring.
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

    // Fragment i of step `step` (two chunks of k) of the slice at offset `at` elements.
    __device__ __forceinline__ void read(unsigned (&fragment)[4], int at, int i, int step) const {
      if constexpr (kOneByOne) {
        // The swizzle changes 8 or 16 rows or columns further, and repeats after 32.
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

    // Advances the addresses by `elements`, one fragment at a time, before that fragment is read.
    __device__ __forceinline__ void advance(int i, int elements) {
      constexpr int kEach = kOneByOne ? 2 : 1; // addresses per fragment
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
