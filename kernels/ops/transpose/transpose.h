// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// transpose: y[j][i] = x[i][j], bit for bit.
//
// Problem: x is rows x cols and y is cols x rows, elements of 1, 2, 4 or 8 bytes, both row-major
// with their own row strides. They must not overlap. Special values: none, since only bits move;
// NaN payloads and signs of zeros are unchanged. Repeated runs are bit-identical.
#pragma once

#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::transpose {

// naive: reads along rows, writes along columns (uncoalesced). tiled: transposes tiles in shared
// memory, with coalesced accesses on both sides. It moves 16 bytes at a time if all rows are
// aligned to 16 bytes. Else, with many tiles, tile borders follow each row's sectors; otherwise it
// moves words of small elements or single elements.
enum class Variant { automatic, naive, tiled };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled};

// The variant that runs when `variant` is requested.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::tiled : variant;
}

using kg::name;

// Enqueues the operation and returns the variant that runs. Extents may be 0. Throws Error on
// negative extents, shapes that are not each other's transpose, a row stride below the row length,
// or an unsupported element size.
Variant run(MatrixView<const void> x, MatrixView<void> y, std::size_t element_bytes,
            Variant variant, Stream& stream);

template <class T>
Variant run(MatrixView<const T> x, MatrixView<T> y, Variant variant, Stream& stream) {
  return run(MatrixView<const void>{x.data, x.shape, x.stride},
             MatrixView<void>{y.data, y.shape, y.stride}, sizeof(T), variant, stream);
}

// One read and one write per element, no arithmetic.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::transpose
