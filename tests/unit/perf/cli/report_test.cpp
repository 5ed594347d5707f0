// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// `report` with files of several kinds, and with parts missing.
#include "perf/cli/options.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliReport : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (cli.folder.path() / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    return path(name);
  }
  nlohmann::json reported() const {
    return nlohmann::json::parse(read_file(path("report/report.json")).value());
  }
  Outcome report(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    arguments.insert(arguments.end(), {"--out", path("report")});
    return cli(arguments);
  }

  Cli cli;
};

TEST_F(CliReport, WhatTheHostHasNoBaselinesOfNeedNotBeTimed) {
  ASSERT_EQ(cli({"bless", "--op", "copy"}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--op", "copy", "--json", path("copy.json")}).exit_code, 0);
  const Outcome outcome = report({path("copy.json")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("no timings of fill: on the host they are"),
                                 Not(HasSubstr("it was selected but not measured"))));
  EXPECT_EQ(reported()["rows"].size(), 8u);
}

TEST_F(CliReport, OfWhatIsTimedWithoutBaselinesEveryRowIsWanted) {
  ASSERT_EQ(cli({"gate", "--op", "copy", "--dtype", "f16", "--variant", "plain", "--json",
                 path("plain.json")})
                .exit_code,
            77);
  const Outcome outcome = report({path("plain.json"), "--op", "copy"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              HasSubstr("invalid: it was selected but not measured (and 1 more like it)"));
}

TEST_F(CliReport, OnTheHostOnlyTheFirstTypeOfAnOperationMustBeTimed) {
  ASSERT_EQ(cli({"bless", "--op", "copy"}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--op", "copy", "--dtype", "f32", "--json", path("f32.json")}).exit_code,
            0);
  const Outcome without_f16 = report({path("f32.json"), "--op", "copy"});
  EXPECT_EQ(without_f16.exit_code, 0) << without_f16.out;
  EXPECT_THAT(without_f16.out, HasSubstr("no timings of copy.f16: on the host"));
  ASSERT_EQ(cli({"gate", "--op", "copy", "--dtype", "f16", "--json", path("f16.json")}).exit_code,
            0);
  const Outcome without_f32 = report({path("f16.json"), "--op", "copy"});
  EXPECT_EQ(without_f32.exit_code, 1);
  EXPECT_THAT(without_f32.out,
              HasSubstr("invalid: it was selected but not measured (and 1 more like it)"));
}

TEST_F(CliReport, AFailedTestFailsIt) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--json", path("all.json")}).exit_code, 0);
  const std::string f16 = cli.tested("copy", "f16"), fill = cli.tested("fill", "f32");
  EXPECT_EQ(report({path("all.json"), cli.tested("copy", "f32"), f16, fill}).exit_code, 0);
  EXPECT_EQ(reported()["exit_code"], 0);
  const Outcome wrong =
      report({path("all.json"), cli.tested("copy", "f32", "3 elements are wrong"), f16, fill});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("correctness: 2 passed, 1 failed"));
  EXPECT_EQ(reported()["exit_code"], 1);
  EXPECT_THAT(read_file(path("report/summary.md")).value(),
              HasSubstr("| Suite/f32.Random | 3 elements are wrong |"));
  EXPECT_THAT(read_file(path("report/annotations.txt")).value(),
              HasSubstr("::error file=tests/copy_test.cu,line=1,title=Suite/f32.Random fails::3 "));
}

TEST_F(CliReport, AWrongRowStillShowsItsBaseline) {
  ASSERT_EQ(cli({"bless", "--op", "fill"}).exit_code, 0);
  cli.behaviour.wrong = true;
  ASSERT_EQ(cli({"gate", "--op", "fill", "--json", path("fill.json")}).exit_code, 1);
  EXPECT_EQ(report({path("fill.json"), "--op", "fill"}).exit_code, 1);
  EXPECT_EQ(reported()["rows"][0]["verdict"], "invalid");
  EXPECT_EQ(reported()["rows"][0]["baseline_ns"], 1e5);
}

TEST_F(CliReport, TestsThatLeftNoFileAreMissed) {
  const Outcome outcome = report({cli.tested("copy", "f32"), cli.tested("fill", "f32")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("copy.f16: no file holds results of its correctness tests"));
  EXPECT_EQ(report({cli.tested("fill", "f32"), "--op", "fill"}).exit_code, 0);
}

TEST_F(CliReport, BuildsSideBySideAreEnough) {
  const auto builds = [&](const std::string& verdict) {
    return file("ab.json", R"({"schema": 1, "a": "1a2b", "b": "abc", "seed": 1, "rows": [{
      "case": "copy.f32.n64", "variant": "plain", "mode": "real", "verdict": ")" +
                               verdict + R"(", "a_ns": [100], "b_ns": [125], "control_ns": [100],
      "ratio": 0.8, "ratio_interval": [0.79, 0.81], "detectable_pct": 1, "reason": "r"}]})");
  };
  EXPECT_EQ(report({builds("pass")}).exit_code, 0);
  EXPECT_EQ(report({builds("inconclusive")}).exit_code, 77);
  EXPECT_EQ(report({builds("regressed")}).exit_code, 1);
  EXPECT_EQ(reported()["comparisons"][0]["rows"][0]["b_ns"], 125);
}

TEST_F(CliReport, EachIsKeptByItsTime) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--json", path("all.json")}).exit_code, 0);
  std::set<std::string> kept;
  for (int i = 0; i < 3; ++i) {
    const std::string out = report({path("all.json")}).out;
    kept.insert(out.substr(out.rfind("kept in ")));
  }
  EXPECT_EQ(kept.size(), 3u) << "though they take less than a second";
  std::size_t folders = 0;
  for (const auto& run : std::filesystem::directory_iterator(path("report/runs"))) {
    ++folders;
    EXPECT_TRUE(std::filesystem::exists(run.path() / "report.html")) << run.path();
    EXPECT_TRUE(std::filesystem::exists(run.path() / "samples.json")) << run.path();
  }
  EXPECT_EQ(folders, 3u);
}

TEST_F(CliReport, OldRunsAreRemovedButForSoMany) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--json", path("all.json")}).exit_code, 0);
  const auto runs = [&] {
    return std::distance(std::filesystem::directory_iterator(path("report/runs")), {});
  };
  write_file(path("report/runs/20200101T000000Z/report.json"), "{}");
  EXPECT_THAT(report({path("all.json")}).out, Not(HasSubstr("removed")));
  EXPECT_THAT(report({path("all.json"), "--keep", "2"}).out,
              HasSubstr("1 older run removed: --keep 2\n"));
  EXPECT_FALSE(std::filesystem::exists(path("report/runs/20200101T000000Z")));
  EXPECT_EQ(runs(), 2);
  for (int i = 0; i < 10; ++i) report({path("all.json")});
  EXPECT_EQ(runs(), 10) << "the default";
  EXPECT_EQ(report({path("all.json"), "--keep", "0"}).exit_code, kExitUsage);
}

TEST_F(CliReport, RowsOfATypeWhoseTestsFailAreNoSpeedUp) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--json", path("all.json")}).exit_code, 0);
  EXPECT_EQ(report({path("all.json"), cli.tested("copy", "f32", "3 elements are wrong"),
                    cli.tested("copy", "f16"), cli.tested("fill", "f32")})
                .exit_code,
            1);
  EXPECT_EQ(reported()["all"]["rows"], 5);
  EXPECT_EQ(reported()["all"]["graded"], 3);
  EXPECT_FALSE(reported()["categories"]["layout"].contains("grade"));
}

TEST_F(CliReport, WritesToTheFolderReportUnlessTold) {
  EXPECT_EQ(parse({"report", "a.json"}, "").options.report.folder, "report");
  EXPECT_EQ(parse({"report", "a.json", "--out", "b"}, "").options.report.folder, "b");
}

#if KERNELGRADE_HISTORY
// Ten runs as measured, then as many that take twice as long.
TEST_F(CliReport, ShowsRowsOverCommits) {
  ASSERT_EQ(cli({"bless"}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--json", path("all.json")}).exit_code, 0);
  report({path("all.json")});
  nlohmann::json run = reported();
  std::vector<std::string> imported = {"history", "import", "--db", path("history.sqlite")};
  for (int i = 0; i < 20; ++i) {
    run["environment"]["source"] = "commit" + std::to_string(i);
    run["environment"]["date_utc"] = "2026-01-" + std::to_string(10 + i) + "T00:00:00Z";
    for (nlohmann::json& row : run["rows"])
      if (i == 10)
        for (const char* time : {"median_ns", "ci_lo_ns", "ci_hi_ns"})
          row[time] = 2 * row[time].get<double>();
    imported.push_back(file(std::to_string(i) + ".json", run.dump()));
  }
  ASSERT_EQ(cli(imported).exit_code, 0);
  const Outcome outcome = report({path("all.json"), "--history", path("history.sqlite")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const nlohmann::json shown = reported()["history"];
  EXPECT_EQ(shown["rows"].size(), 9u);
  EXPECT_EQ(shown["runs"].size(), 20u);
  ASSERT_FALSE(shown["rows"][0]["events"].empty());
  EXPECT_THAT(shown["rows"][0]["events"][0]["text"].get<std::string>(),
              HasSubstr("2x SLOWER from commit commit10"));
  const Outcome missing = report({path("all.json"), "--history", path("none.sqlite")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.sqlite: no such file; make it by"));
}
#endif

} // namespace
} // namespace kg::cli::test
