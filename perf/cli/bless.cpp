// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade bless: measures in new processes, or takes stored measurements (--from), and writes
// the baselines.
#include "perf/judge/bless.h"

#include "perf/cli/baselines.h"
#include "perf/cli/commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/stored_runs.h"
#include "perf/format/named_path.h"
#include "perf/judge/device_file.h"
#include "perf/measure/environment.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <set>
#include <utility>

namespace kg::cli {
namespace {

judge::BlessOptions how(const Options& options, judge::Device device, const std::string& source) {
  perf::require_clean(source);
  judge::BlessOptions result;
  result.device = device;
  result.why = options.bless.why;
  result.accept_bimodal = options.bless.accept_bimodal;
  result.status = options.bless.status;
  result.tol_pct = options.tol_pct;
  return result;
}

std::set<judge::RowKey> keys_of(const Selection& selection, const std::string& op) {
  std::set<judge::RowKey> keys;
  for (const Row& row : selection.rows)
    if (row.listed && row.registered.op == op) keys.insert(row.registered.key);
  return keys;
}

// device.json describes the machine of the folder's baselines. Its canaries are medians over the
// canaries of all blessed rows: a few rows blessed later at a slower moment must not make the
// others look slow. Entries added by later parts of the program are kept.
void update_device_file(const std::filesystem::path& path, const judge::Results& run,
                        const std::map<std::string, judge::TimingFile>& baselines) {
  std::set<std::string> ops;
  for (const auto& [op, file] : baselines) ops.insert(op);
  judge::DeviceFile device = device_file(path.parent_path(), ops);
  for (const auto& [op, file] : baselines)
    if (file.exists) device.not_blessed.erase(op);
  device.fingerprint = perf::fingerprint(run.environment);
  std::map<std::string, std::vector<double>> canaries;
  for (const auto& [op, file] : baselines)
    for (const judge::TimingRow& row : file.rows)
      if (row.canary)
        canaries[std::string(judge::name(row.canary->kind))].push_back(row.canary->median_ns);
  for (const auto& [kind, times] : canaries) device.canaries_ns[kind] = judge::median(times);
  judge::save_device(path, device);
}

// Judges the rows and writes their device's files.
int bless_rows(const Options& options, World& world, const judge::Results& run,
               const std::string& device, judge::BlessOptions decide, const Selection& selection,
               const std::set<std::string>& ops) {
  const std::filesystem::path folder = judge::named_path(options.baselines, "device", device);
  if (const auto known = judge::load_device(folder / "device.json")) {
    decide.canaries_ns = known->canaries_ns;
    decide.ceilings = judge::ceilings_of(*known);
  }
  int exit_code = judge::kExitPass;
  bool written = false;
  for (const auto& [op, file] : load_baselines(folder, decide.device, ops)) {
    std::vector<judge::Measured> rows;
    std::copy_if(run.rows.begin(), run.rows.end(), std::back_inserter(rows),
                 [&op = op](const judge::Measured& row) { return row.op == op; });
    if (options.bless.remove_orphans) decide.remove_orphans_beside = keys_of(selection, op);
    const judge::BlessPlan plan = judge::plan_bless(file, rows, decide);
    judge::carry_out(plan, judge::named_path(folder, "operation", op, ".csv"), decide.device);
    written = written || plan.changes();
    exit_code = std::max(exit_code, plan.exit_code());
    world.out << judge::text(plan);
    if (plan.changes()) world.out << fmt::format("wrote {}\n", file.path);
  }
  if (!written) return exit_code;
  std::set<std::string> all = select(world, {Filter{}}).ops;
  all.insert(ops.begin(), ops.end());
  update_device_file(folder / "device.json", run, load_baselines(folder, decide.device, all));
  return exit_code;
}

// A value that the measuring machine reported about itself.
const std::string& stored(const judge::Results& run, const char* what) {
  const auto at = run.environment.find(what);
  if (at == run.environment.end() || at->second.empty() || at->second == "unknown")
    throw Error(fmt::format("--from: the files do not say which {} they were measured with; "
                            "measure by `kernelgrade run --json`, with --source-id where there is "
                            "no git",
                            what));
  return at->second;
}

// Measures nothing and needs no device. Refuses the same rows as on the machine that measured them.
int bless_stored(const Options& options, World& world) {
  const judge::Results run = load_runs(options.files);
  if (run.rows.empty()) throw Error("--from: the files have no rows; there is nothing to bless");
  const std::string& device = stored(run, "device");
  stored(run, "backend");
  std::set<std::string> ops;
  for (const judge::Measured& row : run.rows) ops.insert(row.op);
  return bless_rows(options, world, run, device,
                    how(options, report::device_of(run), stored(run, "source")), {}, ops);
}

} // namespace

int bless(const Options& options, World& world) {
  if (!options.files.empty()) return bless_stored(options, world);
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  require_listed(selection);
  if (const std::string reason = missing_device(options, world); !reason.empty()) {
    world.err << "skipped: " << reason << "\n";
    return options.strict || options.require_gpu ? judge::kExitFail : judge::kExitSkip;
  }
  const judge::BlessOptions decide = how(options, kJudged, source_of(options, world));
  const judge::Results run = measure_rows(options, world, selection);
  if (!options.json.empty()) judge::save_results(options.json, run);
  return bless_rows(options, world, run, world.device(), decide, selection, selection.ops);
}

} // namespace kg::cli
