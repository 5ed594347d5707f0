// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Series of times with planted changes of level.
#pragma once

#include "perf/lab/history/database.h"

#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <random>
#include <vector>

namespace kg::history::test {

// Times around 100, each level from its index on, with noise of `spread` (a share, Laplace) and
// every tenth value `outlier` times as long.
struct Level {
  std::size_t from;
  double factor;
};
inline std::vector<double> series(std::size_t n, const std::vector<Level>& levels, double spread,
                                  double outlier, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> tail(1);
  std::vector<double> values;
  double factor = 1;
  for (std::size_t i = 0; i < n; ++i) {
    for (const Level& level : levels)
      if (level.from == i) factor = level.factor;
    const double noise = spread * (tail(random) - tail(random));
    values.push_back(100 * factor * std::exp(noise) * (i % 10 == 7 ? outlier : 1));
  }
  return values;
}

// The runs of these times, two a day: the machine changes with the run 40, the driver with 100, the
// baseline comes with the run 20 and follows the level with 130.
inline std::vector<Point> runs(const std::vector<double>& times) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < times.size(); ++i) {
    Point point;
    point.date_utc =
        fmt::format("2026-{:02}-{:02}T{:02}:00:00Z", 1 + i / 56, 1 + i / 2 % 28, i % 2 ? 20 : 8);
    point.source = fmt::format("{:03}abcdef0123456789", i);
    point.device = "nvidia-h200";
    point.machine = i < 40 ? "NVIDIA H200" : "NVIDIA H200 NVL";
    point.driver = i < 100 ? "570.1" : "580.2";
    point.median_ns = times[i];
    point.ci_lo_ns = 0.98 * times[i];
    point.ci_hi_ns = 1.02 * times[i];
    point.baseline_ns = i < 20 ? 0 : i < 130 ? 100 : 125;
    points.push_back(point);
  }
  return points;
}

} // namespace kg::history::test
