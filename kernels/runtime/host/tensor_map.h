// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps (PTX ISA, "Tensors", "Tensor-map"; CUDA driver API, cuTensorMapEncodeTiled) without a
// driver: the properties of a tensor in global memory that a bulk copy of a box needs, in 128
// bytes. Only this executor reads them, because the driver's own layout is not public.
#pragma once

#include "runtime/tiled_tensor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::host {

using kg::kMaxTensorRank, kg::TensorType, kg::Swizzle, kg::TiledTensor, kg::encode;

// Throws Error for a map that encode() has not made.
TiledTensor decode(const TensorMap& map, Location where = Location::here());

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

// The fill byte for elements outside the tensor.
unsigned char outside_byte(const TiledTensor& tensor);

} // namespace kg::host
