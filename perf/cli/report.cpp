// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade report: judges stored measurements and writes the report. Needs no device.
#include "perf/report/report.h"

#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/stored_runs.h"
#include "perf/judge/stored_confirmation.h"
#include "perf/judge/summary.h"

#include <fmt/format.h>
#include <ostream>
#include <utility>

namespace kg::cli {

// Rows that are selected but stand in none of the files are failures: a test that crashed must not
// vanish from the report.
int report(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  require_listed(selection);
  const judge::Results run = load_runs(options.files);
  const auto device = run.environment.find("device");
  require(device != run.environment.end(),
          "the files do not say on which device they were measured; measure again");
  const auto baselines = load_baselines(options.baselines, device->second, selection);
  const judge::GateOptions how = gate_options(options, selection, run, "");
  judge::GateResult screened = judge::judge(run.rows, baselines, registered(selection), how);
  judge::Confirmations confirmations =
      judge::unconfirmed(screened, "the files hold no measurement side by side");
  for (auto& [key, stored] : judge::stored_confirmations(run)) confirmations[key] = stored;
  const judge::GateResult result = judge::fold(std::move(screened), confirmations, how);
  report::write(options.folder, run, result, how.ceilings);
  world.out << judge::plain_text(judge::summarise(result), result)
            << fmt::format("report: {}\n", (options.folder / "report.html").string());
  return result.exit_code;
}

} // namespace kg::cli
