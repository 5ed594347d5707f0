// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Column sums in two launches. The first writes one or more vectors of partial sums per part of the
// rows to a workspace; the second adds the parts (sum_partials.h). This file defines the layout of
// the workspace.
#pragma once

#include "runtime/device_code.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg {

inline constexpr int kSumWarps = 16; // per block of the second launch, at most

// Warps per block of the second launch: at most one per part.
constexpr int sum_warps(std::int64_t parts) {
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, kSumWarps));
}

// The longest sequential chain of additions over parts: a warp's parts, then the warps.
constexpr std::int64_t partials_chain(std::int64_t parts) {
  return div_up(parts, sum_warps(parts)) + sum_warps(parts);
}

// Floats between vectors of `cols` floats; keeps them aligned to 16 bytes.
constexpr std::int64_t partial_pitch(std::int64_t cols) { return div_up(cols, 4) * 4; }

constexpr std::size_t partials_bytes(std::int64_t parts, int vectors, std::int64_t cols) {
  return static_cast<std::size_t>(parts * vectors * partial_pitch(cols)) * sizeof(float);
}

// The offset of vector `vector` of a part with `vectors` vectors.
__host__ __device__ constexpr std::int64_t partial_offset(std::int64_t part, int vectors,
                                                          int vector, std::int64_t cols) {
  return (part * vectors + vector) * partial_pitch(cols);
}

} // namespace kg
