// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_bless.h"

#include "tests/unit/perf/judge/exact_rows.h"
#include "tests/unit/perf/judge/folder.h"

#include <gtest/gtest.h>

namespace kg::judge {
namespace {

using test::cost;
using test::file_of;
using test::Folder;
using test::measured;

const ExactFile kNoFile = {"gemm.csv", false, {}, {}};

ExactBlessPlan plan(const std::vector<ExactMeasured>& rows, const ExactFile& file,
                    const ExactBlessOptions& options = {}) {
  return plan_exact_bless(cost_table(), rows, file, {}, options);
}

TEST(ExactBless, ANewRowNeedsNoReason) {
  const ExactBlessPlan first = plan({measured(cost(8))}, kNoFile);
  EXPECT_EQ(first.entries.at(0).action, BlessAction::added);
  EXPECT_EQ(first.rows.at(0).why, "first measurement");
  EXPECT_TRUE(first.changes());
  EXPECT_EQ(first.exit_code(), 0);
}

TEST(ExactBless, WorseNeedsAReasonBetterDoesNot) {
  const ExactFile file = file_of({cost(8)});
  const ExactBlessPlan refused = plan({measured(cost(9))}, file);
  EXPECT_EQ(refused.entries.at(0).action, BlessAction::refused);
  EXPECT_EQ(refused.exit_code(), 1);
  EXPECT_FALSE(refused.changes());
  EXPECT_EQ(refused.rows.at(0).values, cost(8).values);

  const ExactBlessPlan told = plan({measured(cost(9))}, file, {"a wider tile", false});
  EXPECT_EQ(told.entries.at(0).action, BlessAction::changed);
  EXPECT_EQ(told.entries.at(0).changes, "value 8 -> 9");
  EXPECT_EQ(told.rows.at(0).why, "a wider tile");

  const ExactBlessPlan better = plan({measured(cost(7))}, file);
  EXPECT_EQ(better.entries.at(0).action, BlessAction::changed);
  EXPECT_EQ(better.rows.at(0).why, "no worse");
  EXPECT_EQ(plan({measured(cost(9), Gating::never)}, file).exit_code(), 0) << "it informs";
}

TEST(ExactBless, FewerThanTheMinimumIsRefused) {
  const ExactBlessPlan lost = plan({measured(cost(3))}, kNoFile, {"counted anew", false});
  EXPECT_EQ(lost.entries.at(0).action, BlessAction::refused);
  EXPECT_NE(lost.entries.at(0).reason.find("below the algorithmic minimum of 4"),
            std::string::npos);
  EXPECT_EQ(lost.exit_code(), 1);
  EXPECT_FALSE(lost.changes());
}

TEST(ExactBless, ChangesOnlyWhatChanged) {
  const ExactRow a = cost(8, "sectors", "a"), c = cost(8, "sectors", "c");
  const ExactFile file = file_of({a, cost(8, "sectors", "b"), c});
  const ExactBlessPlan some =
      plan({measured(a), measured(cost(4, "sectors", "b"))}, file, {"better", false});
  EXPECT_EQ(some.entries.at(0).action, BlessAction::unchanged);
  EXPECT_EQ(some.rows.at(0), a) << "its reason stays";
  EXPECT_EQ(some.rows.at(1).values[0], 4);
  EXPECT_EQ(some.rows.at(1).why, "better");
  EXPECT_EQ(some.rows.at(2), c);
  ExactMeasured other = measured(a);
  other.row.counter_id = "clang14";
  EXPECT_EQ(plan({other}, file).rows.at(0).counter_id, "clang14");
  EXPECT_FALSE(plan({measured(a)}, file).changes());
}

// Its rows share one counter_id and one reason.
TEST(ExactBless, ALineIsBlessedAsAWhole) {
  const ExactFile file = file_of({cost(8, "sectors"), cost(8, "shared_wavefronts")});
  const std::vector<ExactMeasured> mixed = {measured(cost(7, "sectors")),
                                            measured(cost(9, "shared_wavefronts"))};
  const ExactBlessPlan refused = plan(mixed, file);
  EXPECT_EQ(refused.entries.at(0).action, BlessAction::refused);
  EXPECT_EQ(refused.entries.at(0).reason, "shared_wavefronts of its line is");
  EXPECT_FALSE(refused.changes());
  EXPECT_EQ(refused.rows, file.rows);

  const ExactBlessPlan told = plan(mixed, file, {"a wider tile", false});
  EXPECT_EQ(told.rows.at(0).values[0], 7);
  EXPECT_EQ(told.rows.at(1).values[0], 9);
  const ExactBlessPlan one = plan({measured(cost(7, "sectors"))}, file, {"a wider tile"});
  EXPECT_EQ(one.rows.at(0).why, "a wider tile");
  EXPECT_EQ(one.rows.at(1).why, "a wider tile") << "the reason is the line's";
  EXPECT_EQ(one.rows.at(1).values[0], 8);
}

TEST(ExactBless, OrphansGoOnRequest) {
  const ExactRow kept = cost(8, "sectors"), orphan = cost(8, "shared_wavefronts");
  const ExactFile file = file_of({kept, orphan});
  EXPECT_EQ(plan({measured(kept)}, file).rows.size(), 2u);
  const ExactBlessPlan removed = plan({measured(kept)}, file, {"", true});
  EXPECT_EQ(removed.rows.size(), 1u);
  EXPECT_EQ(removed.entries.at(1).action, BlessAction::removed);
  const Covers nothing = [](const ExactRow&) { return false; };
  EXPECT_EQ(plan_exact_bless(cost_table(), {measured(kept)}, file, nothing, {"", true}).rows.size(),
            2u);
}

TEST(ExactBless, RefusesAMalformedFileAndNothing) {
  ExactFile malformed = file_of({});
  malformed.problems = {{"gemm.csv", 3, "wrong", "fix"}};
  EXPECT_EQ(plan({measured(cost(8))}, malformed).exit_code(), 1);
  EXPECT_FALSE(plan({measured(cost(8))}, malformed).changes());
  EXPECT_EQ(plan({}, kNoFile).exit_code(), 1);
  EXPECT_FALSE(plan({measured(cost(8)), measured(cost(8))}, kNoFile).changes());
}

TEST(ExactBless, WhatIsBlessedPasses) {
  const Folder folder;
  const auto path = folder.path() / "gemm.csv";
  ExactMeasured third = measured(cost(1.0 / 3));
  third.row.values[1] = 0;
  const ExactBlessPlan first = plan({third}, load_exact(cost_table(), path));
  carry_out(cost_table(), first, path);
  const ExactFile file = load_exact(cost_table(), path);
  EXPECT_EQ(judge_exact(cost_table(), {third}, file, {}, {}).exit_code, 0);
  EXPECT_FALSE(plan({third}, file).changes());
}

TEST(ExactBless, TheTextShowsOldAndNew) {
  ExactFile file = file_of({cost(8), cost(8, "waves")});
  file.problems = {{"gemm.csv", 3, "wrong", "fix"}};
  const std::string shown = text(plan({measured(cost(8)), measured(cost(9, "waves"))}, file));
  EXPECT_NE(shown.find("gemm.f32.m64 tiled waves  refused  value 8 -> 9  it has become worse"),
            std::string::npos)
      << shown;
  EXPECT_NE(shown.find("1 rows unchanged\nnothing is written: gemm.csv:3: wrong"),
            std::string::npos)
      << shown;
}

} // namespace
} // namespace kg::judge
