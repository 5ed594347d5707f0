// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade report: judges stored measurements and writes the report. Needs no device.
#include "perf/report/report.h"

#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/counted.h"
#include "perf/cli/row_history.h"
#include "perf/cli/stored_runs.h"
#include "perf/judge/peers.h"
#include "perf/judge/stored_confirmation.h"
#include "perf/judge/summary.h"
#include "perf/report/aggregates.h"
#include "perf/report/console_text.h"
#include "perf/report/kept_runs.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kg::cli {

namespace {

// The contents of the files.
struct Files {
  judge::Results run;
  report::Attachments attachments;
  std::vector<std::string> faults; // unreadable files
};

Files read_files(const Options& options) {
  Files files;
  std::vector<std::filesystem::path> results;
  for (const std::filesystem::path& path : options.files) {
    try {
      if (report::add_file(files.attachments, path)) continue;
      if (!options.report.tests.empty()) load_runs({path});
      results.push_back(path);
    } catch (const Error& error) {
      // If the files come from tests, a damaged file must not keep the others out of the report.
      if (options.report.tests.empty()) throw;
      files.faults.emplace_back(error.what());
    }
  }
  if (!results.empty()) files.run = load_runs(results);
  return files;
}

struct Timings {
  judge::GateResult result;
  judge::Ceilings ceilings;
};

// On the host some timings run only at night (cmake/Op.cmake): operations without baselines, and
// all types except an operation's first. The files may lack their rows, which are deselected and
// listed.
std::string leave_out_untimed(Selection& selection, const judge::Results& run,
                              const std::map<std::string, judge::TimingFile>& baselines) {
  std::set<std::pair<std::string, std::string>> timed;
  for (const judge::Measured& row : run.rows) timed.emplace(row.op, row.dtype);
  std::map<std::string, std::string> first_type;
  std::set<std::string> left_out;
  for (Row& row : selection.rows) {
    const auto& [op, dtype] = std::tie(row.registered.op, row.registered.dtype);
    const bool first = first_type.emplace(op, dtype).first->second == dtype;
    const bool blessed = baselines.at(op).exists || baselines.at(op).missing;
    const bool by_day = first && blessed;
    if (!row.registered.selected || by_day || timed.contains({op, dtype})) continue;
    row.registered.selected = false;
    --selection.selected;
    left_out.insert(blessed ? op + "." + dtype : op);
  }
  if (left_out.empty()) return "";
  constexpr std::size_t kNamed = 4;
  const std::size_t more = left_out.size() - std::min(left_out.size(), kNamed);
  const auto end = std::prev(left_out.end(), static_cast<std::ptrdiff_t>(more));
  return fmt::format("no timings of {}{}: on the host they are nightly tests",
                     fmt::join(left_out.begin(), end, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

// Selected rows that are in none of the files are failures: a crashed test must not disappear from
// the report. Files of other kinds alone contain no timings.
Timings judge_timings(const Options& options, Selection selection, const judge::Results& run,
                      bool has_others) {
  if (run.rows.empty() && has_others) {
    judge::GateResult none;
    none.notes = {"the files hold no timings, so none is judged"};
    return {none, {}};
  }
  const auto device = run.environment.find("device");
  require(device != run.environment.end(),
          "the files do not say on which device they were measured; measure again");
  const auto baselines = load_baselines(options.baselines, device->second, selection);
  const std::string untimed =
      kJudged == judge::Device::host ? leave_out_untimed(selection, run, baselines) : "";
  const judge::GateOptions how = gate_options(options, selection, run, "");
  std::vector<judge::Registered> rows = registered(selection);
  judge::register_peers(run.rows, rows);
  judge::GateResult screened = judge::judge(run.rows, baselines, rows, how);
  if (!untimed.empty()) screened.notes.push_back(untimed);
  judge::Confirmations confirmations =
      judge::unconfirmed(screened, "the files hold no measurement side by side");
  for (auto& [key, stored] : judge::stored_confirmations(run)) confirmations[key] = stored;
  return {judge::fold(std::move(screened), confirmations, how), how.ceilings};
}

// If the files contain correctness tests, each selected type of an operation must have some: a
// crashed test program leaves no file.
std::vector<std::string> without_correctness(const Selection& selection,
                                             const report::Attachments& attachments) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const report::CorrectnessRun& run : attachments.correctness) seen.emplace(run.op, run.dtype);
  std::vector<std::string> faults;
  if (seen.empty()) return faults;
  for (const Row& row : selection.rows) {
    const judge::Registered& about = row.registered;
    if (!about.selected || !seen.emplace(about.op, about.dtype).second) continue;
    faults.push_back(fmt::format(
        "{}.{}: no file holds results of its correctness tests, which crashed or did not run; "
        "again: {}",
        about.op, about.dtype, report::test_command(about.op, about.dtype)));
  }
  return faults;
}

// The operations whose resources could not be read: their tests were skipped.
std::set<std::string> without_nvcc(const std::vector<report::PlannedTest>& tests) {
  std::set<std::string> ops;
  for (const report::PlannedTest& test : tests)
    if (test.name == "resource." + test.op && test.state == report::TestState::skipped)
      ops.insert(test.op);
  return ops;
}

// The operations selected by name, so that no other operation appears to have passed.
report::Scope scope(const Options& options, const Selection& selection) {
  std::set<std::string> all, named;
  for (const Row& row : selection.rows) {
    all.insert(row.registered.op);
    if (row.registered.selected) named.insert(row.registered.op);
  }
  const std::size_t of = std::max(options.report.all_ops, all.size());
  if (named.size() == of) return {};
  return {{named.begin(), named.end()}, of};
}

} // namespace

int report(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  require_listed(selection);
  if (options.files.empty() && options.report.tests.empty())
    throw UsageError("report: name the files to judge, or CTest's list of tests (--tests)");
  if (options.report.tests.size() != options.report.junit.size())
    throw UsageError("report: give one --junit for each --tests");
  auto [run, attachments, unreadable] = read_files(options);
  attachments.scope = scope(options, selection);
  for (std::size_t i = 0; i < options.report.tests.size(); ++i) {
    const auto planned = report::planned_tests(options.report.tests[i], options.report.junit[i]);
    attachments.tests.insert(attachments.tests.end(), planned.begin(), planned.end());
  }
  const bool has_others = !run.costs.empty() || !run.resources.empty() || !attachments.empty();
  const Timings timings = judge_timings(options, selection, run, has_others);
  judge::GateResult result = timings.result;
#if KERNELGRADE_HISTORY
  if (!options.report.history.empty() && !run.rows.empty())
    attachments.history =
        row_history(options.report.history, run.environment.at("device"), result.rows);
#endif
  for (std::string& fault : without_correctness(selection, attachments))
    result.faults.push_back(std::move(fault));
  result.faults.insert(result.faults.begin(), unreadable.begin(), unreadable.end());
  report::discredit_wrong(result, attachments);
  const report::CountedSections counted =
      judge_counted(options, selection, run, without_nvcc(attachments.tests));
  std::vector<int> exits;
  // The executor's own times on this CPU fail only if they are certainly worse; otherwise they say
  // nothing about a kernel.
  const bool emulated = report::device_of(run) == judge::Device::host && !options.strict;
  if (!run.rows.empty())
    exits.push_back(emulated && result.exit_code == judge::kExitSkip ? judge::kExitPass
                                                                     : result.exit_code);
  if (!result.faults.empty()) exits.push_back(judge::kExitFail);
  for (const report::CountedSection& section : counted) exits.push_back(section.result.exit_code);
  if (!attachments.empty()) exits.push_back(report::exit_code(attachments));
  result.exit_code = judge::combined_exit(exits, options.strict);
  const std::filesystem::path kept =
      report::write(options.report.folder, run, result, timings.ceilings, counted, attachments);
  world.out << report::console_text(run, result, counted, attachments,
                                    (options.report.folder / "report.html").string())
            << fmt::format("report: {}, kept in {}\n",
                           (options.report.folder / "report.html").string(), kept.string());
  if (const std::size_t old = report::prune_runs(kept.parent_path(), options.report.keep, kept);
      old > 0)
    world.out << fmt::format("{} older run{} removed: --keep {}\n", old, old == 1 ? "" : "s",
                             options.report.keep);
  return result.exit_code;
}

} // namespace kg::cli
