// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gathers slices of MMA operands (ops/gemm/mma_slice.h) by accesses of at most 16 bytes. Channels
// that are last but not whole 16-byte vectors take accesses of 8 or 4 bytes, or single elements.
//
// Neighbouring threads take neighbouring pieces of a line, whatever the width. A warp-wide access
// then covers at most 128 contiguous bytes of each line, requests every sector once, and has no
// bank conflicts. With 16 bytes of a line per thread, as in MmaSlice::fetch, each single-element
// access would request 16 sectors.
#pragma once

#include "instructions/cp_async.h"
#include "primitives/pack.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::conv2d {

// The widest access in elements, at most a 16-byte vector, that divides `elements` and to which
// `pointer` is aligned.
template <class T>
int widest_access(std::int64_t elements, const T* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  int width = kPackElements<T>;
  while (elements % width != 0 || address % (static_cast<unsigned>(width) * sizeof(T)) != 0)
    width /= 2;
  return width;
}

// A thread's pieces of a slice, kWidth elements each, at the same position in each of its lines.
template <class Slice, int kWidth>
struct Pieces {
  static constexpr int kInLine = Slice::kChunks * Slice::kChunk / kWidth;
  static constexpr int kStep =
      Slice::kStep * Slice::kChunks / kInLine; // lines that a block copies at a time
  static constexpr int kRounds = Slice::kLines / kStep;
  static_assert(kStep > 0 && Slice::kLines % kStep == 0, "each thread has equally many parts");
  // Elements between a thread's pieces; the swizzle repeats every 8 lines, hence in all of them.
  static constexpr int kStepElements = kStep * kInLine * kWidth;

  __device__ static int line() { return static_cast<int>(threadIdx.x) / kInLine; } // first line
  // Offset of the piece in each line.
  __device__ static int element() { return static_cast<int>(threadIdx.x) % kInLine * kWidth; }
  // Offset of the first piece in the slice.
  __device__ static int place() {
    return Slice::place(line(), element() / Slice::kChunk) + element() % Slice::kChunk;
  }

  // Starts the copy of a piece, or of zeros if the piece does not exist.
  template <class To, class T>
  __device__ __forceinline__ static void copy(To to, const T* from, bool exists) {
    constexpr int kBytes = kWidth * static_cast<int>(sizeof(T));
    const int bytes = exists ? kBytes : 0;
    if constexpr (kBytes == kPackBytes)
      ptx::cp_async_cg(to, from, bytes);
    else
      ptx::cp_async_ca<kBytes>(to, from, bytes);
  }

  // Copies all pieces from x + offset(line), asynchronously if the width permits; queries offsets
  // in order of the lines. A negative offset means zeros.
  template <class T, class Offset>
  __device__ __forceinline__ static void fetch(const T* x, const Offset& offset, T* slice) {
    constexpr int kBytes = kWidth * static_cast<int>(sizeof(T));
    constexpr bool kAsync = kBytes >= 4;
    constexpr int kTogether = kAsync ? 4 : 8; // more addresses would not fit in registers
    static_assert(kRounds % kTogether == 0);
    const int own_line = line();
    const int chunk = element() / Slice::kChunk;
    const int in_chunk = element() % Slice::kChunk;
    for (int round = 0; round < kRounds; round += kTogether) {
      [[maybe_unused]] T values[kTogether];
      KG_UNROLL
      for (int i = 0; i < kTogether; ++i) {
        const int at_line = own_line + (round + i) * kStep;
        const std::int64_t at = offset(at_line);
        if constexpr (kAsync)
          copy(slice + Slice::place(at_line, chunk) + in_chunk, x + (at < 0 ? 0 : at), at >= 0);
        else
          values[i] = at < 0 ? from_float<T>(0) : x[at];
      }
      if constexpr (!kAsync) {
        KG_UNROLL
        for (int i = 0; i < kTogether; ++i)
          slice[Slice::place(own_line + (round + i) * kStep, chunk) + in_chunk] = values[i];
      }
    }
  }
};

} // namespace kg::conv2d
