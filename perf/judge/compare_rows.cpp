// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/compare_rows.h"

#include "perf/judge/limits.h"
#include "perf/judge/peers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kg::judge {
namespace {

bool is_time(double ns) { return std::isfinite(ns) && ns > 0; }

Same same_identity(const Measured& measured, const TimingRow& baseline) {
  if (measured.identity.empty() || baseline.identity.empty()) return Same::unknown;
  return measured.identity == baseline.identity ? Same::yes : Same::no;
}

std::optional<VendorSpeedup> vendor_speedup(const Measured& row, const TimingRow& baseline,
                                            const std::vector<Measured>& run,
                                            const TimingFile& file) {
  std::optional<VendorSpeedup> found;
  std::pair<bool, double> best; // whether the version changed, blessed time; the smallest wins
  for (const Measured& vendor : run) {
    if (!is_library(vendor) || vendor.key.case_id != row.key.case_id ||
        vendor.key.mode != row.key.mode || find_defect(vendor, Device::gpu) ||
        !vendor.skipped.empty())
      continue;
    for (const TimingRow& blessed : file.rows) {
      if (blessed.key != vendor.key) continue;
      const Same library = same_identity(vendor, blessed);
      const std::pair<bool, double> rank = {library == Same::no, blessed.median_ns};
      if (library == Same::unknown || (found && rank >= best)) continue;
      best = rank;
      found = VendorSpeedup{vendor.key.variant, vendor.median_ns / row.median_ns,
                            blessed.median_ns / baseline.median_ns};
      if (library == Same::yes) continue;
      found->library_then = blessed.identity;
      found->library_now = vendor.identity;
    }
  }
  return found;
}

} // namespace

std::optional<Cause> find_defect(const Measured& row, Device device) {
  if (row.tags.contains("failure")) return Cause::crashed;
  if (!row.verified.empty()) return Cause::wrong_output;
  if (row.samples_ns.empty()) return Cause::no_samples;
  // Samples of graph mode are differences of two times. A single one may be negative, the median
  // may not.
  const auto is_sample = [&](double ns) {
    return row.key.mode == Mode::graph ? std::isfinite(ns) : is_time(ns);
  };
  if (!std::all_of(row.samples_ns.begin(), row.samples_ns.end(), is_sample) ||
      row.process_medians_ns.empty() ||
      !std::all_of(row.process_medians_ns.begin(), row.process_medians_ns.end(), is_time))
    return Cause::no_times;
  if (!is_time(row.ci_ns.low) || !(row.ci_ns.low <= row.median_ns) ||
      !(row.median_ns <= row.ci_ns.high) || !is_time(row.ci_ns.high))
    return Cause::median_outside;
  if (device == Device::host && !row.canary) return Cause::no_canary;
  if (row.canary && (!is_time(row.canary->median_ns) || !(row.canary->half_width >= 0)))
    return Cause::no_canary_time;
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
  found.code = same_identity(measured, baseline);
  return found;
}

Examined examine(const Measured& row, const TimingRow* baseline, const std::vector<Measured>& run,
                 const TimingFile& file, const GateOptions& options) {
  Examined seen;
  seen.defect = find_defect(row, options.device);
  if (seen.defect) return seen;
  if (baseline) {
    seen.disturbed = row.tags.contains(kThrottledTag) || row.tags.contains(kForeignTag);
    seen.other_canary =
        row.canary && baseline->canary && row.canary->kind != baseline->canary->kind;
    if (!seen.other_canary) seen.compared = compare(row, *baseline, options.device);
    if (seen.compared && options.device == Device::gpu && row.kind == Kind::ours)
      seen.vendor_speedup = vendor_speedup(row, *baseline, run, file);
  }
  seen.roof = roof_share(row, options.ceilings);
  // A different host may be faster than the ceilings of the baseline's host.
  if (options.device == Device::gpu || options.other_machine.empty())
    seen.excess = roof_excess(row, options.ceilings);
  if (!seen.excess) return seen;
  seen.defect = Cause::beyond_roof;
  seen.compared.reset();
  return seen;
}

} // namespace kg::judge
