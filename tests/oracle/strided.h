// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps a logical tensor to memory. Tests keep values dense, in row-major order, and scatter them
// into storage whose other elements (gaps of a leading dimension, an offset) stay poisoned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "tests/oracle/numbers.h"

namespace kg::test {

// The product of the extents: 1 for a scalar, 0 if any extent is 0.
inline std::int64_t element_count(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

// The coordinates of the element with this row-major index.
inline std::vector<std::int64_t> coordinates(std::int64_t number,
                                             std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> position(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    position[d] = number % shape[d];
    number /= shape[d];
  }
  return position;
}

// Strides and offset in elements; both >= 0 (the library's own views reject negative ones).
struct Strided {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;

  std::int64_t size() const { return element_count(shape); }

  // The element's index in the storage.
  std::int64_t place(std::int64_t number) const {
    std::int64_t position = offset;
    for (std::size_t d = shape.size(); d-- > 0;) {
      position += number % shape[d] * strides[d];
      number /= shape[d];
    }
    return position;
  }

  // The elements in row-major order, as contiguous runs: visit(index of the first element, its
  // index in the storage, length).
  template <typename Visit>
  void for_each_run(const Visit& visit) const {
    std::int64_t run = 1; // product of the innermost contiguous dimensions
    for (std::size_t d = shape.size(); d-- > 0 && (strides[d] == run || shape[d] == 1);)
      run *= shape[d];
    for (std::int64_t first = 0, count = size(); first < count; first += run)
      visit(first, place(first), run);
  }

  // The number of elements that the storage needs.
  std::int64_t storage_size() const {
    if (size() == 0) return offset;
    std::int64_t last = offset;
    for (std::size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * strides[d];
    return last + 1;
  }
};

inline Strided contiguous(std::vector<std::int64_t> shape, std::int64_t offset = 0) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(shape[d], 1);
  }
  return {std::move(shape), std::move(strides), offset};
}

// rows x columns, row-major, with `leading` elements between row starts.
inline Strided matrix(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  require(leading >= columns, "leading dimension " + std::to_string(leading) + " is below the " +
                                  std::to_string(columns) + " columns: give at least as many");
  return {{rows, columns}, {leading, 1}, 0};
}

// The same storage with the last two dimensions exchanged.
inline Strided transposed(Strided view) {
  const std::size_t rank = view.shape.size();
  require(rank >= 2, "transposed: a rank-" + std::to_string(rank) + " view has no two dimensions");
  std::swap(view.shape[rank - 2], view.shape[rank - 1]);
  std::swap(view.strides[rank - 2], view.strides[rank - 1]);
  return view;
}

// The storage of `view` with these elements (in row-major order), poisoned elsewhere; a larger
// `storage_size` extends it.
template <typename T>
std::vector<T> scatter(std::span<const T> dense, const Strided& view,
                       std::int64_t storage_size = 0) {
  require(static_cast<std::int64_t>(dense.size()) == view.size(),
          "scatter: " + std::to_string(dense.size()) + " elements for a view of " +
              std::to_string(view.size()));
  std::vector<T> storage(static_cast<std::size_t>(std::max(storage_size, view.storage_size())),
                         from_raw_bits<T>(poison_bits(DtypeOf<T>::value)));
  for (std::int64_t i = 0; i < view.size(); ++i)
    storage[static_cast<std::size_t>(view.place(i))] = dense[static_cast<std::size_t>(i)];
  return storage;
}
template <typename T>
std::vector<T> scatter(const std::vector<T>& dense, const Strided& view,
                       std::int64_t storage_size = 0) {
  return scatter(std::span<const T>(dense), view, storage_size);
}

// The elements of `view` in row-major order.
template <typename T>
std::vector<T> gather(std::span<const T> storage, const Strided& view) {
  require(static_cast<std::int64_t>(storage.size()) >= view.storage_size(),
          "gather: the view needs " + std::to_string(view.storage_size()) +
              " elements, the storage has " + std::to_string(storage.size()));
  std::vector<T> dense;
  dense.reserve(static_cast<std::size_t>(view.size()));
  for (std::int64_t i = 0; i < view.size(); ++i)
    dense.push_back(storage[static_cast<std::size_t>(view.place(i))]);
  return dense;
}
template <typename T>
std::vector<T> gather(const std::vector<T>& storage, const Strided& view) {
  return gather(std::span<const T>(storage), view);
}

} // namespace kg::test
