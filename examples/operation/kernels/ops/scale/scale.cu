// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/scale/scale.h"

#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <string>

namespace kg::scale {

constexpr int kThreads = 256;

__global__ void naive(float a, const float* x, float* y, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}

Variant run(float a, const float* x, float* y, std::int64_t n, Variant, Stream& stream) {
  require_extent("scale: n", n);
  if (n == 0) return Variant::naive;
  require_elements("scale: x", x, n);
  require_elements("scale: y", y, n);
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(float));
  require_same_or_apart("scale: x", x, "y", y, bytes);
  const unsigned grid =
      grid_x(div_up(n, kThreads), "scale: " + std::to_string(n) + " elements, one per thread,",
             "split the array");
  launch(naive, {.grid = grid, .block = kThreads, .stream = &stream}, a, x, y, n);
  return Variant::naive;
}

Work work(std::int64_t n) {
  const auto count = static_cast<double>(n);
  return {.bytes = 2 * count * sizeof(float), .written = count * sizeof(float), .flops = count};
}

} // namespace kg::scale
