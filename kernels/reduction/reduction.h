// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// reduction: sums of a row-major f32 matrix, over all of it, along its rows or along its columns.
//
// Problem: x is rows x cols, rows `leading` elements apart. axis all: out[0] = sum of every
// element; rows: out[i] = sum over j of x[i][j] (rows results); columns: out[j] = sum over i of
// x[i][j] (cols results). An empty sum is 0. out overlaps neither x nor the workspace. Every
// variant adds in a fixed order: repeated runs are bit-identical.
//
// Special values: IEEE 754. A NaN makes its sums NaN, infinities of both signs in one sum too; no
// other sum changes. A sum starts from +0: zeros of either sign sum to +0. Subnormals are kept.
#pragma once

#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::reduction {

enum class Axis { all, rows, columns };
inline constexpr Axis kAxes[] = {Axis::all, Axis::rows, Axis::columns};

// naive: one thread per result (axis all: one block). tiled: many threads per result, partial sums
// through shuffles and shared memory, a second pass over block partials where one block is not
// enough.
enum class Variant { automatic, naive, tiled };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled};

// Whether repeated runs give the same bits.
constexpr bool deterministic(Variant) { return true; }

std::string_view name(Axis axis);
std::string_view name(Variant variant);

// Results of a sum over `axis`: 1, rows or cols.
std::int64_t result_count(Axis axis, std::int64_t rows, std::int64_t cols);

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(Axis axis, std::int64_t rows, std::int64_t cols, Variant variant);

// Enqueues the sum and returns the variant that runs. Throws Error on negative extents, leading <
// cols, or a null workspace where one is needed.
Variant run(Axis axis, MatrixView<const float> x, float* out, void* workspace, Variant variant,
            Stream& stream);

// Longest sequential chain of additions on the way to one result: what the error bound of a sum
// grows with.
std::int64_t chain(Axis axis, std::int64_t rows, std::int64_t cols, Variant variant);

// One read per element, one write per result, one addition per element.
Work work(Axis axis, std::int64_t rows, std::int64_t cols);

} // namespace kg::reduction
