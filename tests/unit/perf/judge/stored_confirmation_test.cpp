// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/stored_confirmation.h"

#include "runtime/error.h"
#include "tests/unit/perf/judge/rows.h"

#include <gtest/gtest.h>

namespace kg::judge {
namespace {

RowConfirmation regressed(double ratio) {
  RowConfirmation confirmation;
  confirmation.reference = "1a2b3c";
  confirmation.tags_b = {{"sm_mhz", "1980"}};
  Confirmation& found = confirmation.found.emplace();
  found.verdict = Verdict::regressed;
  found.ratio = ratio;
  found.ratio_interval = {ratio - 0.01, ratio + 0.01};
  found.detectable_pct = 1.5;
  found.pairs = 20;
  found.reason = "slower than its tolerance of 2 %";
  return confirmation;
}

// Through a file.
Results stored(Measured row) { return results_from_json(to_json(Results{{}, {row}}), "a.json"); }

TEST(StoredConfirmation, IsReadAsWritten) {
  Measured row = test::measured(100);
  EXPECT_FALSE(stored_confirmation(row));
  store(regressed(0.9), row);
  const Confirmations all = stored_confirmations(stored(row));
  ASSERT_EQ(all.size(), 1u);
  const RowConfirmation& read = all.at(row.key);
  ASSERT_TRUE(read.found);
  EXPECT_EQ(read.reference, "1a2b3c");
  EXPECT_EQ(read.tags_b.at("sm_mhz"), "1980");
  EXPECT_EQ(read.found->verdict, Verdict::regressed);
  EXPECT_EQ(read.found->ratio, 0.9);
  EXPECT_EQ(read.found->ratio_interval, (Interval{0.89, 0.91}));
  EXPECT_EQ(read.found->detectable_pct, 1.5);
  EXPECT_EQ(read.found->pairs, 20u);
  EXPECT_EQ(read.found->reason, "slower than its tolerance of 2 %");
}

TEST(StoredConfirmation, SaysWhyThereIsNone) {
  Measured row = test::measured(100);
  RowConfirmation none;
  none.unavailable = "commit 1a2b3c not found";
  store(none, row);
  const auto read = stored_confirmation(stored(row).rows[0]);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->found);
  EXPECT_EQ(read->unavailable, "commit 1a2b3c not found");
}

TEST(StoredConfirmation, OfRunsThatFoundDifferentThingsNoneCounts) {
  Measured a = test::measured(100), b = test::measured(101);
  store(regressed(0.9), a);
  store(regressed(0.8), b);
  const Results runs[] = {{{}, {a}}, {{}, {b}}};
  EXPECT_TRUE(stored_confirmations(merge(runs)).empty());
}

TEST(StoredConfirmation, ATagOfAnotherKindIsAnError) {
  Measured row = test::measured(100);
  row.tags["confirmation"] = "{}";
  EXPECT_THROW(stored_confirmation(row), Error);
}

} // namespace
} // namespace kg::judge
