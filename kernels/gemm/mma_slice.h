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

#include "primitives/pack.h"
#include "ptx/cp_async.h"
#include "ptx/ldmatrix.h"
#include "ptx/store_shared.h"
#include "ptx/tf32.h"

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
  // What does not exist is 0, which adds nothing.
  __device__ __forceinline__ static void fetch(const MmaOperand<T>& from, int depth, T* slice) {
    const int lines = kAlongK ? from.outer : depth;
    const int length = kAlongK ? depth : from.outer;
    const int first = static_cast<int>(threadIdx.x) / kChunks;
    const int chunk = static_cast<int>(threadIdx.x) % kChunks;
    const int left = length - chunk * kChunk;
    const int in_line = left < 0 ? 0 : left < kChunk ? left : kChunk; // elements that exist
    const T* source = from.data + first * from.leading + chunk * kChunk;
    if (from.vector) {
      KG_UNROLL
      for (int i = 0; i < kLines / kStep; ++i) {
        const int line = first + i * kStep;
        const int bytes = (line < lines ? in_line : 0) * static_cast<int>(sizeof(T));
        ptx::cp_async_cg(slice + place(line, chunk), source, bytes);
        source += kStep * from.leading;
      }
    } else {
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

  // What mma takes from (outer, k) on: 16 rows of A, or 16 columns of B, which are two operands; of
  // two chunks of k. A quarter of the lanes points to each of four matrices, 8 rows or columns of
  // one chunk: of A the second lies 8 rows further and the third a chunk, of B the other way round.
  template <bool kOfA>
  __device__ __forceinline__ static void load(unsigned (&fragment)[4], const T* slice, int outer,
                                              int k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (kOneByOne) {
      // 8 rows or columns further is one bit of the address, swizzled or not; `outer` is a multiple
      // of 16. Addresses of their own would take more registers than there are.
      const int at = outer + lane / 4;
      const int first = place(lane % 4, at / kChunk) + at % kChunk;
      KG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int line = k + kChunk * (kOfA ? i / 2 : i % 2);
        fragment[i] = ptx::to_tf32(slice[(first ^ 8 * (kOfA ? i % 2 : i / 2)) + line * kOuter]);
      }
    } else {
      const int outer_block = kOfA ? lane / 8 % 2 : lane / 16;
      const int k_block = kOfA ? lane / 16 : lane / 8 % 2;
      if constexpr (kAlongK) {
        ptx::ldmatrix(fragment,
                      slice + place(outer + 8 * outer_block + lane % 8, k / kChunk + k_block));
      } else {
        ptx::ldmatrix_trans(
            fragment, slice + place(k + 8 * k_block + lane % 8, outer / kChunk + outer_block));
      }
      if constexpr (sizeof(T) == sizeof(float)) {
        KG_UNROLL
        for (int i = 0; i < 4; ++i) fragment[i] = ptx::to_tf32(__uint_as_float(fragment[i]));
      }
    }
  }
};

} // namespace kg::gemm
