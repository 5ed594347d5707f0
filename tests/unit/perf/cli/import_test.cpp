// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gating and comparing the results of other tools.
#include "perf/judge/result.h"
#include "tests/unit/perf/cli/world.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class CliImport : public testing::Test {
 protected:
  // Google Benchmark's file of one process in which `name` took `us` in each of ten repetitions.
  std::string written(const std::string& file, double us, const std::string& name = "BM_copy/64") {
    std::string entries;
    for (int i = 0; i < 10; ++i)
      entries += fmt::format(R"({}{{"run_name":"{}","run_type":"iteration","real_time":{},)"
                             R"("time_unit":"us"}})",
                             i ? "," : "", name, us);
    const std::filesystem::path path = cli.folder.path() / file;
    write_file(path, fmt::format(R"({{"context":{{}},"benchmarks":[{}]}})", entries));
    return path;
  }
  // Three processes' files, merged.
  std::string merged(const std::string& file, double us) {
    const std::string path = cli.folder.path() / file;
    const Outcome outcome = cli({"merge", written("1", 0.999 * us), written("2", us),
                                 written("3", 1.001 * us), "--json", path});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return path;
  }
  Cli cli;
};

TEST_F(CliImport, ComparesFilesOfOtherTools) {
  const Outcome outcome = cli({"compare", written("a", 10), written("b", 20)});
  EXPECT_EQ(outcome.exit_code, 77); // one process on each side
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("BM_copy.any.64"), HasSubstr("0.500"),
                                 HasSubstr("inconclusive"), HasSubstr("kernelgrade ab")));
}

TEST_F(CliImport, GatesSeveralFilesAgainstABaseline) {
  const std::string baseline = merged("baseline.json", 10);
  const std::string p = written("p", 10.99), q = written("q", 11), r = written("r", 11.01);
  const auto gate = [&](const char* tolerance) {
    return cli({"gate", "--import", p, "--import", q, "--import", r, "--baseline", baseline,
                "--tol", tolerance});
  };
  const Outcome failed = gate("5");
  EXPECT_EQ(failed.exit_code, 1) << failed.err;
  EXPECT_THAT(failed.out, AllOf(HasSubstr("0.909"), HasSubstr("FAILED: 1 regressed")));
  const Outcome passed = gate("20");
  EXPECT_EQ(passed.exit_code, 0) << passed.out;
  EXPECT_THAT(passed.out, HasSubstr("passed: 1 pass"));
}

TEST_F(CliImport, ARowThatTheBaselineHasAndTheImportLacksFails) {
  const Outcome outcome =
      cli({"gate", "--import", written("a", 10, "BM_fill/64"), "--baseline", merged("b", 10)});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 invalid, 1 unblessed")));
}

TEST_F(CliImport, WithoutABaselineTheCommittedFilesAreAskedById) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  const std::string run = cli.folder.path() / "run.json";
  ASSERT_EQ(cli({"run", "--op", "copy", "--json", run}).exit_code, 0);
  cli.made();
  const Outcome outcome = cli({"gate", "--import", run});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("4 pass; 4 informational"));
  EXPECT_THAT(cli.made(), IsEmpty()) << "an import measures nothing";
  EXPECT_EQ(cli({"gate", "--import", written("a", 10)}).exit_code,
            1); // no canary: host rows need one
}

TEST_F(CliImport, ABlessedRowThatTheFileLacksFails) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  const std::string run = cli.folder.path() / "run.json";
  ASSERT_EQ(cli({"run", "--op", "copy", "--shape", "n64", "--json", run}).exit_code, 0);
  const Outcome outcome = cli({"gate", "--import", run});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("2 rows invalid: it was selected but not measured"));
}

TEST_F(CliImport, AFileOfTheDeviceThatIsGoneFails) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  const std::string run = cli.folder.path() / "run.json";
  ASSERT_EQ(cli({"run", "--op", "copy", "--json", run}).exit_code, 0);
  std::filesystem::remove(cli.csv("copy"));
  const Outcome outcome = cli({"gate", "--import", run});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("copy.csv is missing: restore it"));
}

TEST_F(CliImport, WhatWouldBeIgnoredIsRefused) {
  const std::string file = written("a", 10);
  EXPECT_EQ(cli({"gate", "--import", file, "--op", "copy"}).exit_code, 2);
  EXPECT_EQ(cli({"gate", "--import", file, "--processes", "3"}).exit_code, 2);
  EXPECT_EQ(cli({"gate", "--baseline", file}).exit_code, 2);
  EXPECT_EQ(cli({"gate", "--import", file, "--tol", "5"}).exit_code, 2);
}

} // namespace
} // namespace kg::cli::test
