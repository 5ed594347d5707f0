// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/calibration.h"

#include "perf/lab/selftest/comparison.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::selftest {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kDate = "2026-11-21T08:00:00Z";

CalibrationRow counts(const std::string& experiment, std::size_t flagged, std::size_t checked,
                      const std::string& rule = "kernelgrade") {
  return {"nvidia-h200", "cuda", experiment, "all", rule, checked, flagged, 0, 0.4, kDate, "1a2b"};
}

std::string replaced(std::string text, const std::string& piece, const std::string& by) {
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, text.npos) << piece;
  return at == text.npos ? text : text.replace(at, piece.size(), by);
}

TEST(Calibration, BoundsAreExactAndOneSided) {
  const CalibrationRow none = counts("aa", 0, 3000); // 1 - 0.05^(1/3000)
  EXPECT_EQ(none.low(), 0);
  EXPECT_NEAR(none.high(), 1 - std::pow(0.05, 1 / 3000.0), 1e-9);
  EXPECT_LT(none.high(), kFalseAlarmTarget);
  const CalibrationRow all = counts("inject_10", 60, 60); // 0.05^(1/60)
  EXPECT_EQ(all.high(), 1);
  EXPECT_NEAR(all.low(), std::pow(0.05, 1 / 60.0), 1e-9);
}

TEST(Calibration, IsReadAsWritten) {
  const std::vector<CalibrationRow> rows = {counts("aa", 1, 3000), counts("inject_5", 98, 100)};
  const CalibrationFile file = parse_calibration(format_calibration(rows), "calibration.csv");
  EXPECT_THAT(file.problems, IsEmpty()) << judge::text(file.problems);
  EXPECT_EQ(file.rows, rows);
}

TEST(Calibration, PoolingAddsCounts) {
  CalibrationRow later = counts("aa", 1, 1000);
  later.inconclusive = 4;
  later.sd_process_pct = 0.8;
  later.date_utc = "2026-12-01T00:00:00Z";
  later.source = "0f0f;1a2b";
  const std::vector<CalibrationRow> pooled =
      pool(std::vector{counts("aa", 2, 3000), counts("load", 0, 10), later});
  CalibrationRow sum = counts("aa", 3, 4000);
  sum.inconclusive = 4;
  sum.sd_process_pct = 0.5;
  sum.date_utc = later.date_utc;
  sum.source = "0f0f;1a2b";
  EXPECT_THAT(pooled, ElementsAre(sum, counts("load", 0, 10)));
}

TEST(Calibration, MalformedRowsAreErrorsWithTheirLine) {
  const std::string good = format_calibration({counts("aa", 1, 3000), counts("load", 0, 10)});
  const auto problem = [&](const std::string& piece, const std::string& by) {
    return judge::text(parse_calibration(replaced(good, piece, by), "c.csv").problems);
  };
  EXPECT_THAT(problem(",3000,1,0,", ",3000,x,0,"), HasSubstr("c.csv:2: flagged: 'x' is not"));
  EXPECT_THAT(problem(",3000,1,0,", ",3000,1,3000,"),
              HasSubstr("c.csv:2: 1 flagged and 3000 inconclusive of 3000 rows"));
  EXPECT_THAT(problem(",3000,1,0,", ",3000,0,0,"),
              AllOf(HasSubstr("c.csv:2: rate: '0.000333333' does not follow"),
                    HasSubstr("c.csv:2: ci_high")));
  EXPECT_THAT(problem(",0.95,", ",0.9,"), HasSubstr("c.csv:2: confidence: '0.9'"));
  EXPECT_THAT(problem("2026-11-21", "2026-13-21"), HasSubstr("c.csv:2: date_utc"));
  EXPECT_THAT(problem("load", "load,"), HasSubstr("c.csv:3: 17 fields under 16 columns"));
  EXPECT_THAT(problem("flagged", "caught"), HasSubstr("c.csv:1: unknown column 'caught'"));
}

TEST(Calibration, TheGateSaysWhatItLacks) {
  const auto note = [](const std::vector<CalibrationRow>& rows, const std::string& now) {
    return calibration_note(parse_calibration(format_calibration(rows), "c.csv"), now);
  };
  EXPECT_THAT(calibration_note({"c.csv", false, {}, {}}, kDate), HasSubstr("c.csv does not exist"));
  EXPECT_EQ(note({counts("aa", 0, 3000)}, kDate), "");
  EXPECT_EQ(note({counts("aa", 0, 3000)}, "2027-02-19T08:00:00Z"), ""); // 90 days
  EXPECT_THAT(note({counts("aa", 0, 3000)}, "2027-02-20T08:00:00Z"), HasSubstr("91 days old"));
  EXPECT_THAT(note({counts("aa", 0, 2900)}, kDate), HasSubstr("0 false alarms in 2900 rows"));
  EXPECT_THAT(note({counts("aa", 9, 9000, "fixed_5")}, kDate), HasSubstr("has no row"));
  EXPECT_THAT(calibration_note(parse_calibration("x\n", "c.csv"), kDate), HasSubstr("malformed"));
}

TEST(Comparison, HasALinePerRuleAndAColumnPerExperiment) {
  const std::vector<CalibrationRow> rows = {
      counts("aa", 0, 3000), counts("inject_10", 198, 200), counts("inject_5", 95, 100),
      counts("aa", 150, 3000, "onednn_t"), counts("aa", 12, 13, "fixed_5")};
  const std::string table = comparison(rows, "all").markdown();
  EXPECT_THAT(table, HasSubstr("| rule | false alarms | +5 % | +10 % | undecided, unchanged |"));
  EXPECT_THAT(table,
              HasSubstr("| Kernelgrade | 0 % (&lt;= 0.1 %, 0/3000) | 95.0 % (>= 89.8 %, 95/100) "
                        "| 99.0 % (>= 96.9 %, 198/200) | 0 % |"));
  EXPECT_THAT(
      table, HasSubstr("| t of 5 processes, p &lt;= 0.05 | 5 % (&lt;= 5.7 %, 150/3000) | - | - |"));
  EXPECT_THAT(table, HasSubstr("| medians, fixed 5 % | 92.3 % (&lt;= 100 %, 12/13) |"));
  EXPECT_THAT(comparison(rows, "from_100us").markdown(), testing::Not(HasSubstr("3000")));
}

} // namespace
} // namespace kg::selftest
