// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-cost: the commands with --cost, with instrumented kernels linked with the counters.
// Times nothing. Started by `kernelgrade`.
#include "perf/cli/program.h"
#include "runtime/host/count/counts.h"
#include "runtime/ptx/library.h"

#if !defined(KERNELGRADE_SOURCE_DIR) || !defined(KERNELGRADE_COUNTER_ID)
#error "the build must say where the source tree lies and how counted kernels are compiled"
#endif

int main(int argc, char** argv) {
  return kg::cli::run_program("kernelgrade-cost", argc, argv, [] {
    kg::cli::World world = kg::cli::world_of(kg::perf::operations(), KERNELGRADE_SOURCE_DIR);
    world.modes = {kg::judge::Mode::real}; // counts have no mode and are taken once
    world.no_device = [] { return "kernelgrade-cost times nothing; use kernelgrade"; };
    world.take_launches = kg::count::take_launches;
    world.untimed = true;
    world.build = KERNELGRADE_BUILD_DIR;
    world.counter_id = KERNELGRADE_COUNTER_ID;
#ifdef KERNELGRADE_COUNTED_BY
    world.counted_by = {KERNELGRADE_COUNTED_BY};
#endif
    world.use_compiled = kg::ptx_run::use;
    return world;
  });
}
