// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tests of the command; called with the arguments of `kernelgrade run`, `bless`, `profile` or
// `list` it is the command itself, on the invented operations, so that measuring in fresh processes
// is tested with real ones (and .ci/gpu with a device: tests/ci/gpu_kills.sh). There
// CLI_TEST_COPY_NS sets how long every row takes, and CLI_TEST_WRONG=1 makes it wrong.
#include "tests/unit/perf/cli/world.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  using kg::cli::test::Cli;
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "run" || command == "bless" || command == "profile" || command == "list") {
    Cli cli;
    cli.behaviour = kg::cli::test::handed_down();
    // One of many replicates: a build beside another. What screens keeps the behaviour handed down.
    const char* ns = std::getenv("CLI_TEST_COPY_NS");
    if (ns && std::getenv("KERNELGRADE_BRIEF")) cli.behaviour.copy_ns = std::stod(ns);
    if (std::getenv("CLI_TEST_WRONG")) cli.behaviour.wrong = true;
    const kg::cli::test::Outcome outcome = cli({argv + 1, argv + argc});
    std::cout << outcome.out;
    std::cerr << outcome.err;
    return outcome.exit_code;
  }
  testing::InitGoogleTest(&argc, argv);
  // Locks of its own, so that a measurement that is going on elsewhere is not waited for; and no
  // settings from outside.
  const kg::TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  unsetenv("KERNELGRADE_STRICT");
  unsetenv("KERNELGRADE_REQUIRE_GPU");
  unsetenv("KERNELGRADE_BRIEF");
  unsetenv("KERNELGRADE_CONFIRM");
  unsetenv("KERNELGRADE_INJECT");
  return RUN_ALL_TESTS();
}
