// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/exec_program.h"

#include "perf/cli/world.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace kg::cli {
namespace {

// What a command says must be of the sources as they are, not as they were when its program was
// built.
TEST(NeededProgram, IsBuiltAgainWhenItIsOlderThanItsSources) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    write_file(folder.path() / name, text);
  };
  write("CMakeCache.txt", "CMAKE_GENERATOR:INTERNAL=Ninja\nCMAKE_PROJECT_NAME:STATIC=x\nCMAKE_MAKE_"
                          "PROGRAM:FILEPATH=ninja\n");
  write("build.ninja", "rule copy\n  command = cp $in $out\nbuild program: copy source\n");
  std::ostringstream out, err;
  World world = {.operations = {},
                 .modes = {},
                 .baselines = {},
                 .source = {},
                 .build = folder.path(),
                 .executable = folder.path() / "kernelgrade",
                 .no_device = {},
                 .device = {},
                 .apparatus = {},
                 .out = out,
                 .err = err};
  const std::filesystem::path program = folder.path() / "program",
                              source = folder.path() / "source";
  write("source", "old");
  need(world, program, "program");
  EXPECT_EQ(read_file(program), "old");
  write("source", "new");
  last_write_time(program, last_write_time(source) - std::chrono::seconds(5));
  need(world, program, "program");
  EXPECT_EQ(read_file(program), "new");
}

} // namespace
} // namespace kg::cli
