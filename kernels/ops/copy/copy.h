// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// copy: y[i][j] = x[i][j], bit for bit. What a memory gives to one read and one write per element:
// the ceiling that all memory-bound operations are measured against.
//
// Problem: rows x cols elements of 1, 2, 4 or 8 bytes, rows contiguous and x's and y's the same
// distance or another apart. Matrices that are packed on both sides are one long row: a contiguous
// copy, and what a reshape costs. Layout: any alignment of the element itself, in each row
// another; x and y must not overlap. Special values: there are none, since only bits move: NaN
// payloads and the signs of zeros arrive unchanged. Repeated runs are bit-identical.
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

// naive: one element per thread, one thread per element. vectorized: 16-byte stores, and 16-byte
// loads however the source is aligned.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs. Extents may be 0. Throws Error on
// negative extents, shapes that differ, a row stride below the row length, or elements of another
// size.
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
