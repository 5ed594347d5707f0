// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "vendor/elementwise.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

inline constexpr int kBroadcastRank = 5;

// Extents of packed row-major operands, ones in front where a tensor has a lower rank. They match:
// equal, or one of them 1.
struct BroadcastShapes {
  std::array<std::int64_t, kBroadcastRank> a{};
  std::array<std::int64_t, kBroadcastRank> b{};
};

// out = a op b. Which shapes a library takes differs: cuDNN repeats b alone, say.
std::vector<std::string_view> broadcast_variants(elementwise::Op op, Dtype dtype,
                                                 const BroadcastShapes& shapes);
void broadcast(std::string_view variant, elementwise::Op op, Dtype dtype,
               const BroadcastShapes& shapes, const void* a, const void* b, void* out,
               Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct BroadcastVariant {
  std::string_view name;
  bool (*supports)(elementwise::Op op, Dtype dtype, const BroadcastShapes& shapes);
  void (*run)(elementwise::Op op, Dtype dtype, const BroadcastShapes& shapes, const void* a,
              const void* b, void* out, Stream& stream);
};
std::span<const BroadcastVariant> broadcast_table();

// For the backends: the result's extents, and where its elements lie in an operand.
std::array<std::int64_t, kBroadcastRank> result_extents(const BroadcastShapes& shapes);
std::array<std::int64_t, kBroadcastRank>
repeated_strides(const std::array<std::int64_t, kBroadcastRank>& operand);
std::int64_t element_count(const std::array<std::int64_t, kBroadcastRank>& extents);

} // namespace kg::vendor
