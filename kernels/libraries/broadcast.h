// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/elementwise.h"
#include "libraries/variants.h"

#include <array>

namespace kg::vendor {

inline constexpr int kBroadcastRank = 5;

// Extents of packed row-major operands, ones in front where a tensor has a lower rank. They match:
// equal, or one of them 1.
struct BroadcastShapes {
  std::array<std::int64_t, kBroadcastRank> a{};
  std::array<std::int64_t, kBroadcastRank> b{};
};

// out = a op b. Which shapes a library takes differs: cuDNN repeats b alone, say.
void broadcast(std::string_view variant, elementwise::Op op, Dtype dtype,
               const BroadcastShapes& shapes, const void* a, const void* b, void* out,
               Stream& stream);

using BroadcastVariant = VariantOf<void(elementwise::Op, Dtype, const BroadcastShapes&, const void*,
                                        const void*, void*, Stream&),
                                   elementwise::Op, Dtype, const BroadcastShapes&>;
extern const Table<BroadcastVariant> broadcast_table;

// For the backends: the result's extents, and where its elements lie in an operand.
std::array<std::int64_t, kBroadcastRank> result_extents(const BroadcastShapes& shapes);
std::array<std::int64_t, kBroadcastRank>
repeated_strides(const std::array<std::int64_t, kBroadcastRank>& operand);
std::int64_t element_count(const std::array<std::int64_t, kBroadcastRank>& extents);

} // namespace kg::vendor
