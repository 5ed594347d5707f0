// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/blessed.h"

#include "perf/judge/exact_gate.h"
#include "tests/unit/perf/judge/exact_rows.h"
#include "tests/unit/perf/judge/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::resources {
namespace {

using testing::HasSubstr;

// 64 registers, 2 KiB of static shared memory, 256 threads, half the warps.
const judge::ExactFile kBlessed =
    judge::test::file_of({judge::test::kernel("scale.naive"), judge::test::kernel("scale.tiled")});

judge::ExactResult judged(const Launches& launches) {
  const auto rows =
      blessed_resources(kBlessed.rows, "sm_90a", "scale", launches, "", "not compiled: unchanged");
  return judge::judge_exact(judge::resource_table(), rows, kBlessed, {}, {});
}

TEST(BlessedResources, AreAsBlessedAndSayWhy) {
  const judge::ExactResult result = judged({{"kg::scale::tiled", {256, 0}}});
  EXPECT_EQ(result.exit_code, 0);
  for (const judge::ExactVerdict& row : result.rows)
    EXPECT_EQ(row.reason, "matches the baseline; not compiled: unchanged");
}

TEST(BlessedResources, HowTheyAreLaunchedIsCounted) {
  const judge::ExactResult result = judged({{"kg::scale::tiled", {256, 100 * 1024}}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_FALSE(result.rows[0].changed);
  EXPECT_THAT(result.rows[1].reason,
              HasSubstr("dynamic_shared 0 -> 102400, occupancy_pct 50 -> 25; not compiled"));
}

} // namespace
} // namespace kg::resources
