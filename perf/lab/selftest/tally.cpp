// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/statistics.h"
#include "perf/lab/selftest/record.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace kg::selftest {
namespace {

constexpr double kLongNs = 100e3;
constexpr double kQuietPercent = 1;

std::vector<double> medians(const Processes& processes) {
  std::vector<double> result;
  for (const std::vector<double>& samples : processes) result.push_back(judge::median(samples));
  return result;
}

// Standard deviation of the logarithms of the processes' medians, in percent.
double process_sd(const Processes& processes) {
  std::vector<double> logs = medians(processes);
  if (logs.size() < 2) return 0;
  double sum = 0, squares = 0;
  for (double& value : logs) sum += value = std::log(value);
  const double mean = sum / static_cast<double>(logs.size());
  for (const double value : logs) squares += (value - mean) * (value - mean);
  return 100 * std::sqrt(squares / static_cast<double>(logs.size() - 1));
}

Call call_of(judge::Verdict verdict) {
  if (verdict == judge::Verdict::regressed) return Call::slower;
  if (verdict == judge::Verdict::improved) return Call::faster;
  return verdict == judge::Verdict::pass ? Call::same : Call::undecided;
}

// One rule's verdict on one check; for a creep, whether any step was detected.
using Decide = std::function<Call(const Check&)>;
Call call_of(std::vector<const Check*> checks, const Decide& decide) {
  Call last = Call::same;
  for (const Check* check : checks) {
    last = decide(*check);
    if (last == Call::slower) break;
  }
  return last;
}

// A row's checks that count as one: each by itself, but all steps of a creep together.
std::vector<std::vector<const Check*>> units(const CheckedRow& row) {
  std::vector<std::vector<const Check*>> result;
  for (const Check& check : row.checks)
    if (check.step > 1 && !result.empty() && result.back().front()->experiment == check.experiment)
      result.back().push_back(&check);
    else
      result.push_back({&check});
  return result;
}

} // namespace

std::vector<CalibrationRow> tally(const Batch& batch) {
  std::vector<CalibrationRow> counts;
  for (const CheckedRow& row : batch.rows) {
    const double sd = process_sd(row.blessed);
    std::vector<std::string> classes = {"all"};
    if (judge::median(medians(row.blessed)) >= kLongNs) classes.push_back("from_100us");
    if (sd <= kQuietPercent) classes.push_back("sd_to_1pct");
    const Processes& before = row.reference.empty() ? row.blessed : row.reference;
    for (const std::vector<const Check*>& unit : units(row)) {
      const auto count = [&](std::string_view rule, Call call) {
        for (const std::string& rows : classes)
          counts.push_back({batch.device, batch.backend, unit.front()->experiment, rows,
                            std::string(rule), 1, call == Call::slower, call == Call::undecided, sd,
                            batch.date_utc, batch.source});
      };
      count(kOurRule, call_of(unit, [](const Check& check) { return call_of(check.verdict); }));
      for (const Rule& rule : rivals()) {
        // The reference is a check of our gate, but is not compared with itself.
        const bool itself = unit.front()->screened == before;
        const bool enough = std::all_of(unit.begin(), unit.end(), [&](const Check* check) {
          return std::min(before.size(), check->screened.size()) >= rule.processes;
        });
        if (itself || !enough) continue;
        count(rule.name, call_of(unit, [&](const Check& check) {
                const auto first = [&](const Processes& all) {
                  return Processes(all.begin(),
                                   all.begin() + static_cast<std::ptrdiff_t>(rule.processes));
                };
                return rule.decide(first(before), first(check.screened));
              }));
      }
    }
  }
  return pool(counts);
}

} // namespace kg::selftest
