// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/gate.h"

#include "perf/judge/command.h"
#include "perf/judge/compare_rows.h"
#include "perf/judge/message.h"
#include "perf/judge/roof.h"
#include "perf/judge/screen.h"
#include "perf/judge/standing.h"

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
  result.message = "(info) " + result.message;
}

// An xfail row is expected to be slower, but not to be wrong, and undecided it is as any other row.
void expect_failure(RowResult& result, const TimingRow& baseline) {
  if (result.verdict == Verdict::regressed) {
    result.exit_code = kExitPass;
    result.message = fmt::format("(xfail, as expected: {}) {}", baseline.why, result.message);
  } else if (result.verdict == Verdict::pass || result.verdict == Verdict::improved) {
    result.warning = true;
    result.message =
        fmt::format("(xfail, but it passes: bless it with status gate) {}", result.message);
  }
}

// What the screen says, and what overrules it.
Opinion opinion_of(const Comparison& found, const Measured& row, const TimingRow& baseline,
                   const std::optional<Standing>& stands, const GateOptions& options) {
  const bool host = options.device == Device::host;
  Opinion opinion = screen(found, row, baseline, options.device, !options.other_machine.empty());
  if (const auto fault = disturbance(row)) {
    opinion = {Verdict::env, *fault + "; quieten the device and measure again", false, 0,
               opinion.detectable_pct};
    return opinion;
  }
  if (stands && stands->dropped(baseline.tol_pct) && !opinion.suspicious &&
      opinion.verdict != Verdict::regressed)
    opinion = {Verdict::inconclusive,
               fmt::format("has lost ground on {}, but is not confirmed", stands->vendor), true,
               opinion.suspicion, opinion.detectable_pct};
  // Of what runs on the device only: a call's time on a GPU has the host's code in it, and how a
  // library is called is no part of its version.
  const bool all_in_identity = row.kind == Kind::ours && (host || row.key.mode != Mode::real);
  if ((opinion.suspicious || opinion.verdict == Verdict::regressed) && all_in_identity &&
      same_identity(row, baseline) == Same::yes) {
    // What the screen could not compare, it did not see slower.
    const std::string words =
        opinion.verdict == Verdict::env
            ? opinion.words + "; its machine code and launches are those that were blessed"
            : "looks slower, but its machine code and launches are those that were blessed: the "
              "machine is slower, not the kernel";
    opinion = {Verdict::env, words, false, 0, opinion.detectable_pct};
  }
  // A host's screen often misses a slow-down of a tenth; side by side, even one of a twentieth is
  // mostly found, and otherwise called undecided. That is worth its minutes where the code changed.
  if (host && all_in_identity && opinion.verdict == Verdict::pass &&
      options.other_machine.empty() && same_identity(row, baseline) == Same::no) {
    opinion.suspicious = true;
    opinion.words += "; its code has changed";
  }
  return opinion;
}

void compare_with_baseline(RowResult& result, const Measured& row, const TimingRow& baseline,
                           const std::vector<Measured>& run, const TimingFile& file,
                           const GateOptions& options) {
  result.tol_pct = baseline.tol_pct;
  if (row.canary && baseline.canary && row.canary->kind != baseline.canary->kind)
    return conclude(result, Verdict::invalid,
                    fmt::format("it was blessed beside a {} canary and is measured beside a {} one",
                                name(baseline.canary->kind), name(row.canary->kind)),
                    "bless");
  const Comparison found = compare(row, baseline, options.device);
  // On a host a library's time says little: it depends on what the processor offers.
  const bool stands_beside = options.device == Device::gpu && row.kind == Kind::ours;
  const std::optional<Standing> stands =
      stands_beside ? standing(row, baseline, run, file) : std::nullopt;
  const Opinion opinion = opinion_of(found, row, baseline, stands, options);
  result.suspicious = opinion.suspicious && baseline.status == Status::gate;
  result.suspicion = opinion.suspicion;
  result.healthy = found.healthy;
  result.ratio = found.ratio;
  result.ratio_interval = found.interval;
  result.ratio_words = fmt::format("Ratio {:.3f} [{:.3f}, {:.3f}]", found.ratio, found.interval.low,
                                   found.interval.high);
  result.figures = figures(result, row, baseline, found, opinion.detectable_pct, options);
  if (stands) result.figures += ". " + text(*stands);
  conclude(result, opinion.verdict, opinion.words);
  // The ratio is shown, but it is no grade of the kernel.
  if (opinion.verdict == Verdict::env || (found.canary && !found.healthy && opinion.suspicious)) {
    result.ratio.reset();
    result.grade.reset();
  }
}

// What makes the row impossible to judge, or nothing. Another host may well be faster than the
// ceilings of the blessed one.
std::optional<std::string> fault_of(const Measured& row, const GateOptions& options) {
  if (auto fault = defect(row, options.device)) return fault;
  if (options.device == Device::host && !options.other_machine.empty()) return std::nullopt;
  return beyond_roof(row, options.ceilings);
}

// `row` is what was measured for `wanted`, or null; `file` is its op's baseline file.
RowResult judge_row(const Registered& wanted, const Measured* row, const TimingFile& file,
                    const std::vector<Measured>& run, const GateOptions& options) {
  RowResult result = result_for(wanted);
  const TimingRow* baseline = find(file, wanted.key);
  if (baseline) result.baseline_ns = baseline->median_ns;
  if (!file.problems.empty()) {
    conclude(result, Verdict::invalid, fmt::format("{} is malformed", file.path));
  } else if (!row) {
    conclude(result, Verdict::invalid, "it was selected but not measured");
  } else if (!row->skipped.empty()) {
    conclude(result, Verdict::skipped, row->skipped);
  } else if (const auto fault = fault_of(*row, options)) {
    conclude(result, Verdict::invalid, *fault);
  } else if (baseline) {
    result.measured_ns = row->median_ns;
    compare_with_baseline(result, *row, *baseline, run, file, options);
  } else {
    result.measured_ns = row->median_ns;
    conclude(result, Verdict::unblessed,
             fmt::format("{} {}", file.path,
                         file.exists ? "has no such row"
                         : file.missing
                             ? "is missing: restore it, or name " + wanted.op +
                                   " under not_blessed in the device.json beside it"
                             : "does not exist: this device has no baseline of " + wanted.op),
             "bless");
    // An op that nobody has blessed here is nobody's fault; a row that its file lacks, or with its
    // file, would go unjudged for ever.
    if ((file.exists || file.missing) && !result.informs) result.exit_code = kExitFail;
  }
  // Of a library's row that was not measured nothing is known, and that fails as any other.
  const bool wrong_vendor =
      row && result.kind == Kind::vendor && result.verdict == Verdict::invalid;
  if (wrong_vendor || (baseline && baseline->status == Status::info)) inform(result);
  if (baseline && baseline->status == Status::xfail) expect_failure(result, *baseline);
  return result;
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

std::string_view name(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass: return "pass";
  case Verdict::improved: return "improved";
  case Verdict::regressed: return "regressed";
  case Verdict::inconclusive: return "inconclusive";
  case Verdict::invalid: return "invalid";
  case Verdict::unblessed: return "unblessed";
  case Verdict::env: return "env";
  case Verdict::skipped: return "skipped";
  }
  return "";
}

int usual_exit(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass:
  case Verdict::improved: return kExitPass;
  case Verdict::regressed:
  case Verdict::invalid: return kExitFail;
  case Verdict::inconclusive:
  case Verdict::unblessed:
  case Verdict::env:
  case Verdict::skipped: return kExitSkip;
  }
  return kExitFail;
}

std::string row_command(std::string_view command, std::string_view op, std::string_view dtype,
                        const RowKey& key) {
  return judge::command(fmt::format("{} --op {} --dtype {} --case {} --variant {} --mode {}",
                                    command, op, dtype, key.case_id, key.variant, name(key.mode)));
}

std::string grade_text(Grade shown, Interval ratio_interval) {
  const Grade worst = grade(ratio_interval.low), best = grade(ratio_interval.high);
  if (worst == best) return std::string(name(shown));
  return fmt::format("{}..{}", name(worst), name(best));
}

int exit_of_rows(const std::vector<RowExit>& rows, bool strict) {
  constexpr std::size_t kStrictShare = 20; // one undecided row in so many
  std::size_t gated = 0, undecided = 0;
  for (const RowExit& row : rows) {
    if (row.code == kExitFail) return kExitFail;
    if (row.informs) continue;
    ++gated;
    if (row.code == kExitSkip) ++undecided;
  }
  if (strict) return gated > undecided && kStrictShare * undecided <= gated ? kExitPass : kExitFail;
  return gated == 0 || 2 * undecided > gated ? kExitSkip : kExitPass;
}

int combined_exit(const std::vector<int>& exits, bool strict) {
  const auto any = [&](int code) {
    return std::find(exits.begin(), exits.end(), code) != exits.end();
  };
  if (exits.empty() || any(kExitFail)) return kExitFail;
  if (any(kExitSkip)) return strict ? kExitFail : kExitSkip;
  return kExitPass;
}

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
  for (const Registered& row : registered) {
    if (!row.selected) continue;
    if (!options.no_device.empty()) {
      result.rows.push_back(result_for(row));
      conclude(result.rows.back(), Verdict::skipped, options.no_device);
      continue;
    }
    const auto file = baselines.find(row.op);
    const auto found = rows.find(row.key);
    result.rows.push_back(judge_row(row, found == rows.end() ? nullptr : found->second,
                                    file == baselines.end() ? no_file : file->second, measured,
                                    options));
  }
  for (const auto& [key, row] : rows) {
    if (known.contains(key)) continue;
    result.rows.push_back(result_for(*row));
    conclude(result.rows.back(), Verdict::invalid, "it was measured but is not registered");
  }
  set_exit(result, options.strict);
  return result;
}

} // namespace kg::judge
