// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/roof.h"

#include <algorithm>
#include <array>

namespace kg::judge {
namespace {

// The memory clock is constant; the SM clock is not. At its power limit, an H200 reaches 711
// TFLOP/s in bf16 while a ceiling is measured. In a cold row, with idle gaps between samples, it
// reaches 758. Its peak at the highest clock is 1.4 times the former.
constexpr double kBelievableBytes = 1.02;
constexpr double kBelievableFlops = 1.4;

double ceiling(const Ceilings& ceilings, const std::string& name) {
  const auto found = ceilings.find(name);
  return found == ceilings.end() ? 0 : found->second;
}

// The memory traffic until the timing of a cold row ends. The flush leaves none of the row's data
// in the L2, so all reads come from memory. Writes of up to the size of the L2 may still be in the
// L2.
struct Traffic {
  double bytes = 0;
  double written_share = 0;
};

bool knows_written(const Measured& row) { return row.written > 0; }

Traffic through_memory(const Measured& row, double l2_bytes) {
  // If the written bytes are unknown, all bytes may be writes.
  const double written = knows_written(row) ? std::min(row.written, row.bytes) : row.bytes;
  const double leaves = written - std::min(l2_bytes, written);
  const double bytes = row.bytes - written + leaves;
  return {bytes, bytes > 0 ? leaves / bytes : 0};
}

// The measured memory bandwidth for this share of writes, with the time per byte interpolated
// linearly between the measured mixes. 0 if no mix was measured.
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

// Upper limits for any row. The arithmetic limit is the fastest of the type, also for f32: an
// algorithm that transforms its operands needs fewer products than the definition counts.
Greatest utmost(const Measured& row, const Ceilings& ceilings) {
  return {ceiling(ceilings, "dram_bytes_per_s"),
          std::max(ceiling(ceilings, row.dtype + "_flops_per_s"),
                   ceiling(ceilings, row.dtype + "_matrix_flops_per_s"))};
}

// The measured ceilings for the row's mix of reads and writes, and for its precision.
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
