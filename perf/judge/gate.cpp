// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/gate.h"

#include "perf/judge/compare_rows.h"
#include "perf/judge/screen.h"
#include "perf/judge/wording.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace kg::judge {
namespace {

const TimingRow* find(const TimingFile& file, const RowKey& key) {
  const auto at = std::find_if(file.rows.begin(), file.rows.end(),
                               [&](const TimingRow& row) { return row.key == key; });
  return at == file.rows.end() ? nullptr : &*at;
}

struct Judged {
  RowResult result;
  Evidence evidence;
};

// `row` is what was measured for `wanted`, or null. `file` is the operation's, or null if the row
// is not registered.
Judged judge_row(const Registered& wanted, const Measured* row, const TimingFile* file,
                 const std::vector<Measured>& run, const GateOptions& options) {
  Evidence evidence = {.file = file, .row = row};
  if (file && options.no_device.empty()) evidence.baseline = find(*file, wanted.key);
  if (row) evidence.seen = examine(*row, evidence.baseline, run, *file, options);
  if (evidence.seen.compared)
    evidence.screened = screen(*evidence.seen.compared, *row, *evidence.baseline, options.device,
                               !options.other_machine.empty());
  RowResult result = decide(wanted, evidence, options);
  return {std::move(result), std::move(evidence)};
}

// Strictness applies to one test at a time, and a test is an operation with a type. A run of many
// tests must not hide the result of one.
int exit_of(const GateResult& result, bool strict) {
  std::map<std::pair<std::string, std::string>, std::vector<RowExit>> tests;
  for (const RowResult& row : result.rows)
    tests[{row.op, row.dtype}].push_back({row.exit_code, row.informs});
  std::vector<int> exits;
  for (const auto& [test, rows] : tests) exits.push_back(exit_of_rows(rows, strict));
  if (!result.faults.empty()) exits.push_back(kExitFail);
  return combined_exit(exits, strict);
}

std::map<RowKey, const Measured*> by_key(const std::vector<Measured>& measured, RunFaults& faults) {
  std::map<RowKey, const Measured*> rows;
  for (const Measured& row : measured)
    if (!rows.emplace(row.key, &row).second) faults.repeated.push_back(row.key);
  return rows;
}

} // namespace

void set_exit(GateResult& result, bool strict) {
  std::erase(result.notes, kStrictNote);
  result.exit_code = exit_of(result, strict);
  if (strict && result.exit_code != exit_of(result, false)) result.notes.emplace_back(kStrictNote);
}

GateResult judge(const std::vector<Measured>& measured,
                 const std::map<std::string, TimingFile>& baselines,
                 const std::vector<Registered>& registered, const GateOptions& options) {
  RunFaults faults;
  const std::map<RowKey, const Measured*> rows = by_key(measured, faults);
  std::set<RowKey> known;
  for (const Registered& row : registered) known.insert(row.key);
  for (const auto& [op, file] : baselines) {
    for (const Problem& problem : file.problems) faults.problems.push_back(problem);
    for (const TimingRow& row : file.rows)
      if (!options.filtered && is_orphan(row, known)) faults.orphans.emplace_back(&file, &row);
  }
  const TimingFile no_file;
  std::vector<Judged> all;
  for (const Registered& row : registered) {
    if (!row.selected) continue;
    const auto file = baselines.find(row.op);
    const auto found = rows.find(row.key);
    all.push_back(judge_row(row, found == rows.end() ? nullptr : found->second,
                            file == baselines.end() ? &no_file : &file->second, measured, options));
  }
  Evidence unregistered;
  for (const auto& [key, row] : rows)
    if (!known.contains(key))
      all.push_back(
          {decide({row->op, row->dtype, key, row->category, row->kind}, unregistered, options),
           {}});
  faults.no_rows = all.empty() && rows.empty();

  GateResult result;
  for (Judged& row : all) {
    word(row.result, row.evidence, options);
    result.rows.push_back(std::move(row.result));
  }
  word_run(result, faults, options);
  set_exit(result, options.strict);
  return result;
}

} // namespace kg::judge
