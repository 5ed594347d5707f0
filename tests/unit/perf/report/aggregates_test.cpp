// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/aggregates.h"

#include "perf/report/report.h"
#include "perf/report/summary.h"
#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/counted.h"
#include "tests/unit/perf/report/run.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::report {
namespace {

using test::JudgedRun;
using test::mixed;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> words(const std::vector<Success>& found) {
  std::vector<std::string> lines;
  for (const Success& each : found)
    lines.push_back(each.what + ": " + std::to_string(each.passed) + ", " +
                    std::to_string(each.failed) + ", " + std::to_string(each.skipped));
  return lines;
}

TEST(Success, IsCountedByKindAndOfOursAlone) {
  EXPECT_THAT(words(successes(mixed().judged, test::counted(), test::attachments())),
              ElementsAre("timings of Kernelgrade: 1, 2, 1", "correctness tests: 22, 1, 1",
                          "mutants: 2, 1, 0", "costs: 3, 2, 0", "sm_80-cuda13.0: 0, 1, 0",
                          "beside 1a2b3c4d5e6f: 2, 1, 1"));
  EXPECT_TRUE(successes({}, {}, {}).empty());
}

TEST(Success, IsWholeOnlyWhereNothingFails) {
  EXPECT_EQ(rate_text({"", 4999, 1, 0}), "99.9 %");
  EXPECT_EQ(rate_text({"", 5, 0, 7}), "100.0 %") << "what was skipped was not judged";
  EXPECT_EQ(rate_text({"", 0, 3, 0}), "0.0 %");
  EXPECT_EQ(rate_text({"", 0, 0, 3}), "-");
}

TEST(SpeedUp, IsOfTheRowsThatHaveOneAndSaysHowMany) {
  const SpeedUp found = over_baselines(mixed().judged);
  EXPECT_EQ(found.of, 4u);
  EXPECT_EQ(found.rows, 2u) << "one is wrong, one has no baseline";
  EXPECT_EQ(found.reached, 0u);
  EXPECT_DOUBLE_EQ(found.geomean, std::sqrt(0.95 * 0.3));
  EXPECT_DOUBLE_EQ(found.median, (0.95 + 0.3) / 2);
  EXPECT_EQ(found.least, 0.3);
  EXPECT_EQ(found.greatest, 0.95);
}

TEST(SpeedUp, OfAWrongRowCountsNowhere) {
  JudgedRun run = mixed();
  run.add("scan.f32.n32", "ours", judge::Verdict::pass, 100, 1.0);
  run.add("scan.f32.n32", "library", judge::Verdict::pass, 300, 1.0, judge::Kind::vendor);
  EXPECT_EQ(over_vendor(run.measured, run.judged, {}).rows, 2u);
  EXPECT_EQ(over_vendor(run.measured, run.judged, {}).greatest, 3);
  run.judged.rows[5].verdict = judge::Verdict::invalid; // faster than the device can be, say
  EXPECT_EQ(over_vendor(run.measured, run.judged, {}).rows, 1u);
  EXPECT_DOUBLE_EQ(over_vendor(run.measured, run.judged, {}).geomean, 0.8);
  EXPECT_EQ(over_baselines(run.judged).rows, 2u);
}

TEST(SpeedUp, OverAVendorIsKnownOnAGpuOnly) {
  JudgedRun run = mixed();
  run.measured.environment["device"] = "host";
  EXPECT_EQ(over_vendor(run.measured, run.judged, {}).rows, 0u);
  EXPECT_THAT(summary(run.measured, run.judged),
              AllOf(HasSubstr("| the baselines | 0.534 | 0.625 | 0.300 | 0.950 | 2 of 4 |"),
                    Not(HasSubstr("| the fastest vendor |"))));
}

// One test of copy.f32 fails: whatever its rows took, they are no speed-up.
TEST(SpeedUp, OfATypeWhoseTestsFailCountsNowhere) {
  JudgedRun run = mixed();
  run.add("scan.f32.n32", "ours", judge::Verdict::pass, 100, 1.0);
  const Attachments all = test::attachments();
  discredit_wrong(run.judged, all);
  EXPECT_EQ(over_baselines(run.judged).rows, 1u);
  EXPECT_EQ(over_baselines(run.judged).geomean, 1);
  EXPECT_EQ(over_vendor(run.measured, run.judged, all).rows, 0u);
  EXPECT_FALSE(run.judged.rows[0].grade);
  EXPECT_THAT(run.judged.rows[0].message, HasSubstr("correctness tests of copy.f32 fail"));
  EXPECT_TRUE(run.judged.rows[1].ratio) << "a vendor's";
}

TEST(Summary, GivesSuccessAndSpeedUpWithTheirBasis) {
  const JudgedRun run = mixed();
  for (const std::string& text : {summary(run.measured, run.judged, {}, test::attachments()),
                                  markdown(run.measured, run.judged, {}, test::attachments())})
    EXPECT_THAT(text, AllOf(HasSubstr("| timings of Kernelgrade | 1 | 2 | 1 | 33.3 % |"),
                            HasSubstr("| correctness tests | 22 | 1 | 1 | 95.6 % |"),
                            HasSubstr("| the baselines | 0.534 | 0.625 | 0.300 | 0.950 | 2 of 4 |"),
                            HasSubstr("The mean is geometric")));
  EXPECT_THAT(summary(run.measured, run.judged),
              HasSubstr("| the fastest vendor | 0.800 | 0.800 | 0.800 | 0.800 | 1 of 4 |"));
}

TEST(Category, IsAtBestFairWithACriticalRowAndHasNoGradeWithoutAll) {
  JudgedRun run;
  for (int i = 0; i < 20; ++i)
    run.add("copy.f32.n" + std::to_string(i), "ours", judge::Verdict::pass, 100, 1.0);
  run.add("copy.f32.n100", "ours", judge::Verdict::regressed, 1000, 0.1);
  EXPECT_THAT(summary(run.measured, run.judged), HasSubstr("| copys | fair | 0.896 | 21 of 21 |"));
  run.add("copy.f32.n101", "ours", judge::Verdict::invalid, 0, std::nullopt);
  EXPECT_THAT(summary(run.measured, run.judged), HasSubstr("| copys | - | 0.896 | 21 of 22 |"));
}

} // namespace
} // namespace kg::report
