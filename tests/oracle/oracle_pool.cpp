// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_pool.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

namespace {

// The coordinates of one window's taps, including those outside the input.
using Coordinates = std::vector<std::int64_t>;

std::vector<Coordinates> windows_of(std::int64_t in, const PoolAxis& axis, bool ceil_mode) {
  std::vector<Coordinates> windows;
  const auto next = [&] {
    const std::int64_t start =
        static_cast<std::int64_t>(windows.size()) * axis.stride - axis.before;
    Coordinates taps;
    for (std::int64_t t = 0; t < axis.kernel; ++t) taps.push_back(start + t * axis.dilation);
    return taps;
  };
  const std::int64_t end = in + axis.after;
  Coordinates window = next();
  for (; window.back() < end; window = next()) windows.push_back(window);
  // Whether elements remain after the last complete window.
  const bool remain = window.back() - axis.stride < end - 1;
  if (ceil_mode && remain && window.front() < in) windows.push_back(window);
  return windows;
}

// One window of one plane: its elements' indices in x, and how many taps an average counts.
struct Window {
  std::vector<std::size_t> places;
  std::int64_t counted;
};

// Calls `judge` with each window, in the order of the results.
template <typename Judge>
void for_each_window(const Pooling& p, std::size_t elements, Judge judge) {
  require(static_cast<std::int64_t>(elements) == p.planes * p.height * p.width,
          fmt::format("pool oracle: {} elements for {} planes of {}x{}", elements, p.planes,
                      p.height, p.width));
  const auto inside = [](std::int64_t at, std::int64_t extent) { return at >= 0 && at < extent; };
  const auto rows = windows_of(p.height, p.vertical, p.ceil_mode);
  const auto columns = windows_of(p.width, p.horizontal, p.ceil_mode);
  for (std::int64_t plane = 0; plane < p.planes; ++plane)
    for (const Coordinates& vertical : rows)
      for (const Coordinates& horizontal : columns) {
        Window window{{}, 0};
        for (const std::int64_t i : vertical)
          for (const std::int64_t j : horizontal) {
            const bool element = inside(i, p.height) && inside(j, p.width);
            const bool padded = i < p.height + p.vertical.after && j < p.width + p.horizontal.after;
            if (element)
              window.places.push_back(
                  static_cast<std::size_t>((plane * p.height + i) * p.width + j));
            if (element || (padded && p.count_padding)) ++window.counted;
          }
        judge(window);
      }
}

} // namespace

std::int64_t Pooling::out_height() const {
  return static_cast<std::int64_t>(windows_of(height, vertical, ceil_mode).size());
}

std::int64_t Pooling::out_width() const {
  return static_cast<std::int64_t>(windows_of(width, horizontal, ceil_mode).size());
}

PoolOracle max_pool_oracle(const Pooling& pooling, std::span<const double> x) {
  PoolOracle result;
  for_each_window(pooling, x.size(), [&](const Window& window) {
    double most = -std::numeric_limits<double>::infinity();
    bool nan = false;
    for (const std::size_t place : window.places) {
      nan = nan || std::isnan(x[place]);
      most = x[place] > most ? x[place] : most;
    }
    result.value.push_back(nan ? std::numeric_limits<double>::quiet_NaN() : most);
    result.mean_abs.push_back(std::fabs(result.value.back()));
  });
  return result;
}

PoolOracle average_pool_oracle(const Pooling& pooling, std::span<const double> x) {
  PoolOracle result;
  for_each_window(pooling, x.size(), [&](const Window& window) {
    double sum = 0;
    double magnitude = 0;
    for (const std::size_t place : window.places) {
      sum += x[place];
      magnitude += std::fabs(x[place]);
    }
    const auto count = static_cast<double>(window.counted);
    result.value.push_back(window.places.empty() ? 0 : sum / count);
    result.mean_abs.push_back(window.places.empty() ? 0 : magnitude / count);
  });
  return result;
}

namespace {

// Calls `spread` with each window, its dy, and a function that adds a term to one element.
template <typename Spread>
PoolGradient gradient(const Pooling& pooling, std::size_t elements, std::span<const double> dy,
                      Spread spread) {
  PoolGradient result{std::vector<double>(elements), std::vector<double>(elements),
                      std::vector<std::int64_t>(elements)};
  const auto add = [&](std::size_t place, double term) {
    result.value[place] += term;
    result.sum_abs[place] += std::fabs(term);
    ++result.terms[place];
  };
  std::size_t output = 0;
  require(static_cast<std::int64_t>(dy.size()) ==
              pooling.planes * pooling.out_height() * pooling.out_width(),
          fmt::format("pool oracle: {} gradients for {} planes of {}x{} results", dy.size(),
                      pooling.planes, pooling.out_height(), pooling.out_width()));
  for_each_window(pooling, elements,
                  [&](const Window& window) { spread(window, dy[output++], add); });
  return result;
}

} // namespace

PoolGradient max_pool_gradient_oracle(const Pooling& pooling, std::span<const double> x,
                                      std::span<const double> dy) {
  return gradient(pooling, x.size(), dy, [&](const Window& window, double term, auto add) {
    if (window.places.empty()) return;
    std::size_t first = window.places[0];
    for (const std::size_t place : window.places) {
      if (std::isnan(x[first])) break;
      if (std::isnan(x[place]) || x[place] > x[first]) first = place;
    }
    add(first, term);
  });
}

PoolGradient average_pool_gradient_oracle(const Pooling& pooling, std::span<const double> dy) {
  const auto elements = static_cast<std::size_t>(pooling.planes * pooling.height * pooling.width);
  return gradient(pooling, elements, dy, [&](const Window& window, double term, auto add) {
    for (const std::size_t place : window.places)
      add(place, term / static_cast<double>(window.counted));
  });
}

} // namespace kg::test
