// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/program.h"

#include "perf/cli/build/target.h"
#include "perf/judge/command.h"
#include "perf/judge/gate.h"
#include "perf/measure/child_process.h"
#include "perf/measure/source_folder.h"
#include "runtime/device.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <unistd.h>
#include <utility>

namespace kg::cli {

World world_of(std::vector<perf::Operation> operations, const std::filesystem::path& built_from) {
  const std::filesystem::path source = perf::source_folder(built_from);
  return {
      .operations = std::move(operations),
      .modes = {},
      .baselines = source / "baselines",
      .source = source,
      .executable = perf::this_executable(),
      .no_device = device_unavailable_reason,
      .emulated = [] { return device_properties().emulated; },
      .device = [] { return device_slug(device_properties().name); },
      .apparatus = nullptr,
      .terminal = isatty(STDERR_FILENO) != 0,
      .out = std::cout,
      .err = std::cerr,
  };
}

namespace {

std::string path_variable() {
  const char* const path = std::getenv("PATH");
  return path ? path : "";
}

// Kernels compiled at run time include the installed headers: the build's sources need not be on
// this machine.
void use_installed_headers(const World& world) {
  const auto headers = world.executable.parent_path().parent_path() / "include" / "kernelgrade";
  if (std::filesystem::exists(headers / "runtime" / "device_code.h"))
    setenv("KERNELGRADE_JIT_INCLUDE", headers.c_str(), 0);
}

} // namespace

int run_program(const char* program, int argc, char** argv, const std::function<World()>& world) {
  try {
    World made = world();
    use_installed_headers(made);
    judge::set_commands(judge::commands_for(
        std::filesystem::current_path(), made.executable,
        build::is_in_build_tree(made.executable, made.build) ? made.build : "", path_variable()));
    return kernelgrade({argv + 1, argv + argc}, made);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return judge::kExitFail;
  }
}

} // namespace kg::cli
