// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/world.h"
#include "perf/identity/row_identity.h"
#include "perf/measure/bench.h"
#include "perf/measure/child_process.h"
#include "runtime/device.h"

#include <cstdio>
#include <exception>
#include <iostream>

#if !defined(KERNELGRADE_SOURCE_DIR) || !defined(KERNELGRADE_BUILD_DIR)
#error                                                                                             \
    "KERNELGRADE_SOURCE_DIR and KERNELGRADE_BUILD_DIR must say where the source and the build lie"
#endif

int main(int argc, char** argv) {
  try {
    const std::filesystem::path source = KERNELGRADE_SOURCE_DIR;
    kg::cli::World world{
        .operations = kg::perf::operations(),
        .modes = kg::perf::available_modes(),
        .baselines = source / "baselines",
        .source = source,
        .build = KERNELGRADE_BUILD_DIR,
        .executable = kg::perf::this_executable(),
        .no_device = kg::device_unavailable_reason,
        .device = [] { return kg::device_slug(kg::device_properties().name); },
        .apparatus = [](kg::perf::Pace pace) { return std::make_unique<kg::perf::Bench>(pace); },
        .identity = kg::identity::this_programs_identity,
        .out = std::cout,
        .err = std::cerr,
    };
    return kg::cli::kernelgrade({argv + 1, argv + argc}, world);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernelgrade: %s\n", error.what());
    return 1;
  }
}
