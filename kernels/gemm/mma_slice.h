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
#pragma once

#include "primitives/pack.h"
#include "ptx/cp_async.h"
#include "ptx/ldmatrix.h"

#include <cstdint>

namespace kg::gemm {

inline constexpr int kChunk = 8; // 16-bit elements in 16 bytes

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
  static constexpr int kLines = kAlongK ? kOuter : kDepth;
  static constexpr int kChunks = (kAlongK ? kDepth : kOuter) / kChunk; // of a line
  static constexpr int kElements = kOuter * kDepth;
  static constexpr int kStep = kThreads / kChunks; // lines that are copied at a time
  static_assert(kThreads % kChunks == 0 && kLines % kStep == 0,
                "each thread copies one chunk of equally many lines");

  // Where a chunk lies, in elements.
  __device__ static constexpr int place(int line, int chunk) {
    constexpr int kBanks = 8; // in chunks
    constexpr int kLinesInBanks = kChunks < kBanks ? kBanks / kChunks : 1;
    constexpr int kTurns = kChunks < kBanks ? kChunks : kBanks;
    return kChunk * (line * kChunks + (chunk ^ line / kLinesInBanks % kTurns));
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
        *reinterpret_cast<Pack<T, kChunk>*>(slice + place(line, chunk)) = elements;
        source += kStep * from.leading;
      }
    }
  }

  // Four matrices of 8x8 from (outer, k) on, both multiples of 8, as mma takes them: the lane
  // points to a row of the one that lies `outer_block` and `k_block` matrices further.
  __device__ __forceinline__ static void load(unsigned (&fragment)[4], const T* slice, int outer,
                                              int k, int outer_block, int k_block) {
    const int in_matrix = static_cast<int>(threadIdx.x) % 8;
    if constexpr (kAlongK) {
      ptx::ldmatrix(fragment,
                    slice + place(outer + 8 * outer_block + in_matrix, k / kChunk + k_block));
    } else {
      ptx::ldmatrix_trans(fragment,
                          slice + place(k + 8 * k_block + in_matrix, outer / kChunk + outer_block));
    }
  }
};

} // namespace kg::gemm
