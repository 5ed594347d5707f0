// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/preconditions.h"

#include "runtime/device.h"

#include <fmt/format.h>

namespace kg {

std::string Argument::text() const {
  std::string text;
  for (const std::string_view part : parts_) text += part;
  return text;
}

std::string text(const std::array<std::int64_t, 2>& extents) {
  return std::to_string(extents[0]) + " x " + std::to_string(extents[1]);
}

void require_extent(const Argument& what, std::int64_t value) {
  require(value >= 0,
          [&] { return fmt::format("{} is {}; it must not be negative", what.text(), value); });
}

void require_elements(const Argument& what, const void* pointer, std::int64_t count) {
  require(pointer != nullptr || count == 0, [&] {
    return fmt::format("{} is null; pass device memory of {} elements", what.text(), count);
  });
}

void require_matrix(const Argument& what, const MatrixView<const void>& matrix) {
  require(matrix.shape[0] >= 0 && matrix.shape[1] >= 0, [&] {
    return what.text() + " is " + text(matrix.shape) + "; extents must not be negative";
  });
  require(matrix.stride[0] >= matrix.shape[1], [&] {
    return fmt::format("{}'s rows are {} apart and {} long; the stride must be at least the length",
                       what.text(), matrix.stride[0], matrix.shape[1]);
  });
  require(matrix.stride[1] == 1, [&] {
    return fmt::format("{}'s elements are {} apart; only contiguous rows are supported",
                       what.text(), matrix.stride[1]);
  });
  require(matrix.data != nullptr || matrix.size() == 0,
          [&] { return what.text() + " is null; pass device memory"; });
}

unsigned grid_x(std::int64_t blocks, std::string_view what, std::string_view fix) {
  const std::int64_t most = device_properties().max_grid_x;
  require(blocks <= most, [&] {
    return fmt::format("{} need {} blocks, and a launch has at most {}; {}", what, blocks, most,
                       fix);
  });
  return static_cast<unsigned>(blocks);
}

void require_apart(const Argument& input, const void* from, std::int64_t from_bytes,
                   std::string_view output, const void* to, std::int64_t to_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(from);
  const auto second = reinterpret_cast<std::uintptr_t>(to);
  const bool apart = first < second ? second - first >= static_cast<std::uintptr_t>(from_bytes)
                                    : first - second >= static_cast<std::uintptr_t>(to_bytes);
  require(apart, [&] {
    return fmt::format("{} ({} bytes) and {} ({} bytes) overlap; pass memory that is apart",
                       input.text(), from_bytes, output, to_bytes);
  });
}

void require_apart(const Argument& array, const void* data, std::int64_t bytes,
                   std::string_view matrix, const RowsInMemory& rows) {
  // Of the rows that end after the array's start, only the first can start before the array's end.
  const std::int64_t begin =
      reinterpret_cast<std::intptr_t>(data) - reinterpret_cast<std::intptr_t>(rows.first);
  const std::int64_t ended = begin < rows.bytes ? 0 : (begin - rows.bytes) / rows.stride + 1;
  require(ended >= rows.count || ended * rows.stride >= begin + bytes, [&] {
    return fmt::format(
        "{} ({} bytes) and row {} of {} ({} bytes) overlap; pass memory that is apart",
        array.text(), bytes, ended, matrix, rows.bytes);
  });
}

void require_same_or_apart(const Argument& input, const void* from, std::string_view output,
                           const void* to, std::int64_t bytes) {
  if (from != to) require_apart(input, from, bytes, output, to, bytes);
}

} // namespace kg
