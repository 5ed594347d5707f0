// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/roof.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::judge {
namespace {

constexpr double kRoofSlack = 1.02;

// 0 where the file has none.
double ceiling(const DeviceFile& device, const std::string& name) {
  const auto found = device.ceilings.find(name);
  return found == device.ceilings.end() ? 0 : found->second;
}

// Empty, or that `amount` in the row's time exceeds `most` per second.
std::string beyond(const Measured& row, double amount, const char* unit, double most) {
  constexpr double kPerNs = 1e9;
  const double rate = amount / row.median_ns * kPerNs;
  if (most <= 0 || rate <= kRoofSlack * most) return "";
  return fmt::format("{:.4g} {} per second are faster than the measured roof of {:.4g}: the work "
                     "was not done or it is counted wrongly",
                     rate, unit, most);
}

} // namespace

std::string beyond_roof(const Measured& row, const DeviceFile& device) {
  if (!row.verified.empty() || row.samples_ns.empty()) return "";
  if (row.key.mode == Mode::cold)
    if (std::string problem = beyond(row, row.bytes, "bytes", ceiling(device, "dram_bytes_per_s"));
        !problem.empty())
      return problem;
  const double flops = std::max(ceiling(device, row.dtype + "_flops_per_s"),
                                ceiling(device, row.dtype + "_matrix_flops_per_s"));
  return beyond(row, row.flops, "floating-point operations", flops);
}

} // namespace kg::judge
