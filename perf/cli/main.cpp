// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade, and kernelgrade-lab with the lab's commands.
#include "perf/cli/program.h"
#include "perf/code/identity/library_identity.h"
#include "perf/code/identity/row_identity.h"
#include "perf/measure/bench.h"
#if KERNELGRADE_LAB
#include "perf/cli/lab_commands.h"
#endif

#if !defined(KERNELGRADE_SOURCE_DIR) || !defined(KERNELGRADE_BUILD_DIR)
#error                                                                                             \
    "KERNELGRADE_SOURCE_DIR and KERNELGRADE_BUILD_DIR must say where the source and the build lie"
#endif

int main(int argc, char** argv) {
  return kg::cli::run_program("kernelgrade", argc, argv, [] {
    kg::cli::World world = kg::cli::world_of(kg::perf::operations(), KERNELGRADE_SOURCE_DIR);
    world.modes = kg::perf::available_modes();
    world.build = KERNELGRADE_BUILD_DIR;
    world.apparatus = [](kg::perf::Pace pace) { return std::make_unique<kg::perf::Bench>(pace); };
    world.identity = kg::identity::this_programs_identity;
    world.library_identity = [](const std::string& variant) {
      return kg::identity::library_identity(variant, kg::vendor::libraries());
    };
#ifdef KERNELGRADE_COUNTED_BY
    world.counted_by = {KERNELGRADE_COUNTED_BY};
#endif
#if KERNELGRADE_LAB
    world.lab = kg::cli::lab_commands();
#endif
    return world;
  });
}
