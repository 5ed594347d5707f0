// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// `choose`, from stored measurements to the file.
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/world.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CliChoose : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (cli.folder.path() / name).string(); }
  Outcome measure(const std::string& op) {
    return cli({"run", "--op", op, "--json", path(op + ".json")});
  }
  Cli cli;
};

TEST_F(CliChoose, WritesALineForEachCase) {
  ASSERT_EQ(measure("copy").exit_code, 0);
  ASSERT_EQ(cli({"choose", path("copy.json"), "--out", path("choices.inc")}).exit_code, 0);
  const std::string table = read_file(path("choices.inc")).value();
  EXPECT_THAT(table, HasSubstr("Dtype::f32, {.n = 64}, \"\", Variant::plain}, // plain 100 us\n"));
  EXPECT_THAT(table, HasSubstr("Dtype::f16, {.n = 128}, \"\", Variant::plain}"));
  EXPECT_THAT(table, Not(HasSubstr("Variant::vendor")));
}

TEST_F(CliChoose, OfSeveralOperationsOneMustBeNamed) {
  ASSERT_EQ(measure("copy").exit_code, 0);
  ASSERT_EQ(measure("fill").exit_code, 0);
  const std::vector<std::string> both = {"choose", path("copy.json"), path("fill.json"), "--out",
                                         path("choices.inc")};
  const Outcome unnamed = cli(both);
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("times of 2 (copy, fill): name one by --op"));
  EXPECT_FALSE(std::filesystem::exists(path("choices.inc")));
  std::vector<std::string> named = both;
  named.insert(named.end(), {"--op", "fill"});
  EXPECT_EQ(cli(named).exit_code, 0);
  EXPECT_THAT(read_file(path("choices.inc")).value(), Not(HasSubstr("f16")));
}

TEST_F(CliChoose, TheExecutorChoosesNothingForAKernel) {
  ASSERT_EQ(measure("copy").exit_code, 0);
  const Outcome outcome = cli({"choose", path("copy.json")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("times of the emulator"));
}

TEST_F(CliChoose, AKernelThatHasATableGetsIt) {
  ASSERT_EQ(measure("copy").exit_code, 0);
  std::string times = read_file(path("copy.json")).value();
  const std::string host = R"("device":"host")";
  ASSERT_NE(times.find(host), std::string::npos);
  write_file(path("gpu.json"), times.replace(times.find(host), host.size(), R"("device":"gpu-a")"));
  const Outcome without = cli({"choose", path("gpu.json")});
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.err, HasSubstr("kernels/ops/copy/choices.inc does not exist"));
  std::filesystem::create_directories(path("kernels/ops/copy"));
  write_file(path("kernels/ops/copy/choices.inc"), "{\"gpu-b\", kept}, // b\n");
  EXPECT_EQ(cli({"choose", path("gpu.json")}).exit_code, 0);
  EXPECT_THAT(read_file(path("kernels/ops/copy/choices.inc")).value(),
              testing::AllOf(HasSubstr("{\"gpu-b\", kept}"), HasSubstr("{\"gpu-a\", Dtype::f32,")));
}

} // namespace
} // namespace kg::cli::test
