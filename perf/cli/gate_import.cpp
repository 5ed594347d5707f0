// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade gate --import: gates existing results, ours or other tools'. Measures nothing and
// needs no device.
#include "perf/cli/gate_import.h"

#include "perf/cli/baselines.h"
#include "perf/cli/stored_runs.h"
#include "perf/format/named_path.h"
#include "perf/judge/compare_results.h"
#include "perf/judge/summary.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <set>
#include <utility>

namespace kg::cli {
namespace {

judge::GateResult against_results(const Options& options, const judge::Results& run,
                                  judge::Device device) {
  const judge::Results baseline = load_runs({options.baseline});
  const judge::ComparedResults compared =
      judge::compare(baseline, run, {.device = device, .tol_pct = options.tol_pct});
  if (compared.across_devices) {
    const auto& [blessed, now] = compared.environment.at("device");
    throw UsageError(fmt::format("--baseline {} was measured on {}, the imported results on {}; "
                                 "import results of {}, or look at both by `kernelgrade compare "
                                 "--across-devices`",
                                 options.baseline.string(), blessed, now, blessed));
  }
  return judge::as_gate(compared, baseline, run, options.strict);
}

// Finds rows in the committed files by id. Within the run's operations and types, a blessed row
// that is missing was not measured, which is a failure.
judge::GateResult against_baselines(const Options& options, const judge::Results& run,
                                    judge::Device device) {
  const auto name = run.environment.find("device");
  require(
      name != run.environment.end(),
      "--import: the files do not say on which device they were measured; give --baseline FILE");
  std::vector<judge::Registered> registered;
  std::set<std::string> ops;
  std::set<std::pair<std::string, std::string>> types;
  for (const judge::Measured& row : run.rows) {
    registered.push_back({row.op, row.dtype, row.key, row.category, row.kind, true});
    ops.insert(row.op);
    types.emplace(row.op, row.dtype);
  }
  const auto baselines =
      load_baselines(judge::named_path(options.baselines, "device", name->second), device, ops);
  for (const auto& [op, file] : baselines)
    for (const judge::TimingRow& row : file.rows) {
      const std::string dtype(judge::dtype_of(row.key.case_id));
      const bool measured =
          std::any_of(run.rows.begin(), run.rows.end(),
                      [&](const judge::Measured& each) { return each.key == row.key; });
      if (row.status == judge::Status::gate && types.contains({op, dtype}) && !measured)
        registered.push_back({op, dtype, row.key, "", judge::Kind::ours, true});
    }
  judge::GateOptions how;
  how.device = device;
  how.strict = options.strict;
  how.filtered = true;
  return judge::judge(run.rows, baselines, registered, how);
}

} // namespace

int gate_import(const Options& options, World& world) {
  const judge::Results run = load_runs(options.files);
  const judge::Device device = report::device_of(run);
  const judge::GateResult result = options.baseline.empty()
                                       ? against_baselines(options, run, device)
                                       : against_results(options, run, device);
  if (!options.json.empty()) judge::save_results(options.json, run);
  if (!options.quiet) world.out << report::judged_table(result, run.rows, device).plain() << "\n";
  world.out << judge::plain_text(judge::summarise(result), result);
  return result.exit_code;
}

} // namespace kg::cli
