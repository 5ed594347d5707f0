// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// copy: y[i][j] = x[i][j], bit for bit: one read and one write per element. Its memory bandwidth is
// the ceiling that all memory-bound operations are measured against.
//
// Problem: rows x cols elements of 1, 2, 4 or 8 bytes. Rows are contiguous; x and y have their own
// row strides. If both matrices are packed, they are treated as one long row: a contiguous copy,
// and the cost of a reshape. Layout: each row needs only the element's own alignment. x and y must
// not overlap. Special values: none, since only bits move; NaN payloads and signs of zeros are
// unchanged. Repeated runs are bit-identical.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::copy {

// naive: one thread per element. vectorized: 16-byte stores, and 16-byte loads whatever the
// alignment of the source.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. Extents may be 0. Throws Error on
// negative extents, shapes that differ, a row stride below the row length, or an unsupported
// element size.
Variant run(MatrixView<const void> x, MatrixView<void> y, std::size_t element_bytes,
            Variant variant, Stream& stream);

template <class T>
Variant run(MatrixView<const T> x, MatrixView<T> y, Variant variant, Stream& stream) {
  return run(MatrixView<const void>{x.data, x.shape, x.stride},
             MatrixView<void>{y.data, y.shape, y.stride}, sizeof(T), variant, stream);
}

// One read and one write per element, no arithmetic.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::copy
