// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// profile --sass: what it says where there is nothing to read. What it reads is
// tests/unit/perf/code/sass's.
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/world.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CliSass : public testing::Test {
 protected:
  void SetUp() override {
    setenv("KERNELGRADE_NVDISASM", "/bin/true", 1);
    write_file(cli_.folder.path() / "perf/code/timing_model/gpus.json",
               read_file(KERNELGRADE_GPUS).value());
  }
  void TearDown() override { unsetenv("KERNELGRADE_NVDISASM"); }

  Outcome sass(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"profile", "--sass",     "--op",
                                          "copy",    "--compiled", compiled().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli_(arguments);
  }
  std::filesystem::path compiled() const { return cli_.folder.path() / "compiled"; }

  Cli cli_;
};

TEST_F(CliSass, OptionsThatBelongTogether) {
  EXPECT_EQ(cli_({"profile", "--sass", "--cost", "--op", "copy"}).exit_code, 2);
  EXPECT_EQ(cli_({"profile", "--arch", "sm_80", "--op", "copy"}).exit_code, 2);
  const Outcome alone =
      cli_({"profile", "--compiled", cli_.folder.path().string(), "--op", "copy"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--cost or --sass"));
}

// The build's own, that is: a folder that somebody names must hold some.
TEST_F(CliSass, WithoutCompiledKernelsItSkips) {
  cli_.executable = cli_.folder.path() / "perf/kernelgrade";
  const Outcome outcome = cli_({"profile", "--sass", "--op", "copy"});
  EXPECT_EQ(outcome.exit_code, 77);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr((cli_.folder.path() / "resources").string()),
                                 HasSubstr("install the CUDA")));
  EXPECT_EQ(cli_({"profile", "--sass", "--op", "copy", "--strict"}).exit_code, 1);
  std::filesystem::create_directories(compiled());
  EXPECT_EQ(sass().exit_code, 2);
  EXPECT_THAT(sass().err, HasSubstr("it holds no compiled kernels"));
}

TEST_F(CliSass, AVariableThatNamesNoDisassemblerFails) {
  setenv("KERNELGRADE_NVDISASM", "/nowhere", 1);
  std::filesystem::create_directories(compiled() / "sm_90a-cuda13.0");
  const Outcome outcome = sass();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("KERNELGRADE_NVDISASM is /nowhere"));
}

TEST_F(CliSass, AnArchitectureOrAnOpThatWasNotCompiledFails) {
  std::filesystem::create_directories(compiled() / "sm_90a-cuda13.0");
  const Outcome arch = sass({"--arch", "sm_80"});
  EXPECT_EQ(arch.exit_code, 1);
  EXPECT_THAT(arch.err, HasSubstr("-DKERNELGRADE_RESOURCE_ARCHS=sm_80"));
  const Outcome op = sass();
  EXPECT_EQ(op.exit_code, 1);
  EXPECT_THAT(op.err, HasSubstr("op copy was not compiled for sm_90a"));
}

TEST_F(CliSass, RowsThatLaunchNoKernelOfOursFail) {
  std::filesystem::create_directories(compiled() / "sm_90a-cuda13.0" / "copy");
  const Outcome outcome = sass();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no compiled kernel"));
}

} // namespace
} // namespace kg::cli::test
