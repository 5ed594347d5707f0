// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums by column in two launches: of each part of the rows the first one leaves a vector of sums,
// or several, in a workspace; the second one adds the parts up (sum_partials.h). Here is how the
// vectors lie, and how the parts are shared out.
#pragma once

#include "runtime/device_code.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg {

inline constexpr int kSumWarps = 16; // of a block that adds parts up, at most

// Of such a block: no more than there are parts.
constexpr int sum_warps(std::int64_t parts) {
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, kSumWarps));
}

// Longest sequential chain of additions that adds parts up: a warp's parts, then the warps.
constexpr std::int64_t partials_chain(std::int64_t parts) {
  return div_up(parts, sum_warps(parts)) + sum_warps(parts);
}

// From one of a part's vectors of `cols` floats to the next; keeps them aligned to 16 bytes.
constexpr std::int64_t partial_pitch(std::int64_t cols) { return div_up(cols, 4) * 4; }

constexpr std::size_t partials_bytes(std::int64_t parts, int vectors, std::int64_t cols) {
  return static_cast<std::size_t>(parts * vectors * partial_pitch(cols)) * sizeof(float);
}

// Where vector `vector` of the `vectors` of a part begins.
__host__ __device__ constexpr std::int64_t partial_offset(std::int64_t part, int vectors,
                                                          int vector, std::int64_t cols) {
  return (part * vectors + vector) * partial_pitch(cols);
}

} // namespace kg
