// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/record.h"

#include "runtime/error.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::selftest {
namespace {

using testing::HasSubstr;

Check check(const std::string& experiment, judge::Verdict verdict, double ns, int step = 0) {
  return {experiment, step, Processes(5, {ns, ns + 2, ns + 4}), verdict, {}};
}

Batch one_row(std::vector<Check> checks, double blessed_ns = 1000) {
  CheckedRow row;
  row.key = {"copy.f32.n64", "tiled", judge::Mode::hot};
  row.blessed = Processes(10, {blessed_ns, blessed_ns + 2, blessed_ns + 4});
  row.checks = std::move(checks);
  return {"nvidia-h200", "cuda", "2026-11-21T08:00:00Z", "1a2b", {row}};
}

CalibrationRow count(const Batch& batch, const std::string& experiment, std::string_view rule,
                     const std::string& rows = "all") {
  for (const CalibrationRow& row : tally(batch))
    if (row.experiment == experiment && row.rule == rule && row.rows == rows) return row;
  return {};
}

TEST(Record, IsReadAsWritten) {
  Batch batch = one_row({check("aa", judge::Verdict::pass, 1000.5)});
  batch.rows[0].reference = Processes(2, {999.9});
  batch.rows[0].checks[0].rounds = {{1, 2}, {3, 4}, {5, 6}};
  const Batch read = batch_from_json(to_json(batch), "b.json");
  EXPECT_EQ(read.source, "1a2b");
  ASSERT_EQ(read.rows.size(), 1u);
  EXPECT_EQ(read.rows[0].key, batch.rows[0].key);
  EXPECT_EQ(read.rows[0].blessed, batch.rows[0].blessed);
  EXPECT_EQ(read.rows[0].reference, batch.rows[0].reference);
  EXPECT_EQ(read.rows[0].checks[0].screened, batch.rows[0].checks[0].screened);
  EXPECT_EQ(read.rows[0].checks[0].rounds.control_ns, (std::vector<double>{5, 6}));
  EXPECT_EQ(tally(read), tally(batch));
}

TEST(Record, ASlopeOfGraphsMayBeNegativeAndATimeMayNot) {
  Batch batch = one_row({check("aa", judge::Verdict::pass, 1000)});
  batch.rows[0].blessed[0][1] = batch.rows[0].checks[0].screened[2][0] = -3;
  batch.rows[0].reference = {{-1, 5, 6}};
  EXPECT_THROW(batch_from_json(to_json(batch), "b.json"), Error);
  batch.rows[0].key.mode = judge::Mode::graph;
  const Batch read = batch_from_json(to_json(batch), "b.json");
  EXPECT_EQ(read.rows[0].blessed, batch.rows[0].blessed);
  EXPECT_EQ(read.rows[0].reference, batch.rows[0].reference);
  EXPECT_EQ(read.rows[0].checks[0].screened, batch.rows[0].checks[0].screened);
}

TEST(Record, UnknownVerdictsAndEmptyProcessesAreErrors) {
  const std::string good = to_json(one_row({check("aa", judge::Verdict::pass, 1000)}));
  const auto problem = [&](const std::string& piece, const std::string& by) -> std::string {
    std::string text = good;
    EXPECT_NE(text.find(piece), text.npos);
    text.replace(text.find(piece), piece.size(), by);
    try {
      batch_from_json(text, "b.json");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(problem("\"pass\"", "\"fine\""), HasSubstr("b.json: /rows/0/checks/0/verdict has"));
  EXPECT_THAT(problem("[1000.0,1002.0,1004.0]", "[]"), HasSubstr("samples_ns"));
}

TEST(Tally, VerdictsAreCountedAndUndecidedIncludesTheMachine) {
  using judge::Verdict;
  const Batch batch =
      one_row({check("a1", Verdict::pass, 1000), check("a2", Verdict::improved, 1000),
               check("a3", Verdict::regressed, 1000), check("a4", Verdict::inconclusive, 1000),
               check("a5", Verdict::env, 1000)});
  const auto seen = [&](const std::string& experiment) {
    const CalibrationRow row = count(batch, experiment, kOurRule);
    return std::to_string(row.rows_checked) + std::to_string(row.flagged) +
           std::to_string(row.inconclusive);
  };
  EXPECT_EQ(seen("a1"), "100");
  EXPECT_EQ(seen("a2"), "100");
  EXPECT_EQ(seen("a3"), "110");
  EXPECT_EQ(seen("a4"), "101");
  EXPECT_EQ(seen("a5"), "101");
}

TEST(Tally, ACreepIsFoundIfOneStepIs) {
  using judge::Verdict;
  const CalibrationRow found = count(
      one_row({check("creep", Verdict::pass, 1000, 1), check("creep", Verdict::regressed, 1015, 2),
               check("creep", Verdict::inconclusive, 1030, 3)}),
      "creep", kOurRule);
  EXPECT_EQ(found.rows_checked, 1u);
  EXPECT_EQ(found.flagged, 1u);
  const CalibrationRow missed = count(
      one_row({check("creep", Verdict::pass, 1000, 1), check("creep", Verdict::pass, 1015, 2)}),
      "creep", kOurRule);
  EXPECT_EQ(missed.rows_checked, 1u);
  EXPECT_EQ(missed.flagged, 0u);
}

TEST(Tally, RivalsCompareWithTheReferenceButNotTheReferenceWithItself) {
  Batch batch =
      one_row({check("aa", judge::Verdict::pass, 1000), check("aa", judge::Verdict::pass, 1100)});
  EXPECT_EQ(count(batch, "aa", "fixed_5").rows_checked, 2u); // with the blessed processes
  EXPECT_EQ(count(batch, "aa", "fixed_5").flagged, 1u);
  batch.rows[0].reference = batch.rows[0].checks[0].screened;
  EXPECT_EQ(count(batch, "aa", "fixed_5").rows_checked, 1u);
  EXPECT_EQ(count(batch, "aa", kOurRule).rows_checked, 2u);
  batch.rows[0].reference.resize(4); // too few for the rule of five processes
  EXPECT_EQ(count(batch, "aa", "onednn_t").rows_checked, 0u);
}

TEST(Tally, RowsAreClassedByTimeAndByScatter) {
  const Batch quiet = one_row({check("aa", judge::Verdict::pass, 2e5)}, 2e5);
  EXPECT_EQ(count(quiet, "aa", kOurRule, "from_100us").rows_checked, 1u);
  EXPECT_EQ(count(quiet, "aa", kOurRule, "sd_to_1pct").rows_checked, 1u);
  Batch noisy = one_row({check("aa", judge::Verdict::pass, 1000)});
  noisy.rows[0].blessed = {{1000}, {1050}};
  EXPECT_EQ(count(noisy, "aa", kOurRule, "from_100us").rows_checked, 0u);
  EXPECT_EQ(count(noisy, "aa", kOurRule, "sd_to_1pct").rows_checked, 0u);
  // ln 1.05 / sqrt 2
  EXPECT_NEAR(count(noisy, "aa", kOurRule).sd_process_pct, 3.44999, 1e-4);
}

} // namespace
} // namespace kg::selftest
