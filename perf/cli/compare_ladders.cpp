// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade compare --ladders FILE: compares time bounds with published times.
#include "perf/cli/commands.h"
#include "perf/code/timing_model/ladders.h"
#include "perf/judge/gate.h"

#include <ostream>

namespace kg::cli {

int compare_ladders(const Options& options, World& world) {
  const std::vector<model::Gpu> gpus =
      model::load_gpus(world.source / "perf/code/timing_model/gpus.json");
  world.out << "bounds, not measured, beside published times\n\n"
            << model::text(model::load_ladders(options.compare.ladders, gpus));
  return judge::kExitPass;
}

} // namespace kg::cli
