// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of another build, read from what its `list` prints.
#include "perf/measure/ab/listed_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::ab {
namespace {

using judge::Mode;
using judge::RowKey;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(RowsOfTable, AreCasesTimesVariantsTimesModes) {
  EXPECT_THAT(
      rows_of_table("case          variants (* vendor's)  modes     category\n"
                    "copy.f32.n64  plain lib*             cold hot  layout    memory  fast\n"
                    "fill.f32.n64  plain                  real      other     compute\n"
                    "2 cases, 5 rows\n"),
      UnorderedElementsAre(
          RowKey{"copy.f32.n64", "plain", Mode::cold}, RowKey{"copy.f32.n64", "plain", Mode::hot},
          RowKey{"copy.f32.n64", "lib", Mode::cold}, RowKey{"copy.f32.n64", "lib", Mode::hot},
          RowKey{"fill.f32.n64", "plain", Mode::real}));
}

TEST(RowsOfTable, AreNoneWithoutATable) {
  EXPECT_THAT(rows_of_table(""), IsEmpty());
  EXPECT_THAT(rows_of_table("kernelgrade: no rows\n\n   \n"), IsEmpty());
}

} // namespace
} // namespace kg::ab
