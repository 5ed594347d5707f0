// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

namespace {

// Calls `judge` with the elements of each window that lie inside of the plane.
template <typename Judge>
void for_each_window(const Pooling& p, std::span<const double> x, Judge judge) {
  require(static_cast<std::int64_t>(x.size()) == p.planes * p.height * p.width,
          fmt::format("pool oracle: {} elements for {} planes of {}x{}", x.size(), p.planes,
                      p.height, p.width));
  require(p.pad_height < p.kernel_height && p.pad_width < p.kernel_width,
          "pool oracle: a pad as large as the kernel makes windows of padding alone");
  std::vector<double> window;
  for (std::int64_t plane = 0; plane < p.planes; ++plane) {
    for (std::int64_t i = 0; i < p.out_height(); ++i) {
      for (std::int64_t j = 0; j < p.out_width(); ++j) {
        window.clear();
        const std::int64_t top = i * p.stride_height - p.pad_height;
        const std::int64_t left = j * p.stride_width - p.pad_width;
        for (std::int64_t row = std::max<std::int64_t>(top, 0);
             row < std::min(top + p.kernel_height, p.height); ++row)
          for (std::int64_t column = std::max<std::int64_t>(left, 0);
               column < std::min(left + p.kernel_width, p.width); ++column)
            window.push_back(
                x[static_cast<std::size_t>((plane * p.height + row) * p.width + column)]);
        judge(window);
      }
    }
  }
}

} // namespace

std::int64_t Pooling::out_height() const {
  return (height + 2 * pad_height - kernel_height) / stride_height + 1;
}

std::int64_t Pooling::out_width() const {
  return (width + 2 * pad_width - kernel_width) / stride_width + 1;
}

PoolOracle max_pool_oracle(const Pooling& pooling, std::span<const double> x) {
  PoolOracle result;
  for_each_window(pooling, x, [&](const std::vector<double>& window) {
    double most = -std::numeric_limits<double>::infinity();
    for (const double value : window) most = std::isnan(value) || value > most ? value : most;
    const bool nan = std::any_of(window.begin(), window.end(), [](double v) { return v != v; });
    result.value.push_back(nan ? std::numeric_limits<double>::quiet_NaN() : most);
    result.mean_abs.push_back(std::fabs(result.value.back()));
  });
  return result;
}

PoolOracle average_pool_oracle(const Pooling& pooling, std::span<const double> x) {
  PoolOracle result;
  for_each_window(pooling, x, [&](const std::vector<double>& window) {
    double sum = 0;
    double magnitude = 0;
    for (const double value : window) {
      sum += value;
      magnitude += std::fabs(value);
    }
    const auto count =
        static_cast<double>(pooling.count_padding ? pooling.kernel_height * pooling.kernel_width
                                                  : static_cast<std::int64_t>(window.size()));
    result.value.push_back(sum / count);
    result.mean_abs.push_back(magnitude / count);
  });
  return result;
}

} // namespace kg::test
