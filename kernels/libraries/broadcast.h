// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/elementwise.h"
#include "libraries/variants.h"

#include <array>

namespace kg::vendor {

inline constexpr int kBroadcastRank = 5;

// Extents of packed row-major operands, with leading ones for a lower rank. The extents of an axis
// must be equal, or one of them 1.
struct BroadcastShapes {
  std::array<std::int64_t, kBroadcastRank> a{};
  std::array<std::int64_t, kBroadcastRank> b{};
};

// out = a op b. Libraries differ in the shapes they support: cuDNN, for example, only repeats b.
void broadcast(std::string_view variant, elementwise::Op op, Dtype dtype,
               const BroadcastShapes& shapes, const void* a, const void* b, void* out,
               Stream& stream);

using BroadcastVariant = VariantOf<void(elementwise::Op, Dtype, const BroadcastShapes&, const void*,
                                        const void*, void*, Stream&),
                                   elementwise::Op, Dtype, const BroadcastShapes&>;
extern const Table<BroadcastVariant> broadcast_table;

// For the backends: extents of the result, and an operand's strides (0 along repeated axes).
std::array<std::int64_t, kBroadcastRank> result_extents(const BroadcastShapes& shapes);
std::array<std::int64_t, kBroadcastRank>
repeated_strides(const std::array<std::int64_t, kBroadcastRank>& operand);
std::int64_t element_count(const std::array<std::int64_t, kBroadcastRank>& extents);

} // namespace kg::vendor
