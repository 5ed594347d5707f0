// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// transpose: y[j][i] = x[i][j], bit for bit.
//
// Problem: x is rows x cols and y is cols x rows, elements of 1, 2, 4 or 8 bytes, both row-major
// with their own row strides; they must not overlap. Special values: there are none, since only
// bits move: NaN payloads and the signs of zeros arrive unchanged. Repeated runs are bit-identical.
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

// naive: reads along rows, writes along columns (uncoalesced). tiled: tiles turned in shared
// memory, both sides coalesced: by 16 bytes where all rows are aligned to them; else, where tiles
// are many, in tiles whose borders follow each row's sectors; else by words of small elements or by
// elements.
enum class Variant { automatic, naive, tiled };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::tiled : variant;
}

using kg::name;

// Enqueues the operation and returns the variant that runs. Extents may be 0. Throws Error on
// negative extents, shapes that are not each other's transpose, a row stride below the row length,
// or elements of another size.
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
