// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/roof.h"

#include <algorithm>
#include <array>

namespace kg::judge {
namespace {

// Memory keeps its clock. A product at full load does not: an H200 at its power limit multiplies
// 711 TFLOP/s of bf16, for as long as a ceiling takes to measure, and 758 in a row that is timed
// cold and rests between its samples. Its peak at the highest clock is 1.4 times the former.
constexpr double kBelievableBytes = 1.02;
constexpr double kBelievableFlops = 1.4;

double ceiling(const Ceilings& ceilings, const std::string& name) {
  const auto found = ceilings.find(name);
  return found == ceilings.end() ? 0 : found->second;
}

// What passes the memory before the timing of a cold row ends. The flush leaves none of the row's
// data in the L2, so all that is read comes from memory; of what is written, as much as the L2
// holds may still be there.
struct Traffic {
  double bytes = 0;
  double written_share = 0;
};

bool knows_written(const Measured& row) { return row.written > 0; }

Traffic through_memory(const Measured& row, double l2_bytes) {
  // Where nobody says how much is written, it may be all of it.
  const double written = knows_written(row) ? std::min(row.written, row.bytes) : row.bytes;
  const double leaves = written - std::min(l2_bytes, written);
  const double bytes = row.bytes - written + leaves;
  return {bytes, bytes > 0 ? leaves / bytes : 0};
}

// What the memory was seen to reach with this share of writes. Between the mixes that were measured
// the time per byte is taken to change evenly. 0: none was.
double rate_of_mix(const Ceilings& ceilings, double written_share) {
  struct Mix {
    const char* name;
    double written_share;
  };
  constexpr Mix kMixes[] = {{"read_bytes_per_s", 0},
                            {"add_bytes_per_s", 1.0 / 3}, // two read, one written
                            {"copy_bytes_per_s", 0.5},
                            {"write_bytes_per_s", 1}};
  double before_share = 0, before_ns = 0; // of the last mix that writes no more
  for (const Mix& mix : kMixes) {
    const double rate = ceiling(ceilings, mix.name);
    if (!(rate > 0)) continue;
    const double ns = 1e9 / rate;
    if (written_share <= mix.written_share) {
      if (before_ns == 0 || written_share == mix.written_share) return rate;
      const double part = (written_share - before_share) / (mix.written_share - before_share);
      return 1e9 / (before_ns + part * (ns - before_ns));
    }
    before_share = mix.written_share;
    before_ns = ns;
  }
  return before_ns > 0 ? 1e9 / before_ns : 0;
}

struct Greatest {
  double bytes_per_s = 0; // 0: unknown
  double flops_per_s = 0;
};

// What nothing on the device exceeds. Of arithmetic this is the fastest of the type: an algorithm
// that transforms its operands multiplies less than the definition counts.
Greatest utmost(const Measured& row, const Ceilings& ceilings) {
  return {ceiling(ceilings, "dram_bytes_per_s"),
          std::max(ceiling(ceilings, row.dtype + "_flops_per_s"),
                   ceiling(ceilings, row.dtype + "_matrix_flops_per_s"))};
}

// What the device was seen to reach with the row's mix of reads and writes and with its precision.
Greatest reachable(const Measured& row, const Ceilings& ceilings, const Traffic& traffic) {
  Greatest limits = utmost(row, ceilings);
  if (knows_written(row))
    if (const double rate = rate_of_mix(ceilings, traffic.written_share); rate > 0)
      limits.bytes_per_s = rate;
  if (row.dtype == "f32" && !row.tf32) limits.flops_per_s = ceiling(ceilings, "f32_flops_per_s");
  return limits;
}

struct Rate {
  double per_s = 0;
  double ceiling = 0; // 0: unknown
  std::string_view unit;
  double believable = 1; // the share beyond which it is impossible

  double share() const { return ceiling > 0 ? per_s / ceiling : 0; }
};

std::array<Rate, 2> rates(const Measured& row, const Traffic& traffic, const Greatest& limits) {
  if (!(row.median_ns > 0)) return {};
  const double seconds = row.median_ns * 1e-9;
  const double memory = row.key.mode == Mode::cold ? limits.bytes_per_s : 0;
  return {
      {{traffic.bytes / seconds, memory, "bytes", kBelievableBytes},
       {row.flops / seconds, limits.flops_per_s, "floating-point operations", kBelievableFlops}}};
}

} // namespace

std::optional<RoofShare> nearest_roof(const Measured& row, const Ceilings& ceilings) {
  const Traffic traffic = through_memory(row, ceiling(ceilings, "l2_bytes"));
  const auto [bytes, flops] = rates(row, traffic, reachable(row, ceilings, traffic));
  if (!(std::max(bytes.share(), flops.share()) > 0)) return std::nullopt;
  if (bytes.share() >= flops.share()) return RoofShare{bytes.share(), "memory"};
  const bool plain = flops.ceiling == ceiling(ceilings, row.dtype + "_flops_per_s");
  return RoofShare{flops.share(), plain ? row.dtype : "Tensor Cores"};
}

std::optional<double> roof_share(const Measured& row, const Ceilings& ceilings) {
  const std::optional<RoofShare> nearest = nearest_roof(row, ceilings);
  return nearest ? std::optional(nearest->share) : std::nullopt;
}

std::optional<RoofExcess> roof_excess(const Measured& row, const Ceilings& ceilings) {
  const Traffic traffic = through_memory(row, ceiling(ceilings, "l2_bytes"));
  for (const Rate& rate : rates(row, traffic, utmost(row, ceilings)))
    if (rate.share() > rate.believable) return RoofExcess{rate.per_s, rate.ceiling, rate.unit};
  return std::nullopt;
}

} // namespace kg::judge
