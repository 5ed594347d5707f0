// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/screen.h"

#include "perf/judge/limits.h"

#include <algorithm>
#include <cmath>

namespace kg::judge {
namespace {

struct Slowness {
  bool slow = false;
  double sureness = 0;   // standard errors
  double detectable = 0; // logarithm of the slow-down
};

TrimmedMean log_mean(const std::vector<double>& process_medians) {
  std::vector<double> logs;
  for (const double ns : process_medians) logs.push_back(std::log(ns));
  return trimmed_mean(logs, logs.size() / 5);
}

// Yuen and Dixon (1973): two trimmed samples with a pooled variance, from the winsorised squares of
// both and their degrees of freedom.
Slowness by_processes(const Measured& measured, const TimingRow& baseline, double scale) {
  const TrimmedMean now = log_mean(measured.process_medians_ns);
  const TrimmedMean then = log_mean(baseline.process_medians_ns);
  const double dof = now.dof + then.dof;
  const double sd = std::max(kLeastScatter, std::sqrt((now.squares + then.squares) / dof));
  const double error = sd * std::sqrt(1 / (now.dof + 1) + 1 / (then.dof + 1));
  const double border = std::max(std::log1p(baseline.tol_pct / 200),
                                 student_t_quantile(1 - kScreenAlpha, dof) * error);
  const double slower = now.mean - then.mean - std::log(scale);
  return {slower > border, slower / error, border + student_t_quantile(kPower, dof) * error};
}

Slowness by_line(const Measured& measured, const TimingRow& baseline, double scale, double line) {
  const double ratio = scale * baseline.median_ns / measured.median_ns;
  const double error = std::max(kLeastScatter, half_width(measured.ci_ns, measured.median_ns));
  return {ratio < line, -std::log(ratio) / error, -std::log(line)};
}

class Screen {
 public:
  Screen(const Comparison& comparison, const Measured& measured, const TimingRow& baseline,
         Device device, bool other_machine)
      : found_(comparison), measured_(measured), baseline_(baseline), limit_(limits(device)),
        host_(device == Device::host), other_machine_(host_ && other_machine),
        tolerated_(1 / (1 + baseline.tol_pct / 100)),
        few_(std::min(measured.process_medians_ns.size(), baseline.process_medians_ns.size()) <
             kScreenProcesses) {}

  // `scale`: the canary's drift, or 1 for plain times.
  Slowness slowness(double scale) const {
    if (few_ && !host_) return by_line(measured_, baseline_, scale, tolerated_);
    Slowness line = by_line(measured_, baseline_, scale, kSuspicious);
    if (few_ || other_machine_) return line;
    Slowness processes = by_processes(measured_, baseline_, scale);
    processes.slow = processes.slow || line.slow;
    return processes;
  }

  Opinion opinion(const Slowness& normalised) const {
    if (found_.canary && !found_.healthy) return beside_sick_canary(normalised);
    if (found_.healthy && found_.ratio < limit_.fails &&
        found_.interval.high < (host_ ? limit_.fails : tolerated_))
      return {Verdict::regressed, Cause::far_slower, other_machine_, normalised.sureness};
    if (normalised.slow) return {Verdict::inconclusive, Cause::slower, true, normalised.sureness};
    if (improved()) return {Verdict::improved, Cause::faster};
    return {Verdict::pass, Cause::within};
  }

  Border border() const {
    if (host_ && (few_ || other_machine_)) return Border::line;
    return few_ ? Border::tolerance : Border::half_tolerance;
  }

 private:
  Opinion beside_sick_canary(const Slowness& normalised) const {
    const bool slow = slowness(1).slow;
    if (slow && normalised.slow)
      return {Verdict::inconclusive, Cause::slow_beside_sick_canary, true, normalised.sureness};
    if (!host_ && !slow && !normalised.slow) return {Verdict::pass, Cause::within};
    // A confirmation on a host interleaves the builds' processes and needs no canary. On a GPU it
    // needs the same quiet device as the canary.
    return {Verdict::env, Cause::sick_canary, host_, normalised.sureness};
  }

  bool improved() const {
    return host_ ? found_.ratio > kHostImproves
                 : found_.interval.low > std::max(kGpuImproves, 1 / tolerated_);
  }

  const Comparison& found_;
  const Measured& measured_;
  const TimingRow& baseline_;
  const Limits& limit_;
  bool host_;
  bool other_machine_;
  double tolerated_;
  bool few_; // too few processes for a test
};

} // namespace

Opinion screen(const Comparison& comparison, const Measured& measured, const TimingRow& baseline,
               Device device, bool other_machine) {
  Opinion opinion = {Verdict::inconclusive, Cause::few_samples};
  if (measured.samples_ns.size() >= kFewestSamples) {
    const Screen screen(comparison, measured, baseline, device, other_machine);
    const Slowness normalised = screen.slowness(comparison.scale);
    opinion = screen.opinion(normalised);
    opinion.border = screen.border();
    opinion.detectable_pct = 100 * std::expm1(normalised.detectable);
  }
  opinion.modes = modes(measured.process_medians_ns, limits(device).bimodal_gap);
  return opinion;
}

} // namespace kg::judge
