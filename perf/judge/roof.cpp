// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/roof.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace kg::judge {
namespace {

constexpr double kBelievableShare = 1.02;

struct Rate {
  double per_s = 0;
  double ceiling = 0; // 0: unknown
  std::string_view unit;

  double share() const { return ceiling > 0 ? per_s / ceiling : 0; }
};

double ceiling(const Ceilings& ceilings, const std::string& name) {
  const auto found = ceilings.find(name);
  return found == ceilings.end() ? 0 : found->second;
}

// The rate that is closest to its ceiling, or beyond it the most.
Rate limiting_rate(const Measured& row, const Ceilings& ceilings) {
  if (!(row.median_ns > 0)) return {};
  const double seconds = row.median_ns * 1e-9;
  const double memory = row.key.mode == Mode::cold ? ceiling(ceilings, "dram_bytes_per_s") : 0;
  const double compute = std::max(ceiling(ceilings, row.dtype + "_flops_per_s"),
                                  ceiling(ceilings, row.dtype + "_matrix_flops_per_s"));
  const double through_memory = std::max(0.0, row.bytes - ceiling(ceilings, "l2_bytes"));
  const Rate bytes = {through_memory / seconds, memory, "bytes"};
  const Rate flops = {row.flops / seconds, compute, "floating-point operations"};
  return bytes.share() > flops.share() ? bytes : flops;
}

} // namespace

std::optional<double> roof_share(const Measured& row, const Ceilings& ceilings) {
  const double share = limiting_rate(row, ceilings).share();
  if (share > 0) return share;
  return std::nullopt;
}

std::optional<std::string> beyond_roof(const Measured& row, const Ceilings& ceilings) {
  const Rate rate = limiting_rate(row, ceilings);
  if (rate.share() <= kBelievableShare) return std::nullopt;
  return fmt::format("{:.4g} {} per second are {:.0f} % of the device's measured roof of {:.4g}: "
                     "the work was not done, or it is counted wrongly",
                     rate.per_s, rate.unit, 100 * rate.share(), rate.ceiling);
}

} // namespace kg::judge
