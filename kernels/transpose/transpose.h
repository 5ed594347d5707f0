// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// transpose: y[j][i] = x[i][j], bit for bit.
//
// Problem: x is rows x cols and y is cols x rows, both row-major with their own row strides; they
// must not overlap. Special values: there are none, since only bits move: NaN payloads and the
// signs of zeros arrive unchanged. Repeated runs are bit-identical.
#pragma once

#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::transpose {

// naive: reads along rows, writes along columns (uncoalesced). tiled: 32x32 tiles turned in padded
// shared memory, both sides coalesced.
enum class Variant { automatic, naive, tiled };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled};

// Whether repeated runs give the same bits.
constexpr bool deterministic(Variant) { return true; }

std::string_view name(Variant variant);

// Enqueues the operation and returns the variant that runs. Extents may be 0. Throws Error on
// negative extents, shapes that are not each other's transpose, or a row stride below the row
// length.
Variant run(MatrixView<const float> x, MatrixView<float> y, Variant variant, Stream& stream);

// One read and one write per element, no arithmetic.
Work work(Dtype dtype, std::int64_t rows, std::int64_t cols);

} // namespace kg::transpose
