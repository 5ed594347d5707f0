// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/compare_rows.h"

#include "perf/judge/limits.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kg::judge {
namespace {

bool is_time(double ns) { return std::isfinite(ns) && ns > 0; }

} // namespace

std::optional<std::string> defect(const Measured& row, Device device) {
  if (row.tags.contains("failure")) return row.verified; // it never got as far as an output
  if (!row.verified.empty())
    return fmt::format("its output is wrong ({}); a time for a wrong result means nothing",
                       row.verified);
  if (row.samples_ns.empty()) return "it has no samples";
  // A slope of two graphs is a difference: a single one may be negative, the median may
  // not.
  const auto is_sample = [&](double ns) {
    return row.key.mode == Mode::graph ? std::isfinite(ns) : is_time(ns);
  };
  if (!std::all_of(row.samples_ns.begin(), row.samples_ns.end(), is_sample) ||
      row.process_medians_ns.empty() ||
      !std::all_of(row.process_medians_ns.begin(), row.process_medians_ns.end(), is_time))
    return "it has samples that are not times";
  if (!is_time(row.ci_ns.low) || !(row.ci_ns.low <= row.median_ns) ||
      !(row.median_ns <= row.ci_ns.high) || !is_time(row.ci_ns.high))
    return fmt::format("its median {:g} ns lies outside [{:g}, {:g}]", row.median_ns, row.ci_ns.low,
                       row.ci_ns.high);
  if (device == Device::host && !row.canary)
    return "no canary ran beside it, but host rows are compared in canary units";
  if (row.canary && (!is_time(row.canary->median_ns) || !(row.canary->half_width >= 0)))
    return fmt::format("its canary took {:g} ns", row.canary->median_ns);
  return std::nullopt;
}

std::optional<std::string> disturbance(const Measured& row) {
  if (const auto at = row.tags.find(kThrottledTag); at != row.tags.end())
    return fmt::format("the device was throttled ({})", at->second);
  if (const auto at = row.tags.find("foreign_processes"); at != row.tags.end())
    return fmt::format("other processes used the device ({})", at->second);
  return std::nullopt;
}

Comparison compare(const Measured& measured, const TimingRow& baseline, Device device) {
  Comparison found;
  found.canary = measured.canary && baseline.canary;
  if (found.canary) {
    const Limits& limit = limits(device);
    found.drift = measured.canary->median_ns / baseline.canary->median_ns;
    found.healthy = found.drift <= limit.canary_factor && found.drift >= 1 / limit.canary_factor &&
                    measured.canary->half_width <= limit.canary_half_width;
  }
  const bool normalise = device == Device::host || std::abs(found.drift - 1) > kDriftNoise;
  const double scale = found.scale = normalise ? found.drift : 1;
  found.ratio = scale * baseline.median_ns / measured.median_ns;
  found.interval = {scale * baseline.ci_ns.low / measured.ci_ns.high,
                    scale * baseline.ci_ns.high / measured.ci_ns.low};
  return found;
}

Same same_identity(const Measured& measured, const TimingRow& baseline) {
  if (measured.identity.empty() || baseline.identity.empty()) return Same::unknown;
  return measured.identity == baseline.identity ? Same::yes : Same::no;
}

std::string canary_text(const Comparison& comparison, const Measured& measured) {
  if (!comparison.canary) return "No canary beside it";
  return fmt::format("The {} canary takes {:.2f}x its blessed time, known to +-{:.1f} %",
                     name(measured.canary->kind), comparison.drift,
                     100 * measured.canary->half_width);
}

} // namespace kg::judge
