// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/compare_results.h"

#include "perf/judge/compare_rows.h"
#include "perf/judge/limits.h"
#include "perf/judge/wording.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace kg::judge {
namespace {

// ln (A / B) of two sets of process medians. Bounds and error in the same logarithm.
struct Welch {
  double difference = 0;
  Interval bounds;
  double detectable = 0; // beyond the tolerance
};

TrimmedMean log_mean(std::span<const double> medians_ns) {
  std::vector<double> logs;
  for (const double ns : medians_ns) logs.push_back(std::log(ns));
  return trimmed_mean(logs, 0);
}

// Degrees of freedom by Welch and Satterthwaite.
Welch welch(std::span<const double> a_ns, std::span<const double> b_ns, double alpha) {
  const TrimmedMean a = log_mean(a_ns), b = log_mean(b_ns);
  const double of_a = a.error * a.error, of_b = b.error * b.error;
  const double error = std::sqrt(of_a + of_b);
  Welch found;
  found.difference = a.mean - b.mean;
  found.bounds = {found.difference, found.difference};
  if (error == 0) return found; // every process took the same time
  const double dof = (of_a + of_b) * (of_a + of_b) / (of_a * of_a / a.dof + of_b * of_b / b.dof);
  const double t = student_t_quantile(1 - alpha, dof);
  found.bounds = {found.difference - t * error, found.difference + t * error};
  found.detectable = (t + student_t_quantile(kPower, dof)) * error;
  return found;
}

// A as a baseline row, so that compare() of compare_rows.h applies its rules for canaries.
TimingRow baseline_of(const Measured& a) {
  TimingRow row;
  row.key = a.key;
  row.median_ns = a.median_ns;
  row.ci_ns = a.ci_ns;
  if (a.canary) row.canary = Canary{a.canary->kind, a.canary->median_ns};
  return row;
}

// A defect or difference because of which the two rows cannot be compared.
struct Obstacle {
  Verdict verdict;
  Cause cause;
  char side = 0; // 'A' or 'B', if one of the rows has the defect
};

std::optional<Obstacle> obstacle(const Measured& a, const Measured& b) {
  for (const auto& [row, side] : {std::pair(&a, 'A'), std::pair(&b, 'B')}) {
    if (!row->skipped.empty()) return Obstacle{Verdict::skipped, Cause::skipped, side};
    // Not Device::host: results of other tools have no canary, and are compared in time.
    if (const auto defect = find_defect(*row, Device::gpu))
      return Obstacle{Verdict::invalid, *defect, side};
  }
  if (a.kind != b.kind) return Obstacle{Verdict::invalid, Cause::other_kind};
  if (a.canary && b.canary && a.canary->kind != b.canary->kind)
    return Obstacle{Verdict::invalid, Cause::other_canary};
  return std::nullopt;
}

Interval exponential(Interval logs, double scale) {
  return {scale * std::exp(logs.low), scale * std::exp(logs.high)};
}

void conclude_from(RowResult& result, Interval ratio, double tol_pct) {
  const double tolerated = 1 + tol_pct / 100;
  if (ratio.high < 1 / tolerated) return conclude(result, Verdict::regressed, Cause::slower);
  if (ratio.low > tolerated) return conclude(result, Verdict::improved, Cause::faster);
  if (ratio.low > 1 / tolerated) return conclude(result, Verdict::pass, Cause::within);
  conclude(result, Verdict::inconclusive, Cause::undecided);
}

// Requires rows without obstacles. Returns the canary's time for B over that for A.
double judge_row(ComparedRow& row, const Measured& a, const Measured& b, const CompareRule& rule,
                 double tol_pct) {
  const Comparison found = compare(b, baseline_of(a), rule.device);
  RowResult& result = row.result;
  result.ratio = found.ratio;
  result.ratio_interval = found.interval;
  const bool replicated = std::min(row.a_processes, row.b_processes) > 1;
  if (replicated) {
    const Welch test = welch(a.process_medians_ns, b.process_medians_ns, rule.alpha);
    const double scale = found.ratio * b.median_ns / a.median_ns; // of the canaries, or 1
    result.ratio = scale * std::exp(test.difference);
    result.ratio_interval = exponential(test.bounds, scale);
    row.detectable_pct = 100 * ((1 + tol_pct / 100) * std::exp(test.detectable) - 1);
  }
  const bool healthy =
      found.healthy && a.canary->half_width <= limits(rule.device).canary_half_width;
  if (found.canary && !healthy &&
      (rule.device == Device::host || result.ratio_interval.low < 1 / (1 + tol_pct / 100)))
    conclude(result, Verdict::env, Cause::canaries_differ);
  else if (!replicated)
    conclude(result, Verdict::inconclusive, Cause::few_processes);
  else
    conclude_from(result, result.ratio_interval, tol_pct);
  return found.drift;
}

ComparedRow compare_row(const Measured& a, const Measured& b, const CompareRule& rule,
                        const ComparedResults& whole) {
  ComparedRow row;
  row.result = result_for(b);
  row.a_processes = a.process_medians_ns.size();
  row.b_processes = b.process_medians_ns.size();
  row.result.baseline_ns = a.median_ns;
  row.result.measured_ns = b.median_ns;
  PairEvidence evidence = {.a = &a, .b = &b, .tol_pct = whole.tol_pct};
  if (const auto found = obstacle(a, b)) {
    evidence.obstacle = found->side;
    conclude(row.result, found->verdict, found->cause);
  } else if (whole.across_devices) {
    row.result.ratio = a.median_ns / b.median_ns;
    row.result.ratio_interval = {a.ci_ns.low / b.ci_ns.high, a.ci_ns.high / b.ci_ns.low};
    conclude(row.result, Verdict::env, Cause::other_device);
  } else {
    evidence.canary_drift = judge_row(row, a, b, rule, whole.tol_pct);
  }
  // A library's time may change with its version, which is not a regression of our kernels.
  row.result.informs = whole.across_devices || (a.kind == Kind::vendor && b.kind == Kind::vendor);
  if (row.result.informs) row.result.exit_code = kExitPass;
  word_pair(row.result, evidence);
  return row;
}

std::map<std::string, std::pair<std::string, std::string>> differences(const Results& a,
                                                                       const Results& b) {
  std::map<std::string, std::pair<std::string, std::string>> found;
  for (const auto& [key, value] : a.environment) found[key].first = value;
  for (const auto& [key, value] : b.environment) found[key].second = value;
  std::erase_if(found, [](const auto& entry) {
    return entry.first == "date_utc" || entry.second.first == entry.second.second;
  });
  return found;
}

const Measured* find(const Results& run, const RowKey& key) {
  const auto at = std::find_if(run.rows.begin(), run.rows.end(),
                               [&](const Measured& row) { return row.key == key; });
  return at == run.rows.end() ? nullptr : &*at;
}

} // namespace

ComparedResults compare(const Results& a, const Results& b, const CompareRule& rule) {
  ComparedResults compared;
  compared.tol_pct = rule.tol_pct.value_or(limits(rule.device).tol_pct);
  compared.environment = differences(a, b);
  compared.across_devices = compared.environment.contains("device");
  for (const Measured& row : a.rows) {
    if (const Measured* other = find(b, row.key))
      compared.rows.push_back(compare_row(row, *other, rule, compared));
    else
      compared.only_a.push_back(row.key);
  }
  for (const Measured& row : b.rows)
    if (!find(a, row.key)) compared.only_b.push_back(row.key);
  return compared;
}

int exit_code(const ComparedResults& compared, bool strict) {
  // A row that one file lacks was not compared.
  if (!compared.only_a.empty() || !compared.only_b.empty()) return kExitFail;
  // A comparison across devices gates nothing.
  if (compared.across_devices && !compared.rows.empty()) return strict ? kExitFail : kExitPass;
  std::vector<RowExit> exits;
  for (const ComparedRow& row : compared.rows)
    exits.push_back({row.result.exit_code, row.result.informs});
  return exits.empty() ? kExitFail : exit_of_rows(exits, strict);
}

GateResult as_gate(const ComparedResults& compared, const Results& a, const Results& b,
                   bool strict) {
  GateResult gate;
  for (const ComparedRow& row : compared.rows) {
    gate.rows.push_back(row.result);
    if (row.result.verdict != Verdict::env) continue;
    gate.rows.back().ratio.reset(); // no grade of the kernel
    gate.rows.back().grade.reset();
  }
  for (const RowKey& key : compared.only_a) {
    gate.rows.push_back(result_for(*find(a, key)));
    conclude(gate.rows.back(), Verdict::invalid, Cause::only_in_a);
    word_pair(gate.rows.back(), PairEvidence{});
  }
  for (const RowKey& key : compared.only_b) {
    gate.rows.push_back(result_for(*find(b, key)));
    conclude(gate.rows.back(), Verdict::unblessed, Cause::only_in_b);
    gate.rows.back().exit_code = kExitFail;
    word_pair(gate.rows.back(), PairEvidence{});
  }
  if (gate.rows.empty()) gate.faults.emplace_back(kNoRowsInEither);
  set_exit(gate, strict);
  return gate;
}

} // namespace kg::judge
