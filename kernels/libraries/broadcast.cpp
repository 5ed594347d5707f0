// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/broadcast.h"

#include "libraries/dispatch.h"
#include "runtime/error.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

namespace kg::vendor {
namespace {

using Extents = std::array<std::int64_t, kBroadcastRank>;

void require_shapes(const std::string& what, const BroadcastShapes& shapes) {
  for (std::size_t d = 0; d < kBroadcastRank; ++d) {
    const std::int64_t a = shapes.a[d];
    const std::int64_t b = shapes.b[d];
    require_extents(what, {{"an extent of a", a}, {"an extent of b", b}});
    require(a == b || a == 1 || b == 1,
            "kg::vendor::" + what + ": extents " + std::to_string(a) + " of a and " +
                std::to_string(b) + " of b do not match; they must be equal or one of them 1");
  }
}

} // namespace

Extents result_extents(const BroadcastShapes& shapes) {
  Extents extents{};
  for (std::size_t d = 0; d < kBroadcastRank; ++d)
    extents[d] = shapes.a[d] == 1 ? shapes.b[d] : shapes.a[d];
  return extents;
}

Extents repeated_strides(const Extents& operand) {
  Extents strides{};
  std::int64_t step = 1;
  for (std::size_t d = kBroadcastRank; d-- > 0; step *= operand[d])
    strides[d] = operand[d] == 1 ? 0 : step;
  return strides;
}

std::int64_t element_count(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
}

void broadcast(std::string_view variant, elementwise::Op op, Dtype dtype,
               const BroadcastShapes& shapes, const void* a, const void* b, void* out,
               Stream& stream) {
  const std::string what = join("broadcast", {name(dtype)});
  require_shapes(what, shapes);
  const auto& entry = find(broadcast_table, variant, what, op, dtype, shapes);
  if (element_count(result_extents(shapes)) == 0) return;
  require_pointers(what, {{"a", a}, {"b", b}, {"out", out}});
  entry.run(op, dtype, shapes, a, b, out, stream);
}

} // namespace kg::vendor
