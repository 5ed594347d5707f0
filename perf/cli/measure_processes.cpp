// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/measure_processes.h"

#include "perf/cli/console.h"
#include "perf/cli/incremental_results.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/stored_runs.h"
#include "perf/measure/child_process.h"
#include "perf/measure/device_lock.h"
#include "perf/measure/environment.h"
#include "perf/measure/release_device.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::cli {
namespace {

using Rows = std::vector<const Row*>;

// One line each, in the format of --batch.
std::string batch(const Rows& rows) {
  std::string lines;
  for (const Row* row : rows)
    lines += fmt::format("--case {} --variant {} --mode {}\n", row->registered.key.case_id,
                         row->registered.key.variant, judge::name(row->registered.key.mode));
  return lines;
}

// The run with its rows in the order of the selection, after a resumed file's rows that are not
// selected.
judge::Results as_listed(judge::Results run, const Selection& selection) {
  std::map<judge::RowKey, judge::Measured> rows;
  for (judge::Measured& row : run.rows) rows.emplace(row.key, std::move(row));
  std::vector<judge::Measured> listed;
  for (const Row& row : selection.rows)
    if (auto found = rows.extract(row.registered.key); !found.empty())
      listed.push_back(std::move(found.mapped()));
  run.rows.clear();
  for (auto& [key, row] : rows) run.rows.push_back(std::move(row));
  std::move(listed.begin(), listed.end(), std::back_inserter(run.rows));
  run.shard = selection.shard;
  return run;
}

judge::Measured failed(judge::Measured row, const perf::Finished& how, double timeout_s,
                       std::string_view when) {
  row.tags["failure"] = how.stalled ? "timeout" : "crash";
  row.verified = how.stalled
                     ? fmt::format("it was not done after {:g} s and its process was killed {}; "
                                   "--row-timeout gives it longer",
                                   timeout_s, when)
                     : fmt::format("its process ended {} {}", perf::ending(how), when);
  if (how.signal == SIGKILL && !how.stalled)
    row.verified += "; the system ends a process so when memory runs out";
  return row;
}

class Processes {
 public:
  Processes(const Options& options, World& world, RowProgram program, IncrementalResults& run)
      : options_(options), world_(world), program_(std::move(program)), run_(run) {}

  // In how many processes to measure a row.
  std::size_t processes_of(const Row& row) const {
    const bool informs = row.registered.kind == judge::Kind::vendor && !row.interleaved;
    return static_cast<std::size_t>(
        informs ? options_.library_processes.value_or(options_.processes) : options_.processes);
  }

  // Until `round` processes have measured every row that has not failed: one process, and another
  // one whenever a row has ended its process.
  void measure_round(const Rows& all, std::size_t round, unsigned shuffle) {
    const auto left = [&] {
      Rows rows;
      for (const Row* row : all)
        if (run_.rounds(row->registered.key) < std::min(round, processes_of(*row)) &&
            !run_.is_given_up(row->registered.key))
          rows.push_back(row);
      return rows;
    };
    for (Rows rows = left(); !rows.empty();) {
      const perf::Finished how = run_process(rows, shuffle);
      if (const std::optional<judge::Measured> begun = run_.cut_off())
        give_up(failed(*begun, how, options_.row_timeout_s, "while measuring it"));
      Rows now = left();
      if (now.size() == rows.size())
        for (const Row* row : std::exchange(now, {}))
          give_up(failed(described(*row), how, options_.row_timeout_s,
                         "before it measured anything; what it wrote says why"));
      rows = std::move(now);
    }
  }

 private:
  std::filesystem::path path(const char* name) const { return folder_.path() / name; }

  perf::Finished run_process(const Rows& rows, unsigned shuffle) {
    write_file(path("rows"), batch(rows));
    const std::vector<std::string> command = program_(path("rows"), run_.journal(), shuffle);
    // The lock is taken here, not in the child: a process that waits for its turn does not hang.
    const std::optional<perf::DeviceLock> lock = lock_to_measure(world_);
    return perf::run_watched(command,
                             {run_.journal(), std::chrono::duration<double>(options_.row_timeout_s),
                              [this] { run_.read(); }});
  }

  void give_up(const judge::Measured& row) {
    if (!options_.quiet)
      world_.err << judge::text(row.key) << ": INVALID: " << row.verified << std::endl;
    run_.add_failed(row);
  }

  const Options& options_;
  World& world_;
  const RowProgram program_;
  IncrementalResults& run_;
  const TemporaryFolder folder_;
};

// This program.
RowProgram own_program(const Options& options, const World& world, const std::string& source) {
  return [&options, executable = world.executable.string(),
          source](const auto& batch, const auto& journal, unsigned shuffle) {
    std::vector<std::string> command = {
        executable,       "run",         "--batch", batch.string(), "--journal",
        journal.string(), "--source-id", source,    "--shuffle",    std::to_string(shuffle)};
    if (options.quiet) command.push_back("--quiet");
    return command;
  };
}

// Files that a kill must not lose: those of `run` and `bless`. A gate's file is written after
// judging.
std::filesystem::path growing_file(const Options& options) {
  return options.command == "run" || options.command == "bless" ? options.json
                                                                : std::filesystem::path();
}

} // namespace

judge::Results measure_in_processes(const Options& options, World& world,
                                    const Selection& selection, const std::string& source,
                                    const RowProgram& program) {
  const TemporaryFolder folder;
  IncrementalResults run(growing_file(options), folder.path(),
                         [&](std::vector<judge::Results> rows) {
                           return as_listed(join_runs(std::move(rows)), selection);
                         });
  if (options.resume_run) {
    if (perf::is_dirty(source))
      throw Error("--resume: the source tree has uncommitted changes, so nobody knows whether this "
                  "build measured the file; commit or stash them, or name the source by "
                  "--source-id");
    run.resume(perf::environment(source), selection.shard);
  } else {
    std::filesystem::remove(run.journal());
  }
  perf::release_device();
  Processes processes(options, world, program ? program : own_program(options, world, source), run);
  Rows rows;
  for (const Row& row : selection.rows)
    if (row.registered.selected) rows.push_back(&row);
  Progress line(world, options.quiet);
  for (int round = 1; round <= options.processes; ++round) {
    // A single process uses the requested order; several use different orders, so that no row
    // always follows the same other row.
    const unsigned shuffle =
        options.processes == 1 ? options.shuffle : options.shuffle + static_cast<unsigned>(round);
    line.show(fmt::format("process {} of {}: {} rows", round, options.processes, rows.size()));
    processes.measure_round(rows, static_cast<std::size_t>(round), shuffle);
  }
  return run.finish();
}

} // namespace kg::cli
