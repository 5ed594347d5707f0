// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/summary.h"

#include "perf/report/report.h"
#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/counted.h"
#include "tests/unit/perf/report/run.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::report {
namespace {

using test::JudgedRun;
using test::many;
using test::mixed;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Thousands of rows that regressed, each for a reason of its own that has `length` characters.
JudgedRun slow_rows(std::size_t length) {
  JudgedRun run = many(5000);
  for (judge::RowResult& row : run.judged.rows) {
    row.verdict = judge::Verdict::regressed;
    row.exit_code = judge::kExitFail;
    row.reason = row.message + std::string(length, '.');
  }
  run.judged.exit_code = judge::kExitFail;
  return run;
}

void expect_order(const std::string& text, const std::vector<std::string>& pieces) {
  std::vector<std::size_t> places;
  for (const std::string& piece : pieces) {
    places.push_back(text.find(piece));
    EXPECT_NE(places.back(), text.npos) << piece << "\nis not in\n" << text;
  }
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << text;
}

TEST(Summary, BeginsWithTheVerdictAndWhatFailed) {
  const JudgedRun run = mixed();
  const std::string text = summary(run.measured, run.judged, test::counted(), test::attachments());
  expect_order(text,
               {"## Kernelgrade: FAILED: Copy/f32.Random fails, and ", "### What failed",
                "**Copy/f32.Random**: fails", "**scan.f32.n64 broken real**: invalid",
                "scan.csv:3: an empty line", "**Grades:**", "| category |", "| of | passed |",
                "| speed-up over |", "| can this run be trusted? |", "| machine | NVIDIA H200 |",
                "### Worth knowing", "### Timings that failed or are inconclusive",
                "| scan.f32.n64 | broken", "| scan.f32.n64 | new", "### costs", "### correctness"});
  EXPECT_THAT(text, Not(HasSubstr("| copy.f32.n64 | ours"))) << "it passed";
}

TEST(Summary, OfARunWithoutFailuresBeginsWithTheCounts) {
  JudgedRun run = many(3);
  const std::string text = summary(run.measured, run.judged);
  EXPECT_THAT(text, AllOf(HasSubstr("Kernelgrade: passed: 3 timings on this CPU unchanged"),
                          HasSubstr("**Grades:** 3 excellent"), HasSubstr("| slowest rows |"),
                          Not(HasSubstr("What failed"))));
}

TEST(Summary, NamesTenFailuresAndHowManyMoreThereAre) {
  const JudgedRun run = slow_rows(0);
  const std::string text = summary(run.measured, run.judged);
  const std::string list = text.substr(0, text.find("| of | passed |"));
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 2 + 2 + 10 * 2 + 2 + 1) << list;
  EXPECT_THAT(text, AllOf(HasSubstr("\n4990 more are in report.html.\n"),
                          HasSubstr("4980 more such rows are in report.html.")));
  EXPECT_LE(text.size(), kMostSummary);
}

TEST(Summary, StaysWithinWhatACommentTakes) {
  JudgedRun run = mixed();
  run.judged.notes.assign(100, std::string(kMostSummary / 20, '.'));
  const std::string text = summary(run.measured, run.judged);
  EXPECT_LE(text.size(), kMostSummary + 100);
  EXPECT_THAT(text, HasSubstr("more characters are in report.md"));
  expect_order(text, {"### What failed", "**copy.f32.n128 ours real**: regressed", "**Grades:**"});
}

TEST(ReportMarkdown, BeginsAlikeAndNamesEveryFailure) {
  const JudgedRun run = slow_rows(0);
  const std::string text = markdown(run.measured, run.judged);
  expect_order(text, {"# Kernelgrade report", "### What failed", "| of | passed |", "**Grades:**",
                      "| can this run be trusted? |", "## Rows, worst first", "## Environment"});
  EXPECT_THAT(text, AllOf(HasSubstr("**op19.f32.n249 v real**: regressed"),
                          Not(HasSubstr("more are in report.html"))));
}

} // namespace
} // namespace kg::report
