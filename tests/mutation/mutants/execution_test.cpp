// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the hunt for mutants, with a shell script as an op's tests A.one, A.two and A.three.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/mutation/mutants/execution.h"

namespace kg::mutants {
namespace {

using testing::HasSubstr;

class Hunt : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "hunt-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `behaviour`: shell code that runs in each selected test, with $mutant and $test.
  Outcome hunt(const std::string& behaviour, const std::string& tests = "") {
    const std::filesystem::path program = folder_ / "op_mutants_test";
    std::ofstream(program) << R"(#!/bin/bash
filter=${1#--gtest_filter=}
mutant=$KERNELGRADE_MUTANT
ran=1
for test in A.one A.two A.three; do
  chosen=${filter%%-*}
  excluded=
  [[ $filter == *-* ]] && excluded=${filter#*-}
  [[ $chosen == '*' || :$chosen: == *:$test:* ]] || continue
  [[ :$excluded: == *:$test:* ]] && continue
  echo "$mutant $test" >> )"
                           << folder_.string() << R"(/log
  echo "@started $test"
  ran=0
)" << behaviour << R"(
done
exit $ran
)";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    constexpr int kLimit = 1;
    return Executor(program.string(), kLimit)
        .hunt({.name = "bug",
               .file = "f",
               .after = "",
               .original = "o",
               .mutant = "m",
               .tests = tests});
  }

  // The runs so far: mutant and test.
  std::string log() const {
    std::ifstream file(folder_ / "log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::string fails_in(const std::string& test) {
    return "[[ $mutant == bug && $test == " + test +
           " ]] && { echo '@failed t.cu:1'; echo 'must be exact'; exit 1; }";
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(Hunt, ExpectedTestsRunFirstAndAlone) {
  const Outcome outcome = hunt(fails_in("A.two"), "A.two");
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_EQ(outcome.check, "exact");
  EXPECT_EQ(outcome.test, "A.two");
  EXPECT_EQ(log(), "bug A.two\nnone A.two\n");
}

TEST_F(Hunt, OthersRunWhereTheExpectedOnesPass) {
  const Outcome outcome = hunt(fails_in("A.three"), "A.two");
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_EQ(outcome.test, "A.three");
  EXPECT_EQ(log(), "bug A.two\nbug A.one\nbug A.three\nnone A.three\n");
}

TEST_F(Hunt, SurvivorHasSeenAllTests) {
  EXPECT_EQ(hunt(":", "A.two").end, End::survived);
  EXPECT_EQ(log(), "bug A.two\nbug A.one\nbug A.three\n");
}

TEST_F(Hunt, CrashIsPutAsideForATestThatSpeaks) {
  const Outcome outcome = hunt("[[ $test == A.one ]] && kill -SEGV $$\n" + fails_in("A.three"));
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_EQ(outcome.test, "A.three");
}

TEST_F(Hunt, CrashAloneIsNoKill) {
  const Outcome outcome = hunt("[[ $test == A.one ]] && kill -SEGV $$");
  EXPECT_EQ(outcome.end, End::crashed);
  EXPECT_EQ(outcome.test, "A.one");
  EXPECT_EQ(log(), "bug A.one\nbug A.two\nbug A.three\n");
}

TEST_F(Hunt, TimeOutAloneIsNoKill) {
  const Outcome outcome = hunt("[[ $test == A.two ]] && sleep 60", "A.two");
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_EQ(outcome.test, "A.two");
}

TEST_F(Hunt, TestThatFailsWithoutTheMutantKillsNothing) {
  try {
    hunt("[[ $test == A.one ]] && { echo '@failed t.cu:1'; echo 'always'; exit 1; }");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("A.one fails without any mutant, too: t.cu:1\nalways"));
  }
}

TEST_F(Hunt, FilterWithoutTestsIsAnError) {
  try {
    hunt(":", "A.four");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("mutant \"bug\": no test of "));
    EXPECT_THAT(error.what(), HasSubstr("fits \"tests\": A.four"));
  }
}

} // namespace
} // namespace kg::mutants
