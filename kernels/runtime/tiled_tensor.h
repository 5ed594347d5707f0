// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors in global memory that bulk copies move box by box (instructions/cp_async_bulk_tensor.h),
// and the tensor maps that describe them to kernels (CUDA driver API, cuTensorMapEncodeTiled).
#pragma once

#include "runtime/error.h"
#include "runtime/tensor_map.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kg {

inline constexpr unsigned kMaxTensorRank = 5;

// Numbered like CUtensorMapDataType, without the types that flush subnormals. Loads of TF32 round
// f32 to nearest even; stores copy the bits.
enum class TensorType : unsigned char {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  tf32 = 11
};
std::size_t bytes_of(TensorType type);

// Swizzle of 16-byte units in shared memory: XORs address bits 4 and up with bits 7 and up, in a
// pattern that repeats after this many bytes of a row.
enum class Swizzle : unsigned char { none, bytes32, bytes64, bytes128 };

// A tensor whose dimension 0 is contiguous, and the box that one copy moves.
struct TiledTensor {
  TensorType type = TensorType::f32;
  unsigned rank = 1;
  void* base = nullptr;
  std::array<std::uint64_t, kMaxTensorRank> extent{};     // elements
  std::array<std::uint64_t, kMaxTensorRank - 1> stride{}; // bytes, of dimensions 1 and up
  std::array<std::uint32_t, kMaxTensorRank> box{};        // elements
  std::array<std::uint32_t, kMaxTensorRank> element_stride{1, 1, 1, 1, 1}; // the first is ignored
  Swizzle swizzle = Swizzle::none;
  bool fills_with_nan = false; // fill value for elements outside the tensor: NaN or zero

  // Elements of a box along an axis that are actually copied.
  std::uint32_t copied(unsigned axis) const;
  std::size_t box_bytes() const; // in shared memory, including elements outside the tensor
};

// Throws Error with argument, value and fix if cuTensorMapEncodeTiled would reject the tensor.
void validate(const TiledTensor& tensor, Location where = Location::here());

// The map of a valid tensor, for the current device. Throws Error like validate, and if the driver
// does not support tensor maps.
TensorMap encode(const TiledTensor& tensor, Location where = Location::here());

} // namespace kg
