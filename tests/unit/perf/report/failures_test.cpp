// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/failures.h"

#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/counted.h"
#include "tests/unit/perf/report/run.h"
#include "tests/unit/perf/report/studies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> words(const std::vector<Failure>& all) {
  std::vector<std::string> lines;
  for (const Failure& each : all) lines.push_back(each.what + ": " + each.verdict);
  return lines;
}

TEST(Failures, AreOfEveryKindAndTheWorstFirst) {
  EXPECT_THAT(words(failures(test::mixed().judged, test::counted(), test::attachments())),
              ElementsAre("Copy/f32.Random: fails", "scan.f32.n64 broken real: invalid", ": fault",
                          "copy late: survives", "copy.f32.n64 plain unique_sectors: invalid",
                          "copy.f32.n64 plain sectors_per_request: regressed",
                          "copy.plain: regressed", "copy.f32.n128 ours real: regressed",
                          "copy.f32.n128 ours real, beside 1a2b3c4d5e6f: regressed"));
  EXPECT_THAT(words(failures(test::many(3).judged, {}, test::studies())),
              ElementsAre("study matmul: gemm.f32.m16_n16_k16_nn tiled real: invalid",
                          "study matmul: naive: failed"));
  EXPECT_THAT(failures(test::many(3).judged, {}, {}), IsEmpty());
}

TEST(Failures, HaveTheCommandThatShowsThemAgain) {
  std::vector<std::string> again;
  for (const Failure& each : failures(test::mixed().judged, test::counted(), test::attachments()))
    again.push_back(each.again);
  EXPECT_EQ(again[0], "ctest -R '^correctness[.]copy[.]f32$'");
  EXPECT_EQ(again[1], "kernelgrade gate --op scan --dtype f32 --case scan.f32.n64 --variant broken "
                      "--mode real");
  EXPECT_EQ(again[2], "") << "faults say it themselves";
  EXPECT_EQ(again[3], "KERNELGRADE_MUTANT=late build/host/copy_mutants_test");
  EXPECT_EQ(again[8], "kernelgrade ab --op copy --dtype f32 --case copy.f32.n128 --variant ours "
                      "--mode real --base 1a2b3c4d5e6f7a8b");
}

TEST(Failures, OfOneCauseAreOne) {
  test::JudgedRun run = test::many(5);
  for (judge::RowResult& row : run.judged.rows) {
    row.verdict = judge::Verdict::invalid;
    row.exit_code = judge::kExitFail;
    row.reason = "its output is wrong";
  }
  run.judged.rows[3].reason = "it crashed";
  Attachments tests;
  tests.correctness = test::attachments().correctness;
  tests.correctness[0].failed = {{"Copy/f16.Ones", "wrong"}, {"Copy/f16.Random", "wrong, too"}};
  const std::vector<Failure> found = failures(run.judged, {}, tests);
  EXPECT_THAT(words(found),
              ElementsAre("Copy/f16.Ones: fails", "Copy/f32.Random: fails",
                          "op0.f32.n0 v real: invalid", "op3.f32.n0 v real: invalid"));
  EXPECT_THAT((std::vector{found[0].alike, found[1].alike, found[2].alike, found[3].alike}),
              ElementsAre(1u, 0u, 3u, 0u));
  const std::string text = markdown(found, 1);
  EXPECT_THAT(text, HasSubstr("- **Copy/f16.Ones** and 1 more like it: fails: wrong  \n  `ctest"));
  EXPECT_THAT(text, HasSubstr("\n6 more are in report.html.\n")) << "those alike are counted";
}

TEST(Failures, KeepTheirLinesAndAreNotTakenForMarkup) {
  Attachments tests;
  tests.correctness = {test::attachments().correctness[1]};
  EXPECT_EQ(markdown(failures({}, {}, tests), 10), "### What failed\n\n"
                                                   "- **Copy/f32.Random**: fails:\n"
                                                   "  ```text\n"
                                                   "  3 of 64 elements are wrong <here>\n"
                                                   "    worst (5): 1\n"
                                                   "  ```  \n"
                                                   "  `ctest -R '^correctness[.]copy[.]f32$'`\n\n");
  judge::GateResult result;
  result.faults = {"a.csv:3: <b> * c"};
  EXPECT_EQ(markdown(failures(result, {}, {}), 10),
            "### What failed\n\n- a.csv:3: &lt;b> \\* c\n\n");
}

} // namespace
} // namespace kg::report
