// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps (PTX ISA, "Tensors", "Tensor-map"; CUDA driver API, cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col) without a driver: what a bulk copy must know of a tensor in global
// memory, in 128 bytes. Only this executor reads them, because the driver's own layout is not
// public.
#pragma once

#include "runtime/im2col_tensor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::host {

using kg::kMaxTensorRank, kg::TensorType, kg::Swizzle, kg::TiledTensor, kg::Im2colTensor,
    kg::encode;

// Throws Error for a map that encode() has not made, or has made of the other kind.
TiledTensor decode(const TensorMap& map, Location where = Location::here());
Im2colTensor decode_im2col(const TensorMap& map, Location where = Location::here());

// A part of a box that is contiguous in both memories, at most 16 bytes.
struct BoxPiece {
  std::uintptr_t shared; // address
  unsigned char* global; // null: outside the tensor
  std::size_t bytes;
};
// The pieces of the box at these coordinates (dimension 0 first; may be negative), placed in shared
// memory from `shared` on, which is aligned to 128 bytes or, swizzled, to 8 rows of the pattern.
std::vector<BoxPiece> pieces_of_box(const TiledTensor& tensor,
                                    const std::array<std::int32_t, kMaxTensorRank>& first,
                                    std::uintptr_t shared);

// Added to W, H and D of each pixel of a column: the tap of a filter.
using PixelOffsets = std::array<std::uint16_t, 3>;
// The pieces of the column of pixels that begins at channel first[0] of the pixel first[1...],
// which lies in the bounding box. Each pixel is a row in shared memory.
std::vector<BoxPiece> pieces_of_column(const Im2colTensor& tensor,
                                       const std::array<std::int32_t, kMaxTensorRank>& first,
                                       const PixelOffsets& offsets, std::uintptr_t shared);

// The fill byte for elements outside the tensor.
unsigned char outside_byte(const TiledTensor& tensor);

} // namespace kg::host
