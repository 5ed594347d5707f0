// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/study_experiment.h"

#include "perf/cli/measure_processes.h"
#include "perf/cli/study_programs.h"
#include "perf/lab/study/models.h"
#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace kg::cli {
namespace {

void require_operation(const World& world, const std::string& op) {
  const bool there =
      std::any_of(world.operations.begin(), world.operations.end(),
                  [&](const perf::Operation& operation) { return operation.name == op; });
  if (!there)
    throw UsageError(fmt::format(
        "this build has no operation {}; build all of them, without KERNELGRADE_OPS", op));
}

// Wall-clock rows.
std::vector<Row> rows_of_operation(const World& world, const study::Point& point) {
  const std::string op(judge::op_of(point.case_id)), dtype(judge::dtype_of(point.case_id));
  require_operation(world, op);
  Filter filter;
  filter.ops = {op};
  filter.dtypes = {dtype};
  filter.shapes = {std::string(judge::shape_of(point.case_id))};
  std::vector<Row> rows = select(world, {filter}).rows;
  std::erase_if(rows, [](const Row& row) {
    return !row.registered.selected || row.registered.key.mode != judge::Mode::real;
  });
  return rows;
}

// Nothing if that process failed; its standard error has the reason.
std::optional<study::Traced> trace(const Options& options, const World& world,
                                   const judge::RowKey& key, const std::string& source) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "profile.json";
  const perf::Finished how = perf::run_watched(
      {world.executable.string(), "profile", "--case", key.case_id, "--variant", key.variant,
       "--runs", "5", "--top", "0", "--quiet", "--source-id", source, "--json", file.string()},
      {file, std::chrono::duration<double>(options.row_timeout_s)});
  if (how.exit_code != 0) return std::nullopt;
  return traced_of(file);
}

} // namespace

study::Traced traced_of(const std::filesystem::path& profile) {
  const nlohmann::json file = nlohmann::json::parse(read_file(profile).value());
  const nlohmann::json& row = file.at("rows").at(0);
  study::Traced traced{row.at("wall_ns"), row.at("device_ns"), {}};
  for (const nlohmann::json& part : row.at("device")) {
    const std::string name = part.at("name");
    traced.kernels.push_back({part.at("kind") == "kernel" ? name : "(" + name + ")",
                              part.at("per_run"), part.at("total_ns")});
  }
  return traced;
}

std::vector<Row> experiment_rows(const World& world, const std::vector<study::Point>& points,
                                 const study::Settings& settings) {
  const std::string& only = settings.at("only");
  if (!only.empty() && only != "ours" && only != "libraries")
    throw UsageError(fmt::format("--only {}: write `ours` or `libraries`", only));
  std::vector<Row> rows;
  std::set<std::string> seen; // a case may be a point of several groups
  for (const study::Point& point : points) {
    if (!seen.insert(point.case_id).second) continue;
    const std::size_t before = rows.size();
    if (judge::op_of(point.case_id) == study::kModel)
      rows.push_back(model_row(point));
    else
      for (Row& row : rows_of_operation(world, point)) rows.push_back(std::move(row));
    if (rows.size() == before) continue; // no variant is timed here
    for (Row& row : peer_rows(Row(rows[before]), settings)) rows.push_back(std::move(row));
  }
  if (!only.empty())
    std::erase_if(rows, [&](const Row& row) {
      return (row.registered.kind == judge::Kind::ours) != (only == "ours");
    });
  return rows;
}

study::Experiment measure_experiment(const Options& options, World& world, const Row& row,
                                     const study::Settings& settings, const std::string& source) {
  if (is_of_another_program(row, settings))
    return measure_by_program(options, world, row, settings, source);
  Selection selection;
  selection.rows = {row};
  selection.selected = 1;
  Options quiet = options; // a study shows its own progress
  quiet.quiet = true;
  judge::Results run = measure_in_processes(quiet, world, selection, source);
  study::Experiment experiment{std::move(run.rows.at(0)), std::move(run.environment), std::nullopt};
  if (!experiment.row.samples_ns.empty())
    experiment.traced = trace(options, world, experiment.row.key, source);
  return experiment;
}

} // namespace kg::cli
