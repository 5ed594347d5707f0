// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/aggregates.h"

#include "perf/format/table.h"
#include "perf/judge/statistics.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace kg::report {
namespace {

using judge::GateResult;
using judge::RowResult;

void count(Success& success, int exit_code) {
  if (exit_code == judge::kExitPass)
    ++success.passed;
  else if (exit_code == judge::kExitSkip)
    ++success.skipped;
  else
    ++success.failed;
}

std::size_t all_of(const Success& success) {
  return success.passed + success.failed + success.skipped;
}

Success timings(const GateResult& result) {
  Success success{"timings of Kernelgrade"};
  for (const RowResult& row : result.rows)
    if (row.kind == judge::Kind::ours) count(success, row.exit_code);
  return success;
}

Success tests(const std::vector<CorrectnessRun>& runs) {
  Success success{"correctness tests"};
  for (const CorrectnessRun& run : runs) {
    success.passed += run.passed.size();
    success.failed += run.failed.size();
    success.skipped += run.skipped.size();
  }
  return success;
}

Success mutants(const std::vector<KillMatrix>& matrices) {
  Success success{"mutants"};
  for (const KillMatrix& matrix : matrices) {
    success.passed += killed(matrix);
    success.failed += matrix.mutants.size() - killed(matrix);
  }
  return success;
}

SpeedUp speed_up(std::string over, std::size_t of, std::vector<double> ratios) {
  SpeedUp found{std::move(over), of, ratios.size()};
  if (ratios.empty()) return found;
  std::sort(ratios.begin(), ratios.end());
  found.reached = static_cast<std::size_t>(
      std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio >= 1; }));
  found.geomean = judge::geometric_mean(ratios);
  found.median = judge::median(ratios);
  found.least = ratios.front();
  found.greatest = ratios.back();
  return found;
}

// Pairs of operation and type.
using Types = std::set<std::pair<std::string, std::string>>;

Types wrong_types(const Attachments& attachments) {
  Types wrong;
  for (const CorrectnessRun& run : attachments.correctness)
    if (!run.failed.empty()) wrong.emplace(run.op, run.dtype);
  return wrong;
}

std::size_t ours_of(const GateResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.rows.begin(), result.rows.end(),
                    [](const RowResult& row) { return row.kind == judge::Kind::ours; }));
}

void add(judge::TextTable& table, const SpeedUp& found) {
  const auto number = [&](double value) {
    return found.rows > 0 ? fmt::format("{:.3f}", value) : "-";
  };
  table.add({found.over, number(found.geomean), number(found.median), number(found.least),
             number(found.greatest), fmt::format("{} of {}", found.rows, found.of)});
}

} // namespace

void discredit_wrong(GateResult& result, const Attachments& attachments) {
  const Types wrong = wrong_types(attachments);
  for (RowResult& row : result.rows) {
    if (row.kind != judge::Kind::ours || !row.ratio || !wrong.contains({row.op, row.dtype}))
      continue;
    row.ratio.reset();
    row.grade.reset();
    row.message += fmt::format("; no grade: correctness tests of {}.{} fail", row.op, row.dtype);
  }
}

std::vector<Success> successes(const GateResult& result, const CountedSections& counted,
                               const Attachments& attachments) {
  std::vector<Success> found = {timings(result), tests(attachments.correctness),
                                mutants(attachments.mutants)};
  for (const CountedSection& section : counted) {
    Success& success = found.emplace_back(Success{section.name});
    for (const judge::ExactVerdict& row : section.result.rows) count(success, row.exit_code);
  }
  for (const SideBySide& compared : attachments.comparisons) {
    Success& success = found.emplace_back(Success{title(compared)});
    for (const ComparedPair& row : compared.rows) count(success, judge::usual_exit(row.verdict));
  }
  std::erase_if(found, [](const Success& success) { return all_of(success) == 0; });
  return found;
}

std::string rate_text(const Success& success) {
  const std::size_t judged = success.passed + success.failed;
  if (judged == 0) return "-";
  const std::size_t tenths = 1000 * success.passed / judged;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

SpeedUp over_baselines(const GateResult& result) {
  std::vector<double> ratios;
  for (const RowResult& row : result.rows)
    if (row.kind == judge::Kind::ours && row.ratio && row.verdict != judge::Verdict::invalid)
      ratios.push_back(*row.ratio);
  return speed_up("the baselines", ours_of(result), std::move(ratios));
}

SpeedUp over_vendor(const judge::Results& run, const GateResult& result,
                    const Attachments& attachments) {
  const Types wrong = wrong_types(attachments);
  std::set<judge::RowKey> invalid;
  for (const RowResult& row : result.rows)
    if (row.verdict == judge::Verdict::invalid) invalid.insert(row.key);
  std::vector<judge::Measured> right = run.rows;
  std::erase_if(right, [&](const judge::Measured& row) {
    return invalid.contains(row.key) ||
           (row.kind == judge::Kind::ours && wrong.contains({row.op, row.dtype}));
  });
  std::vector<double> ratios;
  if (device_of(run) == judge::Device::gpu)
    for (const auto& [key, ratio] : vendor_speedups(right)) ratios.push_back(ratio);
  return speed_up("the fastest vendor", ours_of(result), std::move(ratios));
}

std::string aggregates_markdown(const judge::Results& run, const GateResult& result,
                                const CountedSections& counted, const Attachments& attachments) {
  const std::vector<Success> found = successes(result, counted, attachments);
  if (found.empty()) return "";
  judge::TextTable success({"of", "passed", "failed", "skipped", "success rate"});
  for (const Success& each : found)
    success.add({each.what, std::to_string(each.passed), std::to_string(each.failed),
                 std::to_string(each.skipped), rate_text(each)});
  std::string text = success.markdown() + "\n";
  const SpeedUp baselines = over_baselines(result), vendor = over_vendor(run, result, attachments);
  if (baselines.of == 0) return text;
  judge::TextTable speed({"speed-up over", "mean", "median", "min", "max", "of our rows"});
  add(speed, baselines);
  if (vendor.rows > 0) add(speed, vendor);
  return text + speed.markdown() +
         "\nSpeed-up is the other's time divided by Kernelgrade's: above 1, Kernelgrade is faster. "
         "The mean is geometric. Against baselines of a CPU, both times are in units of the "
         "canary's time. Rows that are wrong, crashed or were not measured have no speed-up.\n\n";
}

nlohmann::json to_json(const Success& success) {
  return {{"what", success.what},
          {"passed", success.passed},
          {"failed", success.failed},
          {"skipped", success.skipped}};
}

} // namespace kg::report
