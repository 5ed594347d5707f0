// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every operation asks of its arguments before it launches anything, in the same words.
#pragma once

#include "runtime/view.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kg {

// a / b rounded up; a >= 0, b > 0, and a + b - 1 must not overflow.
constexpr std::int64_t div_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// "128 x 64"
std::string text(const std::array<std::int64_t, 2>& extents);

// Throws Error on a negative extent. `what` names it in the message: "axpy: n".
void require_extent(std::string_view what, std::int64_t value);

// Throws Error on a null pointer to what has elements. `what` names it in the message: "axpy: x".
void require_elements(std::string_view what, const void* pointer, std::int64_t count);

// Throws Error unless the matrix has no negative extents, rows that are contiguous and do not
// overlap, and memory where it has elements. `what` names it in the message: "softmax: x".
void require_matrix(const std::string& what, const MatrixView<const void>& matrix);

template <class T>
void require_matrix(const std::string& what, const MatrixView<T>& matrix) {
  require_matrix(what, MatrixView<const void>{matrix.data, matrix.shape, matrix.stride});
}

// `blocks` as the x extent of a grid. Throws Error when a launch cannot have so many; `what` says
// whose blocks they are, `fix` what the caller can do: "softmax: the rows", "split the matrix".
unsigned grid_x(std::int64_t blocks, const std::string& what, const std::string& fix);

// Throws Error where an input and an output share memory. `input` names the operation, too: "axpy:
// x".
void require_apart(const std::string& input, const void* from, std::int64_t from_bytes,
                   const std::string& output, const void* to, std::int64_t to_bytes);

// The rows of a matrix as they lie in memory.
struct RowsInMemory {
  const void* first = nullptr;
  std::int64_t count = 0;
  std::int64_t bytes = 0;  // of each
  std::int64_t stride = 0; // bytes from one to the next
};

// The same of an array and the rows of a matrix, one of which the kernel reads and one writes. The
// array may lie in a gap between rows.
void require_apart(const std::string& array, const void* data, std::int64_t bytes,
                   const std::string& matrix, const RowsInMemory& rows);

// The same, but the output may be the input: in place is allowed, anything between is not.
void require_same_or_apart(const std::string& input, const void* from, const std::string& output,
                           const void* to, std::int64_t bytes);

} // namespace kg
