// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/gate.h"

#include "perf/judge/compare_rows.h"
#include "perf/judge/screen.h"
#include "perf/judge/wording.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace kg::judge {
namespace {

const TimingRow* find(const TimingFile& file, const RowKey& key) {
  const auto at = std::find_if(file.rows.begin(), file.rows.end(),
                               [&](const TimingRow& row) { return row.key == key; });
  return at == file.rows.end() ? nullptr : &*at;
}

// Wrong output of ours is a failure, whatever a file says of the row; a library's is nobody's here,
// blessed or not, but must be seen.
void inform(RowResult& result) {
  result.informs = true;
  result.warning = result.verdict == Verdict::invalid;
  if (result.kind == Kind::vendor || result.verdict != Verdict::invalid)
    result.exit_code = kExitPass;
}

// An xfail row is expected to be slower, but not to be wrong, and undecided it is as any other row.
void expect_failure(RowResult& result) {
  if (result.verdict == Verdict::regressed) result.exit_code = kExitPass;
  result.warning =
      result.warning || result.verdict == Verdict::pass || result.verdict == Verdict::improved;
}

// What the screen says, and what overrules it.
Opinion opinion_of(const Examined& seen, const Measured& row, const TimingRow& baseline,
                   const GateOptions& options) {
  const bool host = options.device == Device::host;
  Opinion opinion =
      screen(seen.found, row, baseline, options.device, !options.other_machine.empty());
  const auto overrule = [&](Verdict verdict, Cause cause, bool suspicious) {
    opinion.verdict = verdict;
    opinion.cause = cause;
    opinion.suspicious = suspicious;
    if (!suspicious) opinion.suspicion = 0;
  };
  if (seen.disturbed) {
    overrule(Verdict::env, Cause::disturbed, false);
    return opinion;
  }
  if (seen.standing && seen.standing->dropped(baseline.tol_pct) && !opinion.suspicious &&
      opinion.verdict != Verdict::regressed)
    overrule(Verdict::inconclusive, Cause::lost_ground, true);
  // Of what runs on the device only: a call's time on a GPU has the host's code in it, and how a
  // library is called is no part of its version.
  const bool all_in_identity = row.kind == Kind::ours && (host || row.key.mode != Mode::real);
  // What the screen could not compare, it did not see slower.
  if ((opinion.suspicious || opinion.verdict == Verdict::regressed) && all_in_identity &&
      seen.found.code == Same::yes)
    overrule(Verdict::env,
             opinion.verdict == Verdict::env ? Cause::sick_canary_same_code
                                             : Cause::slower_same_code,
             false);
  // A host's screen often misses a slow-down of a tenth; side by side, even one of a twentieth is
  // mostly found, and otherwise called undecided. That is worth its minutes where the code changed.
  if (host && all_in_identity && opinion.verdict == Verdict::pass &&
      options.other_machine.empty() && seen.found.code == Same::no)
    overrule(Verdict::pass, Cause::within_other_code, true);
  return opinion;
}

void compare_with_baseline(RowResult& result, const Examined& seen, const Opinion& opinion,
                           const TimingRow& baseline) {
  const Comparison& found = seen.found;
  result.suspicious = opinion.suspicious && baseline.status == Status::gate;
  result.suspicion = opinion.suspicion;
  result.healthy = found.healthy;
  result.border = opinion.border;
  result.standing = seen.standing;
  result.shown_ratio = found.ratio;
  result.ratio_interval = found.interval;
  // Of a machine in doubt, the ratio is shown, but it is no grade of the kernel.
  if (opinion.verdict != Verdict::env && !(found.canary && !found.healthy && opinion.suspicious))
    result.ratio = found.ratio;
  conclude(result, opinion.verdict, opinion.cause);
}

struct Judged {
  RowResult result;
  Evidence evidence;
};

// `row` is what was measured for `wanted`, or null; `file` is its op's baseline file.
Judged judge_row(const Registered& wanted, const Measured* row, const TimingFile& file,
                 const std::vector<Measured>& run, const GateOptions& options) {
  const TimingRow* baseline = find(file, wanted.key);
  Judged judged = {result_for(wanted), {.file = &file, .row = row, .baseline = baseline}};
  auto& [result, evidence] = judged;
  Examined& seen = evidence.seen;
  if (row) seen = examine(*row, baseline, run, file, options);
  if (baseline) result.baseline_ns = baseline->median_ns;
  if (!file.problems.empty()) {
    conclude(result, Verdict::invalid, Cause::malformed);
  } else if (!row) {
    conclude(result, Verdict::invalid, Cause::not_measured);
  } else if (!row->skipped.empty()) {
    conclude(result, Verdict::skipped, Cause::skipped);
  } else if (seen.defect) {
    conclude(result, Verdict::invalid, *seen.defect);
  } else if (baseline) {
    result.measured_ns = row->median_ns;
    result.tol_pct = baseline->tol_pct;
    if (seen.other_canary) {
      conclude(result, Verdict::invalid, Cause::other_canary);
    } else {
      evidence.screened = opinion_of(seen, *row, *baseline, options);
      compare_with_baseline(result, seen, evidence.screened, *baseline);
    }
  } else {
    result.measured_ns = row->median_ns;
    conclude(result, Verdict::unblessed, Cause::unblessed);
    // An op that nobody has blessed here is nobody's fault; a row that its file lacks, or with its
    // file, would go unjudged for ever.
    if ((file.exists || file.missing) && !result.informs) result.exit_code = kExitFail;
  }
  // Of a library's row that was not measured nothing is known, and that fails as any other.
  const bool wrong_vendor =
      row && result.kind == Kind::vendor && result.verdict == Verdict::invalid;
  evidence.informs = wrong_vendor || (baseline && baseline->status == Status::info);
  if (evidence.informs) inform(result);
  if (baseline && baseline->status == Status::xfail) expect_failure(result);
  return judged;
}

Judged concluded(RowResult result, Verdict verdict, Cause cause) {
  conclude(result, verdict, cause);
  return {std::move(result), {}};
}

// Strictness works on one test at a time, and a test is an op with a dtype: a run of many must not
// hide what each would show.
int exit_of(const GateResult& result, bool strict) {
  std::map<std::pair<std::string, std::string>, std::vector<RowExit>> tests;
  for (const RowResult& row : result.rows)
    tests[{row.op, row.dtype}].push_back({row.exit_code, row.informs});
  std::vector<int> exits;
  for (const auto& [test, rows] : tests) exits.push_back(exit_of_rows(rows, strict));
  if (!result.faults.empty()) exits.push_back(kExitFail);
  return combined_exit(exits, strict);
}

void find_orphans(GateResult& result, const std::map<std::string, TimingFile>& baselines,
                  const std::set<RowKey>& registered) {
  for (const auto& [op, file] : baselines)
    for (const TimingRow& row : file.rows)
      if (is_orphan(row, registered))
        result.faults.push_back(text(
            Problem{file.path, row.line,
                    fmt::format("the row '{}' is an orphan: no such case is "
                                "registered",
                                text(row.key)),
                    fmt::format("remove it: kernelgrade bless --op {} --remove-orphans", op)}));
}

// All measured rows by key; those that repeat another are faults.
std::map<RowKey, const Measured*> by_key(const std::vector<Measured>& measured,
                                         GateResult& result) {
  std::map<RowKey, const Measured*> rows;
  for (const Measured& row : measured)
    if (!rows.emplace(row.key, &row).second)
      result.faults.push_back(
          fmt::format("{}: measured twice; merge runs before judging them", text(row.key)));
  return rows;
}

} // namespace

void set_exit(GateResult& result, bool strict) {
  constexpr std::string_view kStrict =
      "strict (KERNELGRADE_STRICT): a test that would be skipped fails";
  std::erase(result.notes, kStrict);
  result.exit_code = exit_of(result, strict);
  if (strict && result.exit_code != exit_of(result, false)) result.notes.emplace_back(kStrict);
}

GateResult judge(const std::vector<Measured>& measured,
                 const std::map<std::string, TimingFile>& baselines,
                 const std::vector<Registered>& registered, const GateOptions& options) {
  GateResult result;
  std::map<RowKey, const Measured*> rows = by_key(measured, result);
  for (const auto& [op, file] : baselines)
    for (const Problem& problem : file.problems) result.faults.push_back(text(problem));

  std::set<RowKey> known;
  bool any_selected = false;
  for (const Registered& row : registered) {
    known.insert(row.key);
    any_selected = any_selected || row.selected;
  }
  if (!options.filtered) find_orphans(result, baselines, known);
  if (!any_selected && rows.empty())
    result.faults.push_back("no rows: the filters select nothing, and a gate that judges nothing "
                            "must not pass; kernelgrade list shows what there is");

  if (!options.no_device.empty()) {
    result.notes.push_back(options.no_device);
    if (options.require_gpu)
      result.faults.push_back(
          options.no_device +
          "; a GPU was promised (KERNELGRADE_REQUIRE_GPU): give one to this job");
  }
  const TimingFile no_file;
  std::vector<Judged> all;
  for (const Registered& row : registered) {
    if (!row.selected) continue;
    if (!options.no_device.empty()) {
      all.push_back(concluded(result_for(row), Verdict::skipped, Cause::no_device));
      continue;
    }
    const auto file = baselines.find(row.op);
    const auto found = rows.find(row.key);
    all.push_back(judge_row(row, found == rows.end() ? nullptr : found->second,
                            file == baselines.end() ? no_file : file->second, measured, options));
  }
  for (const auto& [key, row] : rows)
    if (!known.contains(key))
      all.push_back(concluded(result_for(*row), Verdict::invalid, Cause::not_registered));
  for (Judged& row : all) {
    word(row.result, row.evidence, options);
    result.rows.push_back(std::move(row.result));
  }
  set_exit(result, options.strict);
  return result;
}

} // namespace kg::judge
