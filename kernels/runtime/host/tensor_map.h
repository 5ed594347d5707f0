// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps (PTX ISA, "Tensors", "Tensor-map"; CUDA driver API, cuTensorMapEncodeTiled) without a
// driver: what a bulk copy of a box needs to know of a tensor in global memory, in 128 bytes. Only
// this executor reads them: a driver's own layout is not public.
#pragma once

#include "runtime/error.h"
#include "runtime/tensor_map.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::host {

inline constexpr unsigned kMaxTensorRank = 5;

// As CUtensorMapDataType numbers them. Those that convert while they copy (flushed subnormals,
// TF32) are not among them.
enum class TensorType : unsigned char { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16 };
std::size_t bytes_of(TensorType type);

// Of the 16-byte units of shared memory: where bits 4 and up of an address are XORed with bits 7
// and up, in a pattern that repeats after this many bytes of a row.
enum class Swizzle : unsigned char { none, bytes32, bytes64, bytes128 };

// A tensor whose dimension 0 is contiguous, and the box of it that one copy moves.
struct TiledTensor {
  TensorType type = TensorType::f32;
  unsigned rank = 1;
  void* base = nullptr;
  std::array<std::uint64_t, kMaxTensorRank> extent{};     // elements
  std::array<std::uint64_t, kMaxTensorRank - 1> stride{}; // bytes, of dimensions 1 and up
  std::array<std::uint32_t, kMaxTensorRank> box{};        // elements
  std::array<std::uint32_t, kMaxTensorRank> element_stride{1, 1, 1, 1, 1}; // the first is ignored
  Swizzle swizzle = Swizzle::none;
  bool fills_with_nan = false; // what lies outside of the tensor; else zeros

  std::size_t box_bytes() const; // in shared memory, those outside of the tensor included
};

// Throws Error, with argument, value and fix, for what cuTensorMapEncodeTiled refuses.
TensorMap encode(const TiledTensor& tensor, Location where = Location::here());
// Throws Error for what encode() has not made.
TiledTensor decode(const TensorMap& map, Location where = Location::here());

// A part of a box that is contiguous in both memories, at most 16 bytes.
struct BoxPiece {
  std::uintptr_t shared; // address
  unsigned char* global; // null: outside of the tensor
  std::size_t bytes;
};
// Those of the box that begins at these coordinates (dimension 0 first; they may be negative), in
// shared memory from `shared` on, which is aligned to 128 bytes or, swizzled, to 8 rows of it.
std::vector<BoxPiece> pieces_of_box(const TiledTensor& tensor,
                                    const std::array<std::int32_t, kMaxTensorRank>& first,
                                    std::uintptr_t shared);

// What each byte outside of the tensor becomes.
unsigned char outside_byte(const TiledTensor& tensor);

} // namespace kg::host
