// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to rmsnorm; its card configures those of every operation.
#include "tests/ops/normalization/forward_tests.h"

namespace kg::card {
namespace {

KG_OWN_TEST(Rows) { norm::check_rows(judge); }
KG_OWN_TEST(Automatic) { norm::check_automatic(); }
// Timed rows omit the statistics; the library's problem must accept that.
KG_OWN_TEST(LibrariesAreTimedWithoutStatistics) {
  const Problem problem = problem_of(judge.card(), judge.dtype(), {"nothing", "rows4_cols8"});
  const Problem timed = judge.card().vendors.problem(problem.without("rstd"), "cudnn");
  EXPECT_EQ(timed.outputs.size(), 1u);
}

KG_OWN_TEST(MoreThan2To31Elements) { norm::check_more_than_2_to_31(judge, false); }

} // namespace
} // namespace kg::card
