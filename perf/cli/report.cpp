// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade report: judges stored measurements and writes the report. Needs no device.
#include "perf/report/report.h"

#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/counted.h"
#include "perf/cli/stored_runs.h"
#include "perf/judge/stored_confirmation.h"
#include "perf/judge/summary.h"
#include "perf/study/record.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <utility>
#include <vector>

namespace kg::cli {

namespace {

struct Timings {
  judge::GateResult result;
  judge::Ceilings ceilings;
};

// Rows that are selected but stand in none of the files are failures: a test that crashed must not
// vanish from the report. Files of counted rows alone time nothing.
Timings judge_timings(const Options& options, const Selection& selection,
                      const judge::Results& run) {
  if (run.rows.empty() && (!run.costs.empty() || !run.resources.empty())) {
    judge::GateResult none;
    none.notes = {"the files hold no timings, so none is judged"};
    return {none, {}};
  }
  const auto device = run.environment.find("device");
  require(device != run.environment.end(),
          "the files do not say on which device they were measured; measure again");
  const auto baselines = load_baselines(options.baselines, device->second, selection);
  const judge::GateOptions how = gate_options(options, selection, run, "");
  judge::GateResult screened = judge::judge(run.rows, baselines, registered(selection), how);
  judge::Confirmations confirmations =
      judge::unconfirmed(screened, "the files hold no measurement side by side");
  for (auto& [key, stored] : judge::stored_confirmations(run)) confirmations[key] = stored;
  return {judge::fold(std::move(screened), confirmations, how), how.ceilings};
}

} // namespace

int report(const Options& options, World& world) {
  if (std::any_of(options.files.begin(), options.files.end(), study::is_record))
    return report_study(options, world);
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  require_listed(selection);
  const judge::Results run = load_runs(options.files);
  const Timings timings = judge_timings(options, selection, run);
  judge::GateResult result = timings.result;
  const report::CountedSections counted = judge_counted(options, selection, run);
  std::vector<int> exits;
  if (!run.rows.empty() || counted.empty()) exits.push_back(result.exit_code);
  for (const report::CountedSection& section : counted) exits.push_back(section.result.exit_code);
  result.exit_code = judge::combined_exit(exits, options.strict);
  report::write(options.folder, run, result, timings.ceilings, counted);
  for (const report::CountedSection& section : counted)
    world.out << section.name << ": " << judge::plain_text(section.result);
  world.out << judge::plain_text(judge::summarise(result), result)
            << fmt::format("report: {}\n", (options.folder / "report.html").string());
  return result.exit_code;
}

} // namespace kg::cli
