// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-cost: the commands with --cost, on kernels that are instrumented and linked with the
// counters. It times nothing. `kernelgrade` starts it.
#include "perf/cli/world.h"
#include "perf/measure/child_process.h"
#include "runtime/device.h"
#include "runtime/host/count/counts.h"

#include <cstdio>
#include <exception>
#include <iostream>

#if !defined(KERNELGRADE_SOURCE_DIR) || !defined(KERNELGRADE_COUNTER_ID)
#error "the build must say where the source tree lies and how counted kernels are compiled"
#endif

int main(int argc, char** argv) {
  try {
    const std::filesystem::path source = KERNELGRADE_SOURCE_DIR;
    kg::cli::World world{
        .operations = kg::perf::operations(),
        .modes = {kg::judge::Mode::real}, // a count has none, and is taken once
        .baselines = source / "baselines",
        .source = source,
        .executable = kg::perf::this_executable(),
        .no_device = [] { return "kernelgrade-cost times nothing; use kernelgrade"; },
        .device = [] { return kg::device_slug(kg::device_properties().name); },
        .apparatus = nullptr,
        .take_launches = kg::count::take_launches,
        .counter_id = KERNELGRADE_COUNTER_ID,
        .out = std::cout,
        .err = std::cerr,
    };
    return kg::cli::kernelgrade({argv + 1, argv + argc}, world);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernelgrade-cost: %s\n", error.what());
    return 1;
  }
}
