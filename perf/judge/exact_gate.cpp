// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_gate.h"

#include "perf/format/sinks.h"
#include "perf/judge/exact_wording.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kg::judge {
namespace {

using Key = std::vector<std::string>;

// Informational: the row can neither regress nor improve the test.
bool informs(const ExactMeasured& now, const ExactRow& old) {
  return now.gating == Gating::never ||
         (now.gating == Gating::same_counter && old.counter_id != now.row.counter_id);
}

void conclude(ExactVerdict& result, Verdict verdict, ExactCause cause) {
  result.verdict = verdict;
  result.cause = cause;
  result.exit_code = usual_exit(verdict);
}

ExactVerdict judge_row(const ExactEvidence& evidence, const ExactOptions& options) {
  const auto& [table, file, now, old, found] = evidence;
  ExactVerdict result;
  result.key = now->row.key;
  if (old) result.baseline = old->values;
  if (!now->fault.empty()) {
    conclude(result, Verdict::invalid, ExactCause::fault);
  } else if (!are_numbers(*table, now->row)) {
    conclude(result, Verdict::invalid, ExactCause::not_a_number);
  } else if (is_below_minimum(*table, now->row)) {
    conclude(result, Verdict::invalid, ExactCause::below_minimum);
  } else if (!file->problems.empty()) {
    conclude(result, Verdict::invalid, ExactCause::malformed);
  } else if (!old) {
    conclude(result, Verdict::unblessed, ExactCause::unblessed);
    // Counts depend on no device, so no baseline file may be missing: deleting one must not switch
    // its gate off.
    if (!options.unknown_compiler) result.exit_code = kExitFail;
  } else {
    conclude(result,
             found.worse    ? Verdict::regressed
             : found.better ? Verdict::improved
                            : Verdict::pass,
             ExactCause::compared);
    result.ratio = found.ratio;
    result.grade = grade(found.ratio);
    result.changed = !found.changes.empty();
    result.informs = informs(*now, *old);
    if (result.informs) result.exit_code = kExitPass;
  }
  return result;
}

} // namespace

ExactComparison compare_exact(const ExactTable& table, const ExactRow& old, const ExactRow& now) {
  ExactComparison found;
  bool compared = false;
  for (std::size_t i = 0; i < table.quantities.size(); ++i) {
    const Quantity& quantity = table.quantities[i];
    if (std::isnan(now.values.at(i)) && quantity.optional) continue;
    const double before = as_written(old.values.at(i)), after = as_written(now.values.at(i));
    const bool gates = quantity.better != Better::neither;
    const bool lower = quantity.better == Better::lower;
    const bool worse = gates && (lower ? after > before : after < before);
    if (before != after) found.changes.push_back({&quantity, before, after, worse});
    if (!gates) continue;
    found.worse = found.worse || worse;
    found.better = found.better || (lower ? after < before : after > before);
    const double ratio = lower ? cost_ratio(before, after) : cost_ratio(after, before);
    found.ratio = compared ? std::min(found.ratio, ratio) : ratio;
    compared = true;
  }
  return found;
}

ExactResult judge_exact(const ExactTable& table, const std::vector<ExactMeasured>& measured,
                        const ExactFile& baseline, const Covers& covers,
                        const ExactOptions& options) {
  std::map<Key, const ExactRow*> blessed;
  for (const ExactRow& row : baseline.rows) blessed.emplace(row.key, &row);
  ExactResult result;
  ExactFaults faults;
  std::vector<ExactEvidence> evidence; // of result.rows
  std::set<Key> seen;
  for (const ExactMeasured& now : measured) {
    if (!seen.insert(now.row.key).second) faults.repeated.push_back(&now.row);
    const auto at = blessed.find(now.row.key);
    const ExactRow* const old = at == blessed.end() ? nullptr : at->second;
    evidence.push_back({&table, &baseline, &now, old, {}});
    if (old && are_numbers(table, now.row))
      evidence.back().found = compare_exact(table, *old, now.row);
    result.rows.push_back(judge_row(evidence.back(), options));
  }
  for (const ExactRow& row : baseline.rows)
    if (!seen.contains(row.key) && (!covers || covers(row))) faults.orphans.push_back(&row);

  for (std::size_t i = 0; i < evidence.size(); ++i) word(result.rows[i], evidence[i], options);
  result.faults = sentences(faults, table, baseline, measured.empty(), options);

  std::vector<RowExit> exits;
  for (const ExactVerdict& row : result.rows) exits.push_back({row.exit_code, row.informs});
  result.exit_code = result.faults.empty() ? exit_of_rows(exits, options.strict) : kExitFail;
  return result;
}

std::string plain_text(const ExactResult& result) {
  std::string lines;
  VerdictCounts counts;
  std::size_t unblessed = 0;
  for (const ExactVerdict& row : result.rows) {
    counts.add(row.verdict, {row.exit_code, row.informs});
    if (row.verdict == Verdict::unblessed && ++unblessed > 1) continue; // all have the same reason
    if (row.verdict != Verdict::pass || row.changed) lines += for_console(row.message) + "\n";
  }
  for (const std::string& fault : result.faults) lines += for_console(fault) + "\n";
  const std::size_t faults = result.faults.size();
  const std::string faulty =
      faults == 0 ? "" : fmt::format(", {} fault{}", faults, faults == 1 ? "" : "s");
  return lines + fmt::format("{}{} (exit {})\n", text(counts), faulty, result.exit_code);
}

} // namespace kg::judge
