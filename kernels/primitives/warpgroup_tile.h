// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiles of matrix products by wgmma: how large they are, and how slices of their operands come into
// shared memory by bulk copies and are found there.
//
// A slice is 128 bytes of k of all of a tile's rows of A, or columns of B. It comes by boxes of 128
// bytes in the direction in which memory is contiguous, with the 128-byte swizzle: 8 lines of a box
// are a pattern of 1,024 bytes, which both the copies and wgmma derive from the address. So tiles
// begin at multiples of 1,024 bytes.
#pragma once

#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/wgmma.h"
#include "runtime/device_code.h"
#include "runtime/tiled_tensor.h"

#include <cstdint>

namespace kg {

inline constexpr int kWarpgroup = 128;     // threads
inline constexpr int kWarpgroupRows = 64;  // of C, of one instruction
inline constexpr int kSwizzleBytes = 128;  // of a line
inline constexpr int kPatternBytes = 1024; // 8 lines

// Extents of a block's tile of C, whose rows are those of m / 64 warpgroups, and the stages of its
// pipeline, a slice of k each.
struct Tile {
  int m, n, stages;

  __host__ __device__ constexpr int consumers() const { return m / kWarpgroupRows; }
  __host__ __device__ constexpr int threads() const { return (consumers() + 1) * kWarpgroup; }
  __host__ __device__ constexpr int stage_bytes() const { return (m + n) * kSwizzleBytes; }
  __host__ __device__ constexpr int pipeline_bytes() const { return stages * stage_bytes(); }
};

// Bytes that a launch has to spare for swizzled_tiles().
inline constexpr int kTileAlignmentBytes = kPatternBytes;

// The first multiple of 1,024 bytes in dynamic shared memory.
__device__ __forceinline__ unsigned char* swizzled_tiles() {
  auto* const first = dynamic_shared<unsigned char>();
  const auto over = reinterpret_cast<std::uintptr_t>(first) % kPatternBytes;
  return first + (kPatternBytes - over) % kPatternBytes;
}

// The map of matrices, `extents`[2] of them, of `extents`[1] lines of `extents`[0] elements that
// lie `leading` elements apart, each `stride` elements behind the one before, with boxes of box[1]
// lines of box[0] elements, swizzled.
template <class T>
TensorMap matrices_map(const T* data, TensorType type, const std::int64_t (&extents)[3],
                       std::int64_t leading, std::int64_t stride, const unsigned (&box)[2]) {
  const auto bytes = [](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements) * sizeof(T);
  };
  TiledTensor tensor;
  tensor.type = type;
  tensor.rank = 3;
  tensor.base = const_cast<T*>(data);
  for (unsigned i = 0; i < tensor.rank; ++i)
    tensor.extent[i] = static_cast<std::uint64_t>(extents[i]);
  tensor.stride = {bytes(leading), bytes(stride == 0 ? extents[1] * leading : stride)};
  tensor.box = {box[0], box[1], 1};
  tensor.swizzle = Swizzle::bytes128;
  return encode(tensor);
}

// A slice of one operand, of kOuter rows of A or columns of B. kAlongK: elements that are
// neighbours in k are neighbours in memory; else those in m or n, of 16-bit types alone. kSharers:
// as many blocks of a cluster may bring a part of it each, to all of them.
template <class T, int kOuter, bool kAlongK, int kSharers = 1>
struct OperandSlice {
  static constexpr bool kIsAlongK = kAlongK;
  static constexpr int kLine = kSwizzleBytes / static_cast<int>(sizeof(T)); // elements
  static constexpr int kDepth = kLine;                                      // of k
  static constexpr int kBytes = kOuter * kSwizzleBytes;
  static_assert(kAlongK || sizeof(T) == 2, "wgmma turns elements of 16 bits");
  static_assert(kOuter % kWarpgroupRows == 0 && kOuter <= 256, "a box has at most 256 lines");

  // Along k a box has all lines of a part. Otherwise it is 64 of m or n by all of the slice's k.
  static constexpr int kBoxLines = kAlongK ? kOuter / kSharers : kDepth;
  static constexpr int kBoxes = kAlongK ? kSharers : kOuter / kLine;
  static constexpr int kBoxOuter = kOuter / kBoxes;
  static constexpr int kBoxBytes = kBoxLines * kSwizzleBytes;
  static_assert(kBoxes % kSharers == 0);

  // `outer` x `depth` elements, lines `leading` elements apart, of `count` matrices that lie
  // `stride` elements apart (0: the same for all).
  static TensorMap map(const T* data, TensorType type, std::int64_t outer, std::int64_t depth,
                       std::int64_t leading, std::int64_t count, std::int64_t stride) {
    return matrices_map(
        data, type, {kAlongK ? depth : outer, kAlongK ? outer : depth, stride == 0 ? 1 : count},
        leading, stride, {static_cast<unsigned>(kLine), static_cast<unsigned>(kBoxLines)});
  }

  // Starts to copy the slice from (outer, k) on of matrix number `matrix` to `to`; all its bytes,
  // zeros for what lies outside of the matrix, complete at `barrier`. By one thread.
  __device__ static __forceinline__ void load(unsigned char* to, const TensorMap& map, int outer,
                                              int k, int matrix, std::uint64_t* barrier) {
    KG_UNROLL
    for (int box = 0; box < kBoxes; ++box) load_box<1>(to, map, outer, k, matrix, barrier, box);
  }

  // The same of part number `part`, into all kSharers blocks of the cluster. Each of them brings
  // another part, so that all bytes of the slice complete at the barrier of each.
  __device__ static __forceinline__ void load_part(unsigned char* to, const TensorMap& map,
                                                   int outer, int k, int matrix,
                                                   std::uint64_t* barrier, int part) {
    constexpr int kCount = kBoxes / kSharers;
    KG_UNROLL
    for (int i = 0; i < kCount; ++i)
      load_box<kSharers>(to, map, outer, k, matrix, barrier, part * kCount + i);
  }

  // One box of the slice, into each of kBlocks blocks of the cluster.
  template <int kBlocks>
  __device__ static __forceinline__ void load_box(unsigned char* to, const TensorMap& map,
                                                  int outer, int k, int matrix,
                                                  std::uint64_t* barrier, int box) {
    const int begin = outer + box * kBoxOuter;
    const int first[3] = {kAlongK ? k : begin, kAlongK ? begin : k, matrix};
    unsigned char* const place = to + box * kBoxBytes;
    if constexpr (kBlocks == 1)
      ptx::cp_async_bulk_tensor_load(place, map, first, barrier);
    else
      ptx::cp_async_bulk_tensor_multicast(place, map, first, barrier, (1u << kBlocks) - 1);
  }

  // The slice's rows, or columns, from `outer` on, a multiple of 64: as far into it as there are
  // lines along k before them, and as many bytes of boxes otherwise.
  __device__ static __forceinline__ ptx::MatrixDescriptor matrix(const unsigned char* slice,
                                                                 int outer = 0) {
    const ptx::MatrixLayout layout{ptx::MatrixSwizzle::bytes128,
                                   kAlongK ? 16u : static_cast<unsigned>(kBoxBytes),
                                   static_cast<unsigned>(kPatternBytes)};
    return ptx::matrix_descriptor(slice + outer * kSwizzleBytes, layout);
  }

  // From one instruction's 32 bytes of k to the next: within a line, or that many lines on.
  static constexpr int kSteps = 4;
  static constexpr unsigned kStepBytes =
      kAlongK ? kSwizzleBytes / kSteps : kSwizzleBytes * kDepth / kSteps;
};

} // namespace kg
