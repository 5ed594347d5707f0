// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposes an operand of gemm's wide f32 tiles into [k][m or n] layout in shared memory. The
// operand is contiguous along k and consists of whole quads along k. Quads are loaded into
// registers one slice ahead, and stored element by element in the middle of the previous slice.
//
// cp.async, which needs no registers, can transpose only by copying single elements: four 4-byte
// requests in place of one of 16 bytes. 16-byte cp.async without transposition would need fragments
// of four steps of k. The same step of A and B would then share a register bank: nvcc (13.0) leaves
// 77 to 109 multiply-adds per slice with three registers of one bank, and spills.
#pragma once

#include "ops/gemm/simt_tile.h"

#include "runtime/device_code.h"

#include <cstdint>

namespace kg::gemm {

// A slice of an operand, of which `outer` rows or columns exist, and a thread's quads in it. A warp
// loads one sector from each of 16 lines at a time. It stores 16 neighbours of two steps of k that
// are 4 apart: with a pitch of 4 modulo 8, to 32 different banks.
template <Tile kT, int kOuter>
class TurnedQuads {
  static constexpr int kLanes = kSector / kQuad; // per line
  static constexpr int kLines = kT.threads() / kLanes;
  static constexpr int kCount = kOuter / kLines; // lines per thread
  static constexpr int kParts = kT.k / kSector;  // sectors per line

 public:
  static constexpr int kQuads = kCount * kParts; // per thread
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
  // Starts loading a slice.
  __device__ __forceinline__ void start(int at) { start(at, kT.k); }
  // Loads only `depth` steps of k; fills the rest with zeros.
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
  // Stores the thread's quad number `quad`, if it exists, `at` floats after the first slice.
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
  int in_line_; // first step of k
};

} // namespace kg::gemm
