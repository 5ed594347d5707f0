// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two builds in two looks: what is measured again, and what becomes of rows without times.
#include "perf/measure/ab/compare_builds.h"
#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/judge/folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::ab {
namespace {

using judge::Verdict;
using testing::HasSubstr;

constexpr std::size_t kPairs = 20, kFirstLook = 6;

const Candidate kFirst = {{"copy.f32.n1", "plain", judge::Mode::real}, 2};
const Candidate kSecond = {{"copy.f32.n2", "plain", judge::Mode::real}, 2};

class CompareBuilds : public testing::Test {
 protected:
  // This program with settings of its own (fake_build.h).
  std::filesystem::path build(const std::string& name, const std::string& settings) const {
    const std::filesystem::path script = folder_.path() / name;
    write_file(script, fmt::format("#!/bin/sh\n{} exec '{}' \"$@\"\n", settings,
                                   perf::this_executable().string()));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    return script;
  }
  std::vector<ComparedRow> compare(const std::string& a, const std::string& b,
                                   const std::string& control = "") const {
    return compare_builds(
        {build("a", a), build("control", control.empty() ? a : control), build("b", b)},
        {kFirst, kSecond}, {kPairs, 1, {}});
  }

  judge::test::Folder folder_;
};

TEST_F(CompareBuilds, DecidesTheFirstLookWhereItCan) {
  const std::vector<ComparedRow> rows = compare("FAKE_NS=100", "FAKE_NS=110");
  ASSERT_EQ(rows.size(), 2u);
  for (const ComparedRow& row : rows) {
    EXPECT_EQ(row.found.value().verdict, Verdict::regressed);
    EXPECT_EQ(row.times.a_ns, std::vector<double>(kFirstLook, 100));
    EXPECT_EQ(row.times.b_ns, std::vector<double>(kFirstLook, 110));
  }
  EXPECT_EQ(rows[0].key, kFirst.key);
  EXPECT_EQ(rows[1].key, kSecond.key);
}

// The second row's times alternate about the tolerance, so that one look cannot tell.
TEST_F(CompareBuilds, MeasuresForTheSecondLookOnlyWhatIsUndecided) {
  const std::string log = folder_.path() / "log";
  const std::vector<ComparedRow> rows =
      compare("FAKE_NS=100", fmt::format("FAKE_NS=100 FAKE_NOISY=copy.f32.n2 FAKE_LOG={}", log));
  EXPECT_EQ(rows[0].found.value().pairs, kFirstLook);
  EXPECT_EQ(rows[0].found->verdict, Verdict::pass);
  EXPECT_EQ(rows[1].found.value().pairs, kPairs);
  EXPECT_EQ(rows[1].found->verdict, Verdict::inconclusive);
  std::string expected;
  for (std::size_t round = 0; round < kPairs; ++round)
    expected += fmt::format("b {} {}\n", round + 2, round < kFirstLook ? 2 : 1);
  EXPECT_EQ(read_file(log).value(), expected);
}

TEST_F(CompareBuilds, TwoCopiesThatDifferJudgeNothing) {
  EXPECT_EQ(compare("FAKE_NS=100", "FAKE_NS=110", "FAKE_NS=107")[0].found.value().verdict,
            Verdict::env);
}

TEST_F(CompareBuilds, AWrongResultIsThisBuildsFault) {
  const ComparedRow row = compare("FAKE_NS=100", "FAKE_WRONG=copy.f32.n1")[0];
  EXPECT_FALSE(row.found);
  EXPECT_TRUE(row.wrong);
  EXPECT_THAT(row.problem, HasSubstr("this build: element 5"));
}

TEST_F(CompareBuilds, AReferenceWithoutTheRowIsNoFault) {
  for (const char* setting : {"FAKE_WRONG", "FAKE_UNKNOWN", "FAKE_CRASH"}) {
    const std::vector<ComparedRow> rows = compare(fmt::format("{}=copy.f32.n1", setting), "");
    EXPECT_FALSE(rows[0].found) << setting;
    EXPECT_FALSE(rows[0].wrong) << setting;
    EXPECT_THAT(rows[0].problem, HasSubstr("the reference: ")) << setting;
    EXPECT_TRUE(rows[1].found) << setting;
  }
}

} // namespace
} // namespace kg::ab
