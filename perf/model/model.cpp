// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/model/model.h"

#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace kg::model {
namespace {

void require_one(const char* what, double value) {
  require(value >= 1, fmt::format("{} is {}; a launch has at least one", what, value));
}

double matrix_rate(const Gpu& gpu, const std::string& type) {
  const auto found = gpu.matrix_flops_per_s.find(type);
  if (found == gpu.matrix_flops_per_s.end())
    fail(fmt::format("{} has no matrix instructions on {}", gpu.name, type));
  return found->second;
}

// The time of work that multiprocessors do by themselves at `rate` each: that of the one with the
// most blocks.
double on_busiest(double work, double rate, const Costs& costs, const Gpu& gpu) {
  return std::ceil(costs.blocks / gpu.sms) * (work / costs.blocks) / rate;
}

// Bytes under way at once, over the time until they arrive, is what memory can be made to deliver.
double latency(const Costs& costs, const Gpu& gpu) {
  if (costs.requests == 0) return 0;
  const double bytes = kSectorBytes * costs.sectors;
  const double resident = std::min(costs.blocks, gpu.sms * costs.resident_blocks);
  const double under_way = resident * costs.warps_per_block * kOutstanding * bytes / costs.requests;
  // However many are under way, the last has to arrive.
  return std::max(bytes * gpu.latency_s / under_way, gpu.latency_s);
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i)
      result[order[i]] = 0.5 * static_cast<double>(begin + end - 1);
    begin = end;
  }
  return result;
}

} // namespace

std::string_view name(Bound bound) {
  switch (bound) {
  case Bound::launch: return "launch";
  case Bound::memory: return "memory";
  case Bound::l2: return "L2";
  case Bound::latency: return "latency";
  case Bound::shared: return "shared memory";
  case Bound::issue: return "arithmetic";
  case Bound::matrix: return "matrix units";
  }
  return "";
}

Modelled modelled(const Costs& costs, const Gpu& gpu) {
  require_one("blocks", costs.blocks);
  require_one("warps_per_block", costs.warps_per_block);
  require_one("resident_blocks", costs.resident_blocks);

  Modelled result;
  double matrix = 0, roof = 0;
  for (const auto& [type, flops] : costs.matrix_flops) {
    matrix += on_busiest(flops, matrix_rate(gpu, type), costs, gpu);
    roof += flops / (gpu.sms * matrix_rate(gpu, type));
  }
  const double memory = kSectorBytes * costs.unique_sectors / gpu.memory_bytes_per_s;
  roof = std::max({roof, memory, costs.f32_flops / (gpu.sms * gpu.f32_flops_per_s)});
  result.parts = {
      {Bound::launch, gpu.launch_s},
      {Bound::memory, memory},
      {Bound::l2, kSectorBytes * costs.sectors / gpu.l2_bytes_per_s},
      {Bound::latency, latency(costs, gpu)},
      {Bound::shared, on_busiest(costs.wavefronts, gpu.clock_hz, costs, gpu)},
      {Bound::issue, on_busiest(costs.f32_flops, gpu.f32_flops_per_s, costs, gpu)},
      {Bound::matrix, matrix},
  };
  double longest = 0;
  for (const auto& [bound, seconds] : result.parts)
    if (bound != Bound::launch) longest = std::max(longest, seconds);
  result.seconds = gpu.launch_s + longest;
  for (const auto& [bound, seconds] : result.parts)
    if (seconds > result.parts[result.bound]) result.bound = bound;
  result.share_of_roof = roof / result.seconds;
  return result;
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  require(a.size() == b.size() && a.size() >= 2,
          fmt::format("{} and {} values; a rank correlation needs as many of both, at least 2",
                      a.size(), b.size()));
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double centre = 0.5 * static_cast<double>(a.size() - 1);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - centre) * (y[i] - centre);
    xx += (x[i] - centre) * (x[i] - centre);
    yy += (y[i] - centre) * (y[i] - centre);
  }
  if (xx == 0 || yy == 0) return std::numeric_limits<double>::quiet_NaN();
  return xy / std::sqrt(xx * yy);
}

} // namespace kg::model
