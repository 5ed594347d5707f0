// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/measure_processes.h"

#include "perf/cli/console.h"
#include "perf/cli/journal.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/stored_runs.h"
#include "perf/judge/atomic_file.h"
#include "perf/judge/temporary_folder.h"
#include "perf/measure/child_process.h"
#include "perf/measure/device_lock.h"
#include "perf/measure/release_device.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::cli {
namespace {

using Rows = std::vector<const Row*>;

// The selected rows by operation.
std::vector<Rows> by_operation(const Selection& selection) {
  std::map<std::string, Rows> rows;
  for (const Row& row : selection.rows)
    if (row.registered.selected) rows[row.registered.op].push_back(&row);
  std::vector<Rows> result;
  for (auto& [op, of_op] : rows) result.push_back(std::move(of_op));
  return result;
}

// One line each, as --batch reads them.
std::string batch(const Rows& rows) {
  std::string lines;
  for (const Row* row : rows)
    lines += fmt::format("--case {} --variant {} --mode {}\n", row->registered.key.case_id,
                         row->registered.key.variant, judge::name(row->registered.key.mode));
  return lines;
}

// The run with its rows in the order of the selection.
judge::Results as_listed(judge::Results run, const Selection& selection) {
  std::map<judge::RowKey, judge::Measured> rows;
  for (judge::Measured& row : run.rows) rows.emplace(row.key, std::move(row));
  run.rows.clear();
  for (const Row& row : selection.rows)
    if (const auto found = rows.find(row.registered.key); found != rows.end())
      run.rows.push_back(std::move(found->second));
  return run;
}

void remove(Rows& rows, const judge::RowKey& key) {
  std::erase_if(rows, [&](const Row* row) { return row->registered.key == key; });
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
  Processes(const Options& options, World& world, const std::string& source)
      : options_(options), world_(world), source_(source) {}

  // One process after another until every row is measured or has failed.
  judge::Results measure(Rows rows, unsigned shuffle) {
    judge::Results run;
    std::erase_if(rows, [&](const Row* row) { return given_up_.contains(row->registered.key); });
    while (!rows.empty()) {
      const std::size_t before = rows.size();
      const perf::Finished how = run_process(rows, shuffle);
      Journaled journal = read_journal(path("journal"));
      if (!journal.ended.environment.empty()) run.environment = journal.ended.environment;
      for (judge::Measured& row : journal.ended.rows) {
        remove(rows, row.key);
        run.rows.push_back(std::move(row));
      }
      if (journal.begun) {
        remove(rows, journal.begun->key);
        give_up(run, failed(*journal.begun, how, options_.row_timeout_s, "while measuring it"));
      }
      if (rows.size() < before) continue;
      for (const Row* row : std::exchange(rows, {}))
        give_up(run, failed(described(*row), how, options_.row_timeout_s,
                            "before it measured anything; what it wrote says why"));
    }
    return run;
  }

 private:
  std::filesystem::path path(const char* name) const { return folder_.path() / name; }

  perf::Finished run_process(const Rows& rows, unsigned shuffle) {
    judge::write_file(path("rows"), batch(rows));
    std::filesystem::remove(path("journal"));
    std::vector<std::string> command = {world_.executable.string(),
                                        "run",
                                        "--batch",
                                        path("rows").string(),
                                        "--journal",
                                        path("journal").string(),
                                        "--source-id",
                                        source_,
                                        "--shuffle",
                                        std::to_string(shuffle)};
    if (options_.quiet) command.push_back("--quiet");
    // Taken here and not there: a process that waits for its turn does not stand still.
    const std::optional<perf::DeviceLock> lock = lock_to_measure(world_);
    return perf::run_watched(
        command, {path("journal"), std::chrono::duration<double>(options_.row_timeout_s)});
  }

  void give_up(judge::Results& run, judge::Measured row) {
    if (!options_.quiet)
      world_.err << judge::text(row.key) << ": INVALID: " << row.verified << std::endl;
    given_up_.insert(row.key);
    run.rows.push_back(std::move(row));
  }

  const Options& options_;
  World& world_;
  const std::string& source_;
  const judge::TemporaryFolder folder_;
  std::set<judge::RowKey> given_up_;
};

} // namespace

judge::Results measure_in_processes(const Options& options, World& world,
                                    const Selection& selection, const std::string& source) {
  perf::release_device();
  Processes processes(options, world, source);
  std::vector<Rows> operations = by_operation(selection);
  std::vector<judge::Results> runs;
  Progress line(world, options.quiet);
  for (int process = 1; process <= options.processes; ++process) {
    // One process has the order asked for; several have different ones, so that no row always
    // follows the same other.
    const unsigned shuffle =
        options.processes == 1 ? options.shuffle : options.shuffle + static_cast<unsigned>(process);
    if (shuffle) std::shuffle(operations.begin(), operations.end(), std::mt19937(shuffle));
    for (const Rows& rows : operations) {
      line.show(fmt::format("process {} of {}: {}, {} rows", process, options.processes,
                            rows.front()->registered.op, rows.size()));
      runs.push_back(processes.measure(rows, shuffle));
    }
  }
  return as_listed(join_runs(std::move(runs)), selection);
}

} // namespace kg::cli
