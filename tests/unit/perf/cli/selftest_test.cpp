// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade selftest without measuring: pooling, comparing, and calls that are wrong.
#include "perf/cli/options.h"
#include "perf/lab/selftest/calibration.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::HasSubstr;

class CliSelftest : public testing::Test {
 protected:
  // A calibration of so many checked rows, none of them flagged.
  std::string calibration(const std::string& name, std::size_t checked,
                          const std::string& device = "host") {
    const std::filesystem::path path = cli.folder.path() / name;
    write_file(path,
               selftest::format_calibration({{device, "host", "aa", "all", "kernelgrade", checked,
                                              0, 0, 0.5, "2026-11-21T08:00:00Z", "1a2b"}}));
    return path;
  }
  Cli cli;
};

TEST_F(CliSelftest, PoolsFiles) {
  const std::string out = cli.folder.path() / "out.csv";
  const Outcome outcome = cli(
      {"selftest", "--merge", calibration("a.csv", 100), calibration("b.csv", 20), "--out", out});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const selftest::CalibrationFile pooled = selftest::load_calibration(out);
  ASSERT_EQ(pooled.rows.size(), 1u);
  EXPECT_EQ(pooled.rows[0].rows_checked, 120u);
  EXPECT_EQ(cli({"selftest", "--merge", out}).exit_code, kExitUsage);
}

TEST_F(CliSelftest, ComparesRulesOfOneDevice) {
  const std::string host = calibration("a.csv", 100);
  const Outcome outcome = cli({"selftest", "--table", host});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| Kernelgrade | 0 % (&lt;= 3 %, 0/100) | 0 % |"));
  EXPECT_EQ(cli({"selftest", "--table", host, calibration("b.csv", 9, "nvidia-h200")}).exit_code,
            kExitUsage);
}

TEST_F(CliSelftest, MalformedFilesAreErrorsWithTheirLine) {
  const std::filesystem::path path = cli.folder.path() / "a.csv";
  write_file(path, "schema\n");
  const Outcome outcome = cli({"selftest", "--table", path});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("a.csv:1: column 'device' is missing"));
  EXPECT_EQ(cli({"selftest", "--table", cli.folder.path() / "b.csv"}).exit_code, kExitUsage);
}

TEST_F(CliSelftest, AsksForAnExperiment) {
  EXPECT_THAT(cli({"selftest"}).err, HasSubstr("no experiment is named"));
  const Outcome outcome = cli({"selftest", "ab"});
  EXPECT_EQ(outcome.exit_code, kExitUsage);
  EXPECT_THAT(outcome.err, HasSubstr("unknown experiment 'ab'"));
}

} // namespace
} // namespace kg::cli::test
