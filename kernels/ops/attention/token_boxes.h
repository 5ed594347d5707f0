// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A tile of rows of Q, K or V in shared memory, for variant wgmma: loads by bulk copies, and the
// descriptors by which wgmma reads it.
//
// A tile has slices of 64 elements of the depth: 128 bytes per row, with the 128-byte swizzle. A
// bulk copy loads one slice of all rows as a box of a tensor of sequences, heads, tokens and
// elements. Elements outside of the tensor are loaded as zeros.
#pragma once

#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/wgmma.h"
#include "ops/attention/attention.h"
#include "ops/attention/token_tile.h"
#include "primitives/warpgroup_tile.h"
#include "runtime/device_code.h"
#include "runtime/tiled_tensor.h"

#include <cstdint>

namespace kg::attention {

// The place of one head in a tensor: coordinates of its sequence and head, and its first token.
struct HeadPlace {
  int sequence, head, token;
};

// The extents of a tensor of tokens.
struct TokenExtents {
  std::int64_t sequences, heads, tokens, depth;
};

inline constexpr int kSliceDepth = 64; // elements: 128 bytes
// Rows in which the swizzle repeats, and which a box of the last tile may load.
inline constexpr int kSwizzleRows = kPatternBytes / kSwizzleBytes;

// The map of a tensor whose boxes are one slice of `rows` rows. The tensor's rows of the tensor
// begin and end at multiples of 16 bytes. T: f16 or bf16.
template <class T>
TensorMap boxes_map(const T* data, const Strides& stride, const TokenExtents& extents, int rows) {
  const auto bytes = [](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements) * sizeof(T);
  };
  // An axis of one element has no stride of its own, and the tensor's may be 0.
  const auto axis = [&](std::int64_t count, std::int64_t elements) {
    return bytes(count == 1 ? stride.token : elements);
  };
  if (extents.tokens == 0) return {}; // never read, and `data` may be null
  TiledTensor tensor;
  tensor.type = kTensorType<T>;
  tensor.rank = 4;
  tensor.base = const_cast<T*>(data);
  const std::int64_t counts[] = {extents.depth, extents.tokens, extents.heads, extents.sequences};
  for (unsigned i = 0; i < tensor.rank; ++i)
    tensor.extent[i] = static_cast<std::uint64_t>(counts[i]);
  tensor.stride = {bytes(stride.token), axis(extents.heads, stride.head),
                   axis(extents.sequences, stride.sequence)};
  tensor.box = {kSliceDepth, static_cast<unsigned>(rows), 1, 1};
  tensor.swizzle = Swizzle::bytes128;
  return encode(tensor);
}

template <int kRows, int kDepth>
struct TokenBoxes {
  static constexpr int kSlices = kDepth / kSliceDepth;
  static constexpr int kSliceBytes = kRows * kSwizzleBytes;
  static constexpr int kBytes = kSlices * kSliceBytes;
  static_assert(kDepth % kSliceDepth == 0 && kRows % kSwizzleRows == 0 && kRows <= 256);

  // Starts to copy the rows from `token` of a head on. All bytes complete at `barrier`. Called by
  // one thread.
  __device__ static __forceinline__ void load(unsigned char* to, const TensorMap& map,
                                              const HeadPlace& head, int token,
                                              std::uint64_t* barrier) {
    KG_UNROLL
    for (int slice = 0; slice < kSlices; ++slice) {
      const int first[4] = {slice * kSliceDepth, head.token + token, head.head, head.sequence};
      ptx::cp_async_bulk_tensor_load(to + slice * kSliceBytes, map, first, barrier);
    }
  }

  // The same for the first `rows` rows only; the others are zeros, whatever the tensor holds there.
  // groups, single: maps with boxes of kSwizzleRows rows and of one.
  __device__ static __forceinline__ void load_rows(unsigned char* to, const TensorMap& groups,
                                                   const TensorMap& single, const HeadPlace& head,
                                                   int token, int rows, std::uint64_t* barrier) {
    constexpr int kOutside = -kSwizzleRows; // boxes here lie outside of the tensor
    const auto load_box = [&](const TensorMap& map, int slice, int row, bool exists)
        __attribute__((always_inline)) {
      const int at = exists ? head.token + token + row : kOutside;
      const int first[4] = {slice * kSliceDepth, at, head.head, head.sequence};
      ptx::cp_async_bulk_tensor_load(to + slice * kSliceBytes + row * kSwizzleBytes, map, first,
                                     barrier);
    };
    KG_ROLLED
    for (int slice = 0; slice < kSlices; ++slice) {
      KG_ROLLED
      for (int row = 0; row < kRows; row += kSwizzleRows) {
        if (row + kSwizzleRows <= rows || row >= rows) {
          load_box(groups, slice, row, row < rows);
          continue;
        }
        KG_ROLLED
        for (int i = row; i < row + kSwizzleRows; ++i) load_box(single, slice, i, i < rows);
      }
    }
  }

  // As rows of A or columns of B, from `row` on, a multiple of 8, whose k is the depth. step: of 16
  // elements.
  __device__ static __forceinline__ ptx::MatrixDescriptor by_depth(const unsigned char* tile,
                                                                   int row) {
    return ptx::matrix_descriptor(tile + row * kSwizzleBytes,
                                  {ptx::MatrixSwizzle::bytes128, 16, kPatternBytes});
  }
  __device__ static __forceinline__ unsigned depth_step(unsigned step) {
    return step / 4 * kSliceBytes + step % 4 * (kSwizzleBytes / 4);
  }

  // As B whose columns are the depth, and whose k are the rows. step: of 16 rows.
  __device__ static __forceinline__ ptx::MatrixDescriptor by_rows(const unsigned char* tile) {
    return ptx::matrix_descriptor(
        tile, {ptx::MatrixSwizzle::bytes128, static_cast<unsigned>(kSliceBytes), kPatternBytes});
  }
  __device__ static constexpr unsigned row_step(unsigned step) { return step * 16 * kSwizzleBytes; }

  // The offset of 8 elements of a row in the tile, in elements of 2 bytes (warp_rows.h).
  __device__ static constexpr int place(int row, int chunk) {
    const int slice = chunk / (kSliceDepth / kChunk), unit = chunk % (kSliceDepth / kChunk);
    return (slice * kRows + row) * kSliceDepth + (unit ^ row % kSwizzleRows) * kChunk;
  }
};

} // namespace kg::attention
