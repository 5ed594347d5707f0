// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/annotations.h"

#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/counted.h"
#include "tests/unit/perf/report/run.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Annotations, StandAtTheLinesTheWorstFirst) {
  Attachments tests;
  tests.correctness = test::attachments().correctness;
  tests.correctness[1].failed[0].message = "../../tests/copy_test.cu:87: 3 % wrong\nof 64";
  const std::string text = annotations(test::mixed().judged, test::counted(), tests);
  EXPECT_THAT(text, StartsWith("::error file=tests/copy_test.cu,line=87,title=Copy/f32.Random "
                               "fails::../../tests/copy_test.cu:87: 3 %25 wrong%0Aof 64%0Aagain: "
                               "ctest -R '^correctness[.]copy[.]f32$'\n"));
  std::vector<std::size_t> places;
  for (const char* piece :
       {"file=kernels/ops/scan/scan.h,line=1,title=scan.f32.n64 broken real invalid::",
        "file=kernels/ops/copy/copy.cu,line=12,title=copy.f32.n64 plain unique_sectors invalid::",
        "file=kernels/ops/copy/copy.cu,line=12,title=copy.f32.n64 plain sectors_per_request "
        "regressed:",
        "file=kernels/ops/copy/copy.cu,line=8,title=copy.plain regressed::",
        "file=kernels/ops/copy/copy.h,line=1,title=copy.f32.n128 ours real regressed::"}) {
    EXPECT_THAT(text, HasSubstr(piece));
    places.push_back(text.find(piece));
  }
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
}

TEST(Annotations, StandWhereABugIsThatNoTestFinds) {
  Attachments tests;
  tests.mutants = test::attachments().mutants;
  EXPECT_EQ(annotations({}, {}, tests),
            "::error file=kernels/ops/copy/copy.cu,line=5,title=copy late survives::no test finds "
            "this bug: "
            "A barrier is missing%0Aagain: KERNELGRADE_MUTANT=late build/host/copy_mutants_test\n");
}

TEST(Annotations, AreTenAtMostAndNoneOfWhatPassed) {
  test::JudgedRun run = test::many(30);
  EXPECT_EQ(annotations(run.judged), "");
  for (judge::RowResult& row : run.judged.rows) row.exit_code = judge::kExitFail;
  run.judged.rows[20].ratio = 0.1;
  const std::string text = annotations(run.judged);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(text,
              StartsWith("::error file=kernels/ops/op0/op0.h,line=1,title=op0.f32.n1 v real"));
}

} // namespace
} // namespace kg::report
