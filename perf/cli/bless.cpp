// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade bless: measures in fresh processes and writes the baselines.
#include "perf/judge/bless.h"

#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/judge/device_file.h"
#include "perf/measure/environment.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <set>
#include <utility>

namespace kg::cli {
namespace {

judge::BlessOptions how(const Options& options, const std::string& source) {
  judge::BlessOptions result;
  result.device = kJudged;
  result.why = options.why;
  result.dirty_tree = is_dirty(source);
  result.accept_bimodal = options.accept_bimodal;
  result.status = options.status;
  result.tol_pct = options.tol_pct;
  return result;
}

std::set<judge::RowKey> keys_of(const Selection& selection, const std::string& op) {
  std::set<judge::RowKey> keys;
  for (const Row& row : selection.rows)
    if (row.listed && row.registered.op == op) keys.insert(row.registered.key);
  return keys;
}

// device.json says which machine the folder's baselines come from. Canaries are the medians of
// those that all its rows were blessed beside, so that a few rows, blessed later in a slower
// moment, do not make the others look ill; what later parts of the program put there stays.
void update_device_file(const std::filesystem::path& path, const judge::Results& run,
                        const std::map<std::string, judge::TimingFile>& baselines) {
  judge::DeviceFile device = judge::load_device(path).value_or(judge::DeviceFile{});
  device.fingerprint = perf::fingerprint(run.environment);
  std::map<std::string, std::vector<double>> canaries;
  for (const auto& [op, file] : baselines)
    for (const judge::TimingRow& row : file.rows)
      if (row.canary)
        canaries[std::string(judge::name(row.canary->kind))].push_back(row.canary->median_ns);
  for (const auto& [kind, times] : canaries) device.canaries_ns[kind] = judge::median(times);
  judge::save_device(path, device);
}

} // namespace

int bless(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  require_listed(selection);
  if (const std::string reason = missing_device(options, world); !reason.empty()) {
    world.err << "skipped: " << reason << "\n";
    return options.strict || options.require_gpu ? judge::kExitFail : judge::kExitSkip;
  }
  judge::BlessOptions decide = how(options, source_of(options, world));
  if (decide.dirty_tree)
    throw Error("the source tree has uncommitted changes, so the times would belong to no commit; "
                "commit or stash them, or name the source by --source-id");
  const judge::Results run = measure_rows(options, world, selection);
  if (!options.json.empty()) judge::save_results(options.json, run);

  const std::filesystem::path folder = options.baselines / world.device();
  if (const auto device = judge::load_device(folder / "device.json")) {
    decide.canaries_ns = device->canaries_ns;
    decide.ceilings = judge::ceilings_of(*device);
  }
  int exit_code = judge::kExitPass;
  bool written = false;
  for (const auto& [op, file] : load_baselines(options.baselines, world.device(), selection)) {
    std::vector<judge::Measured> rows;
    std::copy_if(run.rows.begin(), run.rows.end(), std::back_inserter(rows),
                 [&op = op](const judge::Measured& row) { return row.op == op; });
    if (options.remove_orphans) decide.remove_orphans_beside = keys_of(selection, op);
    const judge::BlessPlan plan = judge::plan_bless(file, rows, decide);
    judge::carry_out(plan, folder / (op + ".csv"), kJudged);
    written = written || plan.changes();
    exit_code = std::max(exit_code, plan.exit_code());
    world.out << judge::text(plan);
    if (plan.changes()) world.out << fmt::format("wrote {}\n", file.path);
  }
  if (written)
    update_device_file(
        folder / "device.json", run,
        load_baselines(options.baselines, world.device(), select(world, {Filter{}})));
  return exit_code;
}

} // namespace kg::cli
