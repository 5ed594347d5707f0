// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/timing_model/model.h"

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
    fail(fmt::format("{} has no MMA instructions on {}", gpu.name, type));
  return found->second;
}

// The time of work that multiprocessors do independently, at `rate` each: that of the
// multiprocessor with the most blocks.
double on_busiest(double work, double rate, const Costs& costs, const Gpu& gpu) {
  return std::ceil(costs.blocks / gpu.sms) * (work / costs.blocks) / rate;
}

// The round trips of `blocks` that start together.
double wave_of_loads(double blocks, const Costs& costs, const Gpu& gpu) {
  if (blocks == 0) return 0;
  const double bytes = costs.load_bytes / costs.blocks / costs.round_trips; // of one, per block
  const double busy = std::min(blocks, gpu.sms);
  const double rate = gpu.loads_at(bytes * blocks / busy) * busy / gpu.sms;
  const double from_memory = std::min(1.0, costs.read_bytes / costs.load_bytes);
  const double beyond_l1 = std::clamp(costs.block_read_bytes / costs.load_bytes, from_memory, 1.0);
  return costs.round_trips *
         (from_memory * std::max(gpu.latency_s, bytes * blocks / rate) +
          (beyond_l1 - from_memory) * gpu.l2_latency_s + (1 - beyond_l1) * gpu.l1_latency_s);
}

double loads(const Costs& costs, const Gpu& gpu) {
  if (costs.round_trips == 0 || costs.load_bytes == 0) return 0;
  const double at_once = costs.resident_blocks * gpu.sms;
  const double full = std::floor(costs.blocks / at_once);
  return full * wave_of_loads(at_once, costs, gpu) +
         wave_of_loads(costs.blocks - full * at_once, costs, gpu) +
         costs.written_bytes / gpu.copy_bytes_per_s;
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
  case Bound::loads: return "loads in flight";
  case Bound::shared: return "L1 and shared memory";
  case Bound::arithmetic: return "arithmetic";
  case Bound::issue: return "issue";
  case Bound::matrix: return "matrix units";
  }
  return "";
}

Modelled modelled(const Costs& costs, const Gpu& gpu) {
  require_one("blocks", costs.blocks);
  require_one("resident_blocks", costs.resident_blocks);

  Modelled result;
  result.waves = costs.blocks / (costs.resident_blocks * gpu.sms);
  double matrix = 0, roof = 0;
  for (const auto& [type, flops] : costs.matrix_flops) {
    matrix += on_busiest(flops, gpu.mma_share * matrix_rate(gpu, type), costs, gpu);
    roof += flops / (gpu.sms * matrix_rate(gpu, type));
  }
  for (const auto& [type, flops] : costs.wgmma_flops) {
    matrix += on_busiest(flops, matrix_rate(gpu, type), costs, gpu);
    roof += flops / (gpu.sms * matrix_rate(gpu, type));
  }
  const double memory = kSectorBytes * costs.unique_sectors / gpu.copy_bytes_per_s;
  const double through_l2 = kSectorBytes * costs.sectors;
  roof = std::max({roof, memory, costs.f32_flops / (gpu.sms * gpu.f32_flops_per_s)});
  result.parts = {
      {Bound::launch, gpu.launch_s},
      {Bound::memory, memory},
      {Bound::l2, std::max(through_l2 / gpu.l2_bytes_per_s,
                           on_busiest(through_l2, gpu.port_bytes_per_s, costs, gpu))},
      {Bound::loads, loads(costs, gpu)},
      {Bound::shared, on_busiest(costs.wavefronts, gpu.clock_hz, costs, gpu)},
      {Bound::arithmetic, on_busiest(costs.f32_flops, gpu.f32_flops_per_s, costs, gpu)},
      {Bound::issue, on_busiest(costs.issue_clocks, kSchedulers * gpu.clock_hz, costs, gpu)},
      {Bound::matrix, matrix},
  };
  double longest = 0;
  for (const auto& [bound, seconds] : result.parts) {
    if (bound == Bound::launch || seconds <= longest) continue;
    longest = seconds;
    result.limiter = bound;
  }
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
