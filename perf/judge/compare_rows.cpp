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

std::string about_canary(const Comparison& found, const Measured& measured) {
  return fmt::format("the {} canary takes {:.2f}x its blessed time, known to +-{:.1f} %",
                     name(measured.canary->kind), found.drift, 100 * measured.canary->half_width);
}

Opinion screen_host(const Comparison& found, const Measured& measured) {
  if (!found.healthy)
    return {
        Verdict::env, false,
        fmt::format("this machine cannot be compared with the blessed one: {} (limits {:g}x and "
                    "+-{:g} %)",
                    about_canary(found, measured), kHostLimits.canary_factor,
                    100 * kHostLimits.canary_half_width)};
  if (found.interval.high < kHostFails)
    return {Verdict::regressed, false,
            fmt::format("slower than {:.2f} of the baseline in canary units; {}", kHostFails,
                        about_canary(found, measured))};
  if (found.ratio < kHostFails)
    return {Verdict::inconclusive, false,
            fmt::format("slower than {:.2f} of the baseline in canary units, but too noisy to be "
                        "sure",
                        kHostFails)};
  if (found.ratio < kHostWarns)
    return {Verdict::pass, true,
            fmt::format("warning: below {:.2f} of the baseline in canary units; host rows fail "
                        "below {:.2f}",
                        kHostWarns, kHostFails)};
  if (found.ratio > kHostImproves)
    return {Verdict::improved, false, "faster than the baseline in canary units; consider a bless"};
  return {Verdict::pass, false, "within the host's tolerance"};
}

Opinion screen_gpu(const Comparison& found, const Measured& measured, const TimingRow& baseline) {
  const double tolerated = 1 / (1 + baseline.tol_pct / 100);
  // With a drifted canary neither time nor normalised time is sure: a row passes only if it does in
  // both.
  const double raw = baseline.median_ns / measured.median_ns;
  const bool another_machine = found.canary && !found.healthy;
  if (another_machine && std::min(raw, found.ratio) < tolerated)
    return {Verdict::env, false,
            fmt::format("slower than its tolerance of {:g} %, but so may the machine be: {}",
                        baseline.tol_pct, about_canary(found, measured))};
  if (found.ratio < kGpuFails && found.interval.high < tolerated && found.healthy)
    return {Verdict::regressed, false,
            fmt::format("slower than {:.2f} of the baseline beside a healthy machine; {}",
                        kGpuFails, about_canary(found, measured))};
  if (found.ratio < tolerated)
    return {Verdict::inconclusive, false,
            fmt::format("slower than its tolerance of {:g} %; one run cannot confirm that",
                        baseline.tol_pct)};
  if (!another_machine && found.interval.low > std::max(kGpuImproves, 1 + baseline.tol_pct / 100))
    return {Verdict::improved, false, "faster than the baseline; consider a bless"};
  return {Verdict::pass, false, fmt::format("within its tolerance of {:g} %", baseline.tol_pct)};
}

} // namespace

std::optional<std::string> defect(const Measured& row, Device device) {
  if (!row.verified.empty())
    return fmt::format("its output is wrong ({}); a time for a wrong result means nothing",
                       row.verified);
  if (row.samples_ns.empty()) return "it has no samples";
  if (!std::all_of(row.samples_ns.begin(), row.samples_ns.end(), is_time) ||
      row.process_medians_ns.empty() ||
      !std::all_of(row.process_medians_ns.begin(), row.process_medians_ns.end(), is_time))
    return "it has samples that are no times";
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
  const double scale = normalise ? found.drift : 1;
  found.ratio = scale * baseline.median_ns / measured.median_ns;
  found.interval = {scale * baseline.ci_ns.low / measured.ci_ns.high,
                    scale * baseline.ci_ns.high / measured.ci_ns.low};
  return found;
}

Opinion screen(const Comparison& comparison, const Measured& measured, const TimingRow& baseline,
               Device device) {
  if (measured.samples_ns.size() < kFewestSamples)
    return {
        Verdict::inconclusive, false,
        fmt::format("fewer than {} samples have no 99 % interval; measure longer", kFewestSamples)};
  return device == Device::host ? screen_host(comparison, measured)
                                : screen_gpu(comparison, measured, baseline);
}

} // namespace kg::judge
