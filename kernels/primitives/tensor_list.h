// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Many arrays in one launch, for operations on all tensors of a model. A list in device memory
// holds one row per array (its pointers and parameters) and one chunk per block.
//
// Why a list in device memory, written once: a model has hundreds of tensors, many smaller than one
// block's work. The 4 KiB of kernel arguments hold only 85 rows of 48 bytes (Apex's
// multi_tensor_apply launches once per 30 to 110 tensors in every step). Parameters, gradients and
// moments keep their addresses, so checks and pointers cost once, a launch passes three words, and
// a CUDA graph can capture it. Why chunks instead of a binary search over the sizes: among 300
// arrays a search takes nine dependent loads instead of one. A chunk costs 8 bytes per 10^5 bytes
// of data.
#pragma once

#include "runtime/device_code.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/preconditions.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kg {

inline constexpr std::int64_t kChunkElements = 4096;

struct Chunk {
  std::int32_t row;
  std::int32_t number; // within its row
};

// Row must have a member `size`, the number of elements of its array.
template <class Row>
struct TensorList {
  const Row* rows = nullptr;
  const Chunk* chunks = nullptr;
  std::int64_t chunk_count = 0;
};

// Bytes of device memory for the list of `rows`. Throws Error naming the operation `what` on a
// negative size.
template <class Row>
std::size_t tensor_list_bytes(const std::string& what, std::span<const Row> rows) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  require(std::ssize(rows) <= kMost, what + ": " + std::to_string(rows.size()) + " tensors");
  std::int64_t chunks = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::string size = what + ": the size of tensor " + std::to_string(r);
    require_extent(size, rows[r].size);
    require(rows[r].size <= kMost * kChunkElements, size + " is beyond 2^43; split it");
    chunks += div_up(rows[r].size, kChunkElements);
  }
  return chunks == 0 ? 0
                     : rows.size() * sizeof(Row) + static_cast<std::size_t>(chunks) * sizeof(Chunk);
}

// Writes the list to `memory`: tensor_list_bytes(rows) bytes on the device, aligned to 16 bytes, or
// null if that is 0.
template <class Row>
TensorList<Row> write_tensor_list(const std::string& what, std::span<const Row> rows, void* memory,
                                  Stream& stream) {
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) % alignof(Chunk) == 0);
  const std::size_t bytes = tensor_list_bytes(what, rows);
  if (bytes == 0) return {};
  require(memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % 16 == 0,
          what + ": the memory of the table must be on the device, and aligned to 16 bytes");
  std::vector<Chunk> chunks;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::int64_t n = 0; n < div_up(rows[r].size, kChunkElements); ++n)
      chunks.push_back({static_cast<std::int32_t>(r), static_cast<std::int32_t>(n)});
  std::vector<std::byte> list(bytes);
  std::memcpy(list.data(), rows.data(), rows.size_bytes());
  std::memcpy(list.data() + rows.size_bytes(), chunks.data(), chunks.size() * sizeof(Chunk));
  copy_to_device(memory, list.data(), bytes, stream);
  const auto* const first = static_cast<const std::byte*>(memory);
  return {reinterpret_cast<const Row*>(first),
          reinterpret_cast<const Chunk*>(first + rows.size_bytes()), std::ssize(chunks)};
}

} // namespace kg
