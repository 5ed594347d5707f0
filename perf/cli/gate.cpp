// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade gate: measures and compares with the committed baselines. With --confirm auto, rows
// that look slower are measured side by side with the commit that blessed them.
#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/confirm_rows.h"
#include "perf/cli/gate_import.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/shard.h"
#include "perf/format/named_path.h"
#include "perf/judge/stored_confirmation.h"
#include "perf/judge/summary.h"
#include "perf/judge/suspects.h"
#include "perf/lab/selftest/calibration.h"
#include "perf/measure/environment.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

namespace kg::cli {
namespace {

// Rows whose baseline file cannot be read fail anyway, so they are not measured.
Selection without_malformed(Selection selection,
                            const std::map<std::string, judge::TimingFile>& baselines) {
  for (Row& row : selection.rows) {
    if (!row.registered.selected || baselines.at(row.registered.op).problems.empty()) continue;
    row.registered.selected = false;
    --selection.selected;
  }
  return selection;
}

// Reports the gate's own error rates on this device if they break its promise. A device without
// baselines has no gate.
void print_calibration_note(const Options& options, World& world,
                            const std::map<std::string, judge::TimingFile>& baselines) {
  if (std::none_of(baselines.begin(), baselines.end(),
                   [](const auto& file) { return file.second.exists; }))
    return;
  const std::string note = selftest::calibration_note(
      selftest::load_calibration(judge::named_path(options.baselines, "device", world.device()) /
                                 "calibration.csv"),
      perf::utc_now());
  if (!note.empty()) world.out << note << "\n";
}

// Also adds the confirmation's results to the run's rows.
judge::GateResult confirmed(const Options& options, World& world,
                            const std::map<std::string, judge::TimingFile>& baselines,
                            judge::GateResult screened, const judge::GateOptions& how,
                            judge::Results& run) {
  const std::vector<judge::RowKey> rows = judge::suspects(screened);
  if (rows.empty()) return screened;
  const judge::Confirmations confirmations =
      options.confirm
          ? confirm_rows(options, world, baselines, rows)
          : judge::unconfirmed(screened,
                               "--confirm auto measures it beside the commit that blessed it");
  for (judge::Measured& row : run.rows)
    if (const auto at = confirmations.find(row.key); at != confirmations.end())
      judge::store(at->second, row);
  return judge::fold(std::move(screened), confirmations, how);
}

} // namespace

int gate(const Options& options, World& world) {
  if (!options.files.empty()) return gate_import(options, world);
  Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  require_listed(selection);
  const std::optional<judge::Shard> shard = divide(options, selection, "times");
  const std::string no_device = missing_device(options, world);
  judge::Results run;
  std::map<std::string, judge::TimingFile> baselines;
  if (no_device.empty()) {
    baselines = load_baselines(options.baselines, world.device(), selection);
    const Selection measurable = without_malformed(selection, baselines);
    if (measurable.selected > 0) run = measure_rows(options, world, measurable);
  }
  const judge::GateResult result =
      confirmed(options, world, baselines, judge_run(options, selection, baselines, run, no_device),
                gate_options(options, selection, run, no_device), run);
  run.shard = shard;
  if (!options.json.empty() && no_device.empty()) judge::save_results(options.json, run);
  if (!options.quiet && no_device.empty())
    world.out << report::judged_table(result, run.rows, kJudged).plain() << "\n";
  print_calibration_note(options, world, baselines);
  world.out << judge::plain_text(judge::summarise(result), result);
  if (result.exit_code == judge::kExitFail)
    world.out << "kernelgrade is " << world.executable.string() << "\n";
  return result.exit_code;
}

} // namespace kg::cli
