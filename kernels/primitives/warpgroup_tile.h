// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiles of matrix products by wgmma: their extents, and slices of their operands, which bulk copies
// load into shared memory for wgmma.
//
// A slice spans 128 bytes of k and all of a tile's rows of A, or columns of B. It is loaded in
// boxes that are 128 bytes wide along contiguous memory, with the 128-byte swizzle. Eight lines of
// a box form a pattern of 1,024 bytes, which both the copies and wgmma derive from the address.
// Tiles are therefore aligned to 1,024 bytes.
#pragma once

#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/wgmma.h"
#include "runtime/device_code.h"
#include "runtime/dtype.h"
#include "runtime/tiled_tensor.h"

#include <cstdint>

namespace kg {

inline constexpr int kWarpgroup = 128;     // threads
inline constexpr int kWarpgroupRows = 64;  // rows of C per instruction
inline constexpr int kSwizzleBytes = 128;  // per line
inline constexpr int kPatternBytes = 1024; // 8 lines

// What tensor maps and wgmma call T: float (in tensor maps), f16 or bf16.
template <class T>
inline constexpr TensorType kTensorType = dtype_of<T> == Dtype::f32   ? TensorType::f32
                                          : dtype_of<T> == Dtype::f16 ? TensorType::f16
                                                                      : TensorType::bf16;
template <class T>
inline constexpr ptx::MatrixElement kMatrixElement =
    dtype_of<T> == Dtype::f16 ? ptx::MatrixElement::f16 : ptx::MatrixElement::bf16;

// Extents of a block's tile of C, and the stages of its pipeline, one slice of k each. Each
// consumer warpgroup computes 64 of the m rows.
struct Tile {
  int m, n, stages;

  __host__ __device__ constexpr int consumers() const { return m / kWarpgroupRows; }
  __host__ __device__ constexpr int threads() const { return (consumers() + 1) * kWarpgroup; }
  __host__ __device__ constexpr int stage_bytes() const { return (m + n) * kSwizzleBytes; }
  __host__ __device__ constexpr int pipeline_bytes() const { return stages * stage_bytes(); }
};

// Bytes that a launch adds to its dynamic shared memory for swizzled_tiles().
inline constexpr int kTileAlignmentBytes = kPatternBytes;

// The first multiple of 1,024 bytes in dynamic shared memory.
__device__ __forceinline__ unsigned char* swizzled_tiles() {
  auto* const first = dynamic_shared<unsigned char>();
  const auto over = reinterpret_cast<std::uintptr_t>(first) % kPatternBytes;
  return first + (kPatternBytes - over) % kPatternBytes;
}

// The tensor map of `extents`[2] matrices, `stride` elements apart. Each has `extents`[1] lines of
// `extents`[0] elements, `leading` elements apart. A box has box[1] lines of box[0] elements and is
// swizzled.
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

// A slice of one operand: kOuter rows of A or columns of B. kAlongK: elements adjacent in k are
// adjacent in memory; otherwise those adjacent in m or n, for 16-bit types only. kSharers: the
// number of blocks in a cluster that each load a part of the slice and multicast it to all of them.
template <class T, int kOuter, bool kAlongK, int kSharers = 1>
struct OperandSlice {
  static constexpr bool kIsAlongK = kAlongK;
  static constexpr int kLine = kSwizzleBytes / static_cast<int>(sizeof(T)); // elements
  static constexpr int kDepth = kLine;                                      // along k
  static constexpr int kBytes = kOuter * kSwizzleBytes;
  static_assert(kAlongK || sizeof(T) == 2, "wgmma turns elements of 16 bits");
  static_assert(kOuter % kWarpgroupRows == 0 && kOuter <= 256, "a box has at most 256 lines");

  // If kAlongK, a box has all lines of a part. Otherwise it has 64 elements of m or n by kDepth.
  static constexpr int kBoxLines = kAlongK ? kOuter / kSharers : kDepth;
  static constexpr int kBoxes = kAlongK ? kSharers : kOuter / kLine;
  static constexpr int kBoxOuter = kOuter / kBoxes;
  static constexpr int kBoxBytes = kBoxLines * kSwizzleBytes;
  static_assert(kBoxes % kSharers == 0);

  // The tensor map of `count` matrices of `outer` x `depth` elements. Lines are `leading` elements
  // apart, matrices `stride` elements (0: all are the same).
  static TensorMap map(const T* data, TensorType type, std::int64_t outer, std::int64_t depth,
                       std::int64_t leading, std::int64_t count, std::int64_t stride) {
    return matrices_map(
        data, type, {kAlongK ? depth : outer, kAlongK ? outer : depth, stride == 0 ? 1 : count},
        leading, stride, {static_cast<unsigned>(kLine), static_cast<unsigned>(kBoxLines)});
  }

  // Starts to copy the slice at (outer, k) of matrix number `matrix` to `to`, with zeros for
  // elements outside of the matrix. All bytes complete at `barrier`. Called by one thread.
  __device__ static __forceinline__ void load(unsigned char* to, const TensorMap& map, int outer,
                                              int k, int matrix, std::uint64_t* barrier) {
    KG_UNROLL
    for (int box = 0; box < kBoxes; ++box) load_box<1>(to, map, outer, k, matrix, barrier, box);
  }

  // The same for part number `part`, multicast to all kSharers blocks of the cluster. Each block
  // loads a different part, so all bytes of the slice complete at every block's barrier.
  __device__ static __forceinline__ void load_part(unsigned char* to, const TensorMap& map,
                                                   int outer, int k, int matrix,
                                                   std::uint64_t* barrier, int part) {
    constexpr int kCount = kBoxes / kSharers;
    KG_UNROLL
    for (int i = 0; i < kCount; ++i)
      load_box<kSharers>(to, map, outer, k, matrix, barrier, part * kCount + i);
  }

  // Loads one box of the slice into each of kBlocks blocks of the cluster.
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

  // The descriptor of the slice's rows, or columns, from `outer` on, a multiple of 64. They lie
  // after `outer` lines if kAlongK, otherwise after outer / 64 boxes: the same number of bytes.
  __device__ static __forceinline__ ptx::MatrixDescriptor matrix(const unsigned char* slice,
                                                                 int outer = 0) {
    const ptx::MatrixLayout layout{ptx::MatrixSwizzle::bytes128,
                                   kAlongK ? 16u : static_cast<unsigned>(kBoxBytes),
                                   static_cast<unsigned>(kPatternBytes)};
    return ptx::matrix_descriptor(slice + outer * kSwizzleBytes, layout);
  }

  // One instruction's 32 bytes of k: within a line if kAlongK, else kDepth / 4 lines.
  static constexpr int kSteps = 4;
  static constexpr unsigned kStepBytes =
      kAlongK ? kSwizzleBytes / kSteps : kSwizzleBytes * kDepth / kSteps;
};

} // namespace kg
