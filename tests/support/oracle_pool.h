// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows of two dimensions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::test {

// `planes` (batch times channels) dense matrices of height x width. The output has
// (extent + 2 pad - kernel) / stride + 1 rows and columns, rounded down. pad < kernel, so that no
// window is all padding.
struct Pooling {
  std::int64_t planes, height, width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t pad_height = 0, pad_width = 0;
  bool count_padding = false; // average: divide by the kernel's area rather than by what is inside

  std::int64_t out_height() const;
  std::int64_t out_width() const;
};

// Dense, planes x out_height x out_width. Padding is -inf to the maximum and 0 to the average; a
// NaN in a window makes its result NaN. `mean_abs` is the condition of the average.
struct PoolOracle {
  std::vector<double> value;
  std::vector<double> mean_abs;
};
PoolOracle max_pool_oracle(const Pooling& pooling, std::span<const double> x);
PoolOracle average_pool_oracle(const Pooling& pooling, std::span<const double> x);

} // namespace kg::test
