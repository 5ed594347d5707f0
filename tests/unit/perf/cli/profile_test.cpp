// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Profiling rows that launch nothing: what is selected, said and written. The kernels' share is
// tests/unit/perf/lab/profile's.
#include "tests/unit/perf/cli/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

TEST(CliProfile, ShowsTheTimePerRun) {
  Cli cli;
  const std::string file = cli.folder.path() / "profile.json";
  const Outcome outcome = cli({"profile", "--op", "copy", "--dtype", "f32", "--shape", "n64",
                               "--runs", "4", "--source-id", "abc", "--json", file});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("copy.f32.n64 plain: 100 us per run"), HasSubstr("in 4 runs"),
                    HasSubstr("host 100 us"), HasSubstr("no kernel ran")));
  const auto written = nlohmann::json::parse(read_file(file).value());
  EXPECT_EQ(written.at("environment").at("source"), "abc");
  ASSERT_EQ(written.at("rows").size(), 2u); // plain and lib
  EXPECT_EQ(written["rows"][0].at("wall_ns"), 1e5);
  EXPECT_EQ(written["rows"][0].at("runs"), 4);
}

TEST(CliProfile, ProfilesEachVariantOnceWhateverTheModes) {
  Cli cli;
  cli.modes = {judge::Mode::hot, judge::Mode::real};
  EXPECT_EQ(cli({"profile", "--op", "fill"}).exit_code, 0);
  EXPECT_EQ(cli.made().size(), 1u);
}

TEST(CliProfile, AWrongResultIsNotProfiled) {
  Cli cli;
  cli.behaviour.wrong = true;
  const Outcome outcome = cli({"profile", "--op", "fill"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("fill.f32.n64"), HasSubstr("element 5 is 1, not 2")));
}

TEST(CliProfile, WithoutADeviceItSkips) {
  Cli cli;
  cli.no_device = "no CUDA driver";
  EXPECT_EQ(cli({"profile", "--op", "fill"}).exit_code, 77);
  EXPECT_EQ(cli({"profile", "--op", "fill", "--strict"}).exit_code, 1);
}

TEST(CliProfile, EnqueueShowsOurRowsByOperation) {
  Cli cli;
  const Outcome outcome = cli({"profile", "--enqueue", "--dtype", "f32"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("operation  rows  parses  median  worst   launches  of"));
  EXPECT_THAT(outcome.out,
              ContainsRegex("copy +2 +0 +100 us +100 us +0 +copy.f32.n(64|128) plain"));
  EXPECT_THAT(outcome.out, ContainsRegex("fill +1 +0 "));
  EXPECT_EQ(cli({"profile", "--enqueue", "--sass"}).exit_code, 2);
}

TEST(CliProfile, CountsAreChecked) {
  Cli cli;
  EXPECT_EQ(cli({"profile", "--op", "fill", "--runs", "0"}).exit_code, 2);
  EXPECT_EQ(cli({"profile", "--op", "fill", "--top", "-1"}).exit_code, 2);
}

} // namespace
} // namespace kg::cli::test
