// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors in global memory whose boxes bulk copies move (instructions/cp_async_bulk_tensor.h), and
// the maps that say so to a kernel (CUDA driver API, cuTensorMapEncodeTiled).
#pragma once

#include "runtime/error.h"
#include "runtime/tensor_map.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kg {

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

  // Elements of a box along an axis that are copied.
  std::uint32_t copied(unsigned axis) const;
  std::size_t box_bytes() const; // in shared memory, those outside of the tensor included
};

// Throws Error, with argument, value and fix, for what cuTensorMapEncodeTiled refuses.
void validate(const TiledTensor& tensor, Location where = Location::here());

// The map of a valid tensor, for the current device. Throws Error as validate does, and where the
// driver has no tensor maps.
TensorMap encode(const TiledTensor& tensor, Location where = Location::here());

} // namespace kg
