// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/permute.h"

#include "libraries/dispatch.h"
#include "runtime/error.h"

#include <algorithm>

namespace kg::vendor {

void permute(std::string_view variant, Dtype dtype, std::span<const std::int64_t> shape,
             std::span<const int> order, const void* x, void* y, Stream& stream) {
  const std::string what = join("permute", {name(dtype)});
  const auto& entry = find(permute_table, variant, what, dtype);
  const auto rank = static_cast<std::int64_t>(shape.size());
  require(rank >= 1 && rank <= 5, "kg::vendor::" + what + ": shape has " + std::to_string(rank) +
                                      " extents; it must have 1 to 5");
  for (const std::int64_t extent : shape) require_extents(what, {{"an extent of x", extent}});
  bool permutes = order.size() == shape.size();
  for (int axis = 0; axis < rank; ++axis)
    permutes = permutes && std::count(order.begin(), order.end(), axis) == 1;
  require(permutes, "kg::vendor::" + what + ": order is not a permutation of the " +
                        std::to_string(rank) + " axes; give each once");
  if (std::count(shape.begin(), shape.end(), 0) > 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  std::vector<PermutedAxis> axes;
  for (const int axis : order) {
    std::int64_t stride = 1;
    for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d)
      stride *= shape[d];
    axes.push_back({shape[static_cast<std::size_t>(axis)], stride});
  }
  entry.run(dtype, axes, x, y, stream);
}

} // namespace kg::vendor
