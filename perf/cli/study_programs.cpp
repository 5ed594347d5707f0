// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/study_programs.h"

#include "perf/cli/exec_program.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/study_experiment.h"
#include "perf/judge/peers.h"
#include "perf/lab/study/models.h"
#include "perf/lab/study/settings.h"
#include "perf/measure/child_process.h"
#include "runtime/temporary_folder.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace kg::cli {
namespace {

namespace fs = std::filesystem;

bool is_ours(const Row& row) { return row.registered.kind == judge::Kind::ours; }

std::vector<std::string> command_for(const Options& options, const World& world, const Row& row,
                                     const study::Settings& settings, const fs::path& results,
                                     const fs::path& trace) {
  const judge::RowKey& key = row.registered.key;
  if (is_ours(row)) {
    const fs::path program = world.executable.parent_path() / "kernelgrade-model";
    need(world, program, "kernelgrade-model");
    return {program.string(), "measure",           "--case",    key.case_id,
            "--variant",      key.variant,         "--warm-up", settings.at("warm-up"),
            "--runs",         settings.at("runs"), "--json",    results.string(),
            "--trace",        trace.string()};
  }
  return {world.executable.string(),
          "peers",
          "--op",
          row.registered.op,
          "--dtype",
          row.registered.dtype,
          "--shape",
          std::string(judge::shape_of(key.case_id)),
          "--peer",
          key.variant,
          "--alone",
          "--quiet",
          "--processes",
          std::to_string(options.processes),
          "--row-timeout",
          fmt::format("{:g}", options.row_timeout_s),
          "--json",
          results.string()};
}

} // namespace

Row model_row(const study::Point& point) {
  Row row;
  row.registered = {study::kModel,
                    std::string(judge::dtype_of(point.case_id)),
                    {point.case_id, study::kComposed, judge::Mode::real},
                    study::kModel,
                    judge::Kind::ours,
                    true};
  return row;
}

std::vector<Row> peer_rows(const Row& row, const study::Settings& settings) {
  std::vector<Row> rows;
  for (const std::string& peer : study::words(settings, "peer")) {
    rows.push_back(row);
    rows.back().registered.key.variant = peer;
    rows.back().registered.kind = judge::Kind::vendor;
  }
  return rows;
}

bool is_of_another_program(const Row& row, const study::Settings& settings) {
  if (row.registered.op == study::kModel) return true;
  const std::vector<std::string> peers = study::words(settings, "peer");
  return !is_ours(row) && std::count(peers.begin(), peers.end(), row.registered.key.variant) > 0;
}

study::Experiment measure_by_program(const Options& options, const World& world, const Row& row,
                                     const study::Settings& settings, const std::string& source) {
  const TemporaryFolder folder;
  const fs::path results = folder.path() / "results.json", trace = folder.path() / "trace.json";
  std::vector<std::string> command = command_for(options, world, row, settings, results, trace);
  command.insert(command.end(), {"--source-id", source});
  // A framework's program supervises its rows itself, and computes the case's outputs before them.
  const double limit_s = options.row_timeout_s * (is_ours(row) ? 1 : 1 + options.processes);
  const perf::Finished how =
      perf::run_watched(command, {results, std::chrono::duration<double>(limit_s)});
  study::Experiment experiment{described(row), {}, std::nullopt};
  if (!fs::exists(results)) {
    experiment.row.verified =
        how.stalled
            ? fmt::format("it was not done after {:g} s (--row-timeout)", limit_s)
            : fmt::format("its process ended {}; what it wrote says why", perf::ending(how));
    experiment.row.tags["failure"] = how.stalled ? "timeout" : "crash";
    if (!is_ours(row)) experiment.row.tags[judge::kPeerTag] = row.registered.key.variant;
    return experiment;
  }
  judge::Results run = judge::load_results(results);
  experiment.row = std::move(run.rows.at(0));
  experiment.environment = std::move(run.environment);
  if (fs::exists(trace) && experiment.row.verified.empty()) experiment.traced = traced_of(trace);
  return experiment;
}

} // namespace kg::cli
