// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How an operand of gemm's wide tiles in f32 whose neighbours in memory differ in k comes to lie
// [k][m or n] in shared memory, if it consists of whole quads along k: these are loaded into
// registers, a slice ahead, and stored element by element in the midst of the slice before theirs.
//
// Why not by cp.async, which needs no registers: it turns elements only if it copies them one by
// one, four requests of 4 bytes in the place of one of 16. Why not as they lie, 16 bytes by
// cp.async, with fragments of four steps of k: a step of A then lies in the bank of registers in
// which the same step of B does, and nvcc (13.0) leaves three registers of one bank to 77 to 109
// multiply-adds of a slice, and spills.
#pragma once

#include "ops/gemm/simt_tile.h"

#include "runtime/device_code.h"

#include <cstdint>

namespace kg::gemm {

// A slice of an operand, of which `outer` rows or columns exist, and a thread's part in it: quads
// of some lines. A warp loads a sector of each of 16 lines at a time, and stores 16 neighbours of
// two steps of k that are 4 apart: with a pitch of 4 modulo 8 into 32 banks.
template <Tile kT, int kOuter>
class TurnedQuads {
  static constexpr int kLanes = kSector / kQuad; // along a line
  static constexpr int kLines = kT.threads() / kLanes;
  static constexpr int kCount = kOuter / kLines; // lines of a thread
  static constexpr int kParts = kT.k / kSector;  // of each line

 public:
  static constexpr int kQuads = kCount * kParts; // of a thread
  static constexpr bool kIsAlongK = true;
  static constexpr int kPitch = kOuter + kQuad;
  static constexpr int kFloats = kPitch * kT.k;

  __device__ __forceinline__ TurnedQuads(const float* data, std::int64_t leading, int outer,
                                         float* ring)
      : data_(data) {
    const int line = static_cast<int>(threadIdx.x) / kLanes;
    in_line_ = static_cast<int>(threadIdx.x) % kLanes * kQuad;
    to_ = ring + in_line_ * kPitch + line;
    KG_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const int row = line + i * kLines < outer ? line + i * kLines : outer - 1;
      offset_[i] = static_cast<unsigned>(row * static_cast<int>(leading) + in_line_);
    }
  }
  // Starts to load a slice.
  __device__ __forceinline__ void start(int at) { start(at, kT.k); }
  // The same of `depth` steps of k; zeros behind them, which add nothing.
  __device__ __forceinline__ void start(int, int depth) {
    KG_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float* line = data_ + offset_[i];
      KG_UNROLL
      for (int part = 0; part < kParts; ++part) {
        float4& quad = held_[i * kParts + part];
        quad = float4{};
        if (in_line_ + part * kSector < depth)
          quad = *reinterpret_cast<const float4*>(line + part * kSector);
      }
    }
  }
  // Puts one of the thread's quads, if it has so many, `at` floats behind the first slice.
  __device__ __forceinline__ void put(int at, int quad) const {
    KG_UNROLL
    for (int i = 0; i < kQuads; ++i) {
      if (i != quad) continue;
      float* const to = to_ + at + i % kParts * kSector * kPitch + i / kParts * kLines;
      to[0 * kPitch] = held_[i].x;
      to[1 * kPitch] = held_[i].y;
      to[2 * kPitch] = held_[i].z;
      to[3 * kPitch] = held_[i].w;
    }
  }
  __device__ __forceinline__ void advance(int steps) { data_ += steps; }
  __device__ __forceinline__ void advance_if(bool more) { data_ += more ? kT.k : 0; }

 private:
  const float* data_;
  unsigned offset_[kCount];
  float4 held_[kQuads] = {};
  float* to_;
  int in_line_; // step of k
};

} // namespace kg::gemm
