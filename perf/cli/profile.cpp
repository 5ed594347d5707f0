// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile: the time of the selected rows, by kernel.
#include "perf/lab/profile/profile.h"

#include "perf/cli/lab_commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/lab/profile/text.h"
#include "perf/measure/device_lock.h"
#include "perf/measure/environment.h"
#include "runtime/atomic_file.h"

#include <fmt/format.h>
#include <ostream>

namespace kg::cli {
namespace {

// Checks the workload's result; "" if it is correct. A wrong result's time is not worth profiling.
std::string problem(const perf::Workload& workload, Stream& stream) {
  workload.poison(stream);
  workload.run(stream);
  stream.synchronize();
  return workload.verify(stream);
}

} // namespace

int profile(const Options& options, World& world) {
  if (options.profile.sass) return profile_sass(options, world);
  if (options.profile.enqueue) return profile_enqueue(options, world);
  if (!options.profile.counts.empty()) return profile_counts(options, world);
  if (!options.profile.gpu.empty())
    throw UsageError("profile --gpu: what of it is modelled? Add --cost, --sass or --counts FILE");
  if (!options.compiled.empty())
    throw UsageError("profile --compiled: say what to make of the folder, --cost or --sass");
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  if (const auto exit = exit_without_device(options, world)) return *exit;
  const perf::DeviceLock lock = lock_device(world);
  const std::unique_ptr<perf::Apparatus> apparatus = world.apparatus(options.pace);
  std::vector<profile::RowProfile> profiles;
  int exit_code = judge::kExitPass;
  for (const Row* row : each_row_once(selection)) {
    const perf::Workload workload = row->make();
    const std::string wrong = problem(workload, apparatus->stream);
    if (!wrong.empty()) {
      world.err << fmt::format("{}: INVALID: {}\n", judge::text(row->registered.key), wrong);
      exit_code = judge::kExitFail;
      continue;
    }
    profiles.push_back(profile::profile_row(row->registered.key, workload, apparatus->stream,
                                            apparatus->instruments.now, options.profile.runs));
    if (!options.quiet) world.out << profile::plain_text(profiles.back()) << std::endl;
  }
  const std::vector<profile::Part> top =
      profile::top_kernels(profiles, static_cast<std::size_t>(options.profile.top));
  if (!top.empty() && !options.quiet) world.out << profile::plain_text(top);
  if (!options.json.empty())
    write_file(options.json,
               profile::json(profiles, top, perf::environment(source_of(options, world))));
  return exit_code;
}

} // namespace kg::cli
