// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Argument checks that every operation makes before its first launch, with uniform messages.
#pragma once

#include "runtime/error.h"
#include "runtime/view.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace kg {

// a / b rounded up; a >= 0, b > 0, and a + b - 1 must not overflow.
constexpr std::int64_t div_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Throws Error unless `condition` holds. Calls `message()` only then: joining a text takes longer
// than a launch.
template <std::invocable Message>
void require(bool condition, const Message& message, Location where = Location::here()) {
  if (!condition) fail(message(), where);
}

// An argument's name in messages: up to four texts, joined only when a message is written. Views:
// the texts must outlive the call. {"softmax", ": ", "x"} is "softmax: x".
class Argument {
 public:
  template <std::convertible_to<std::string_view>... Part>
  requires(sizeof...(Part) >= 1 && sizeof...(Part) <= 4) Argument(const Part&... part)
      : parts_{std::string_view(part)...} {}

  std::string text() const;

 private:
  std::array<std::string_view, 4> parts_;
};

// "128 x 64"
std::string text(const std::array<std::int64_t, 2>& extents);

// Throws Error if an extent is negative. `what` names it in the message: "axpy: n".
void require_extent(const Argument& what, std::int64_t value);

// Throws Error on a null pointer to `count` > 0 elements. `what` is its name: "axpy: x".
void require_elements(const Argument& what, const void* pointer, std::int64_t count);

// Throws Error unless the matrix has nonnegative extents, contiguous rows that do not overlap, and
// a non-null pointer if it has elements. `what` names it in the message: "softmax: x".
void require_matrix(const Argument& what, const MatrixView<const void>& matrix);

template <class T>
void require_matrix(const Argument& what, const MatrixView<T>& matrix) {
  require_matrix(what, MatrixView<const void>{matrix.data, matrix.shape, matrix.stride});
}

// Returns `blocks` as a grid's x extent. Throws Error if a launch cannot have that many. `what`
// describes the blocks ("softmax: the rows"), `fix` the remedy ("split the matrix").
unsigned grid_x(std::int64_t blocks, std::string_view what, std::string_view fix);

// Throws Error if an input and an output overlap. `input` includes the operation's name: "axpy: x".
void require_apart(const Argument& input, const void* from, std::int64_t from_bytes,
                   std::string_view output, const void* to, std::int64_t to_bytes);

// The memory layout of a matrix's rows.
struct RowsInMemory {
  const void* first = nullptr;
  std::int64_t count = 0;
  std::int64_t bytes = 0;  // of each row
  std::int64_t stride = 0; // bytes between the starts of consecutive rows
};

// The same for an array and the rows of a matrix; the kernel reads one and writes the other. The
// array may lie in a gap between rows.
void require_apart(const Argument& array, const void* data, std::int64_t bytes,
                   std::string_view matrix, const RowsInMemory& rows);

// The same, but the output may equal the input: in place is allowed, partial overlap is not.
void require_same_or_apart(const Argument& input, const void* from, std::string_view output,
                           const void* to, std::int64_t bytes);

} // namespace kg
