// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade run --once: executes and checks every row once, without timing, for tools that
// observe the launches, such as profilers and sanitizers.
#include "perf/cli/run_once.h"
#include "libraries/not_supported.h"
#include "perf/cli/commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/measure/environment.h"
#include "runtime/launch.h"

#include <exception>
#include <fmt/format.h>
#include <ostream>
#include <set>
#include <utility>

namespace kg::cli {
namespace {

constexpr const char* kExecuted = "executed once, not timed";

judge::Measured execute(const Row& row) {
  judge::Measured result = described(row);
  result.skipped = kExecuted;
  try {
    Stream stream;
    const perf::Workload workload = row.make();
    workload.poison(stream);
    stream.synchronize();
    {
      const LaunchRecorder recorder;
      workload.run(stream);
      result.tags[kLaunchesTag] = std::to_string(recorder.launches().size());
    }
    result.verified = workload.verify(stream);
  } catch (const vendor::NotSupported& error) {
    result.skipped = error.what();
  } catch (const std::exception& error) {
    result.verified = error.what();
  }
  if (!result.verified.empty()) result.skipped.clear();
  return result;
}

} // namespace

int run_once(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  if (const auto exit = exit_without_device(options, world)) return *exit;
  judge::Results run;
  run.environment = perf::environment(source_of(options, world));
  int exit = judge::kExitPass;
  bool any_executed = false;
  std::set<std::pair<std::string, std::string>> done; // all modes execute a variant in the same way
  for (const Row& row : selection.rows) {
    const judge::RowKey& key = row.registered.key;
    if (!row.registered.selected || !done.insert({key.case_id, key.variant}).second) continue;
    run.rows.push_back(execute(row));
    const judge::Measured& result = run.rows.back();
    const bool executed = result.skipped == kExecuted;
    any_executed = any_executed || executed;
    if (!options.quiet)
      world.out << fmt::format("{} {}: {}\n", key.case_id, key.variant,
                               !result.verified.empty() ? "INVALID: " + result.verified
                               : executed               ? "right"
                                                        : "skipped: " + result.skipped);
    if (!result.verified.empty()) exit = judge::kExitFail;
  }
  if (exit == judge::kExitPass && !any_executed)
    exit = options.strict ? judge::kExitFail : judge::kExitSkip;
  if (!options.json.empty()) judge::save_results(options.json, run);
  return exit;
}

} // namespace kg::cli
