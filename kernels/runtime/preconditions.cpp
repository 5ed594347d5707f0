// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/preconditions.h"

#include "runtime/device.h"
#include "runtime/error.h"

namespace kg {

std::string text(const std::array<std::int64_t, 2>& extents) {
  return std::to_string(extents[0]) + " x " + std::to_string(extents[1]);
}

void require_extent(std::string_view what, std::int64_t value) {
  if (value >= 0) return;
  fail(std::string(what) + " is " + std::to_string(value) + "; it must not be negative");
}

void require_elements(std::string_view what, const void* pointer, std::int64_t count) {
  if (pointer != nullptr || count == 0) return;
  fail(std::string(what) + " is null; pass device memory of " + std::to_string(count) +
       " elements");
}

void require_matrix(const std::string& what, const MatrixView<const void>& matrix) {
  require(matrix.shape[0] >= 0 && matrix.shape[1] >= 0,
          what + " is " + text(matrix.shape) + "; extents must not be negative");
  require(matrix.stride[0] >= matrix.shape[1],
          what + "'s rows are " + std::to_string(matrix.stride[0]) + " apart and " +
              std::to_string(matrix.shape[1]) + " long; the stride must be at least the length");
  require(matrix.stride[1] == 1, what + "'s elements are " + std::to_string(matrix.stride[1]) +
                                     " apart; only contiguous rows are supported");
  require(matrix.data != nullptr || matrix.size() == 0, what + " is null; pass device memory");
}

unsigned grid_x(std::int64_t blocks, const std::string& what, const std::string& fix) {
  const std::int64_t most = device_properties().max_grid_x;
  require(blocks <= most, what + " need " + std::to_string(blocks) +
                              " blocks, and a launch has at most " + std::to_string(most) + "; " +
                              fix);
  return static_cast<unsigned>(blocks);
}

void require_apart(const std::string& input, const void* from, std::int64_t from_bytes,
                   const std::string& output, const void* to, std::int64_t to_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(from);
  const auto second = reinterpret_cast<std::uintptr_t>(to);
  const bool apart = first < second ? second - first >= static_cast<std::uintptr_t>(from_bytes)
                                    : first - second >= static_cast<std::uintptr_t>(to_bytes);
  require(apart, input + " (" + std::to_string(from_bytes) + " bytes) and " + output + " (" +
                     std::to_string(to_bytes) + " bytes) overlap; pass memory that is apart");
}

void require_apart(const std::string& array, const void* data, std::int64_t bytes,
                   const std::string& matrix, const RowsInMemory& rows) {
  // Of the rows that end behind the array's beginning only the first can begin before its end.
  const std::int64_t begin =
      reinterpret_cast<std::intptr_t>(data) - reinterpret_cast<std::intptr_t>(rows.first);
  const std::int64_t ended = begin < rows.bytes ? 0 : (begin - rows.bytes) / rows.stride + 1;
  require(ended >= rows.count || ended * rows.stride >= begin + bytes,
          array + " (" + std::to_string(bytes) + " bytes) and row " + std::to_string(ended) +
              " of " + matrix + " (" + std::to_string(rows.bytes) +
              " bytes) overlap; pass memory that is apart");
}

void require_same_or_apart(const std::string& input, const void* from, const std::string& output,
                           const void* to, std::int64_t bytes) {
  if (from != to) require_apart(input, from, bytes, output, to, bytes);
}

} // namespace kg
