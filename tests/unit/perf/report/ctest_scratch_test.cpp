// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a test can be missing from a run, each made with CTest itself: what is believed
// of its lists and JUnit files elsewhere is what the installed CTest writes.
#include "perf/report/ctest_run.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::report {
namespace {

using testing::HasSubstr;

// A folder that CTest takes for a build tree, with one test of a command and a result file.
class Scratch : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  // The test "cost.axpy": `sh -c SCRIPT`, whose $2 is the file that it is to leave.
  void add(const std::string& script, const std::string& properties = "") const {
    add_command(fmt::format("\"/bin/sh\" \"-c\" [=[{}]=] \"sh\"", script), properties);
  }
  void add_command(const std::string& command, const std::string& properties = "") const {
    write_file(
        path("CTestTestfile.cmake"),
        fmt::format("add_test(cost.axpy {} \"--json\" \"{}\")\n"
                    "set_tests_properties(cost.axpy PROPERTIES LABELS \"perf;op_axpy\" {})\n",
                    command, path("cost.json"), properties));
  }
  void ctest(const std::string& options, const std::string& output) const {
    const int status = std::system(fmt::format("cd '{}' && '{}' --test-dir '{}' {} >{} 2>&1",
                                               path(""), CTEST, path(""), options, output)
                                       .c_str());
    EXPECT_TRUE(WIFEXITED(status) || WIFSIGNALED(status));
  }
  // What is known after the test was listed and run as ./grade does both.
  PlannedTest run() const {
    ctest("--show-only=json-v1", "list.json");
    ctest("--output-junit junit.xml", "run.log");
    return planned();
  }
  PlannedTest planned() const {
    const auto tests = planned_tests(path("list.json"), path("junit.xml"));
    EXPECT_EQ(tests.size(), 1u);
    return tests.at(0);
  }
  void expect(const PlannedTest& test, TestState state, const std::string& words) const {
    EXPECT_EQ(name(test.state), name(state));
    EXPECT_THAT(test.message, HasSubstr(words));
    EXPECT_EQ(test.failed(), state != TestState::passed && state != TestState::skipped);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Scratch, OneThatLeavesItsResultPasses) {
  add("echo '{}' >\"$2\"");
  const PlannedTest test = run();
  expect(test, TestState::passed, "");
  EXPECT_EQ(test.op, "axpy");
  EXPECT_EQ(test.label, "perf");
}

TEST_F(Scratch, ASkipIsNoPass) {
  add("echo 'skipped: no GPU'; exit 77", "SKIP_RETURN_CODE 77");
  expect(run(), TestState::skipped, "skipped: no GPU");
}

TEST_F(Scratch, AMissingExecutable) {
  add_command("\"" + path("no_such_program") + "\"");
  expect(run(), TestState::not_run, "no_such_program");
}

TEST_F(Scratch, AResultThatWasNeverWritten) {
  add("exit 0");
  expect(run(), TestState::no_result, "it left no file");
}

TEST_F(Scratch, AnEmptyResult) {
  add(": >\"$2\"");
  expect(run(), TestState::no_result, "is empty");
}

TEST_F(Scratch, AResultOfAnEarlierRun) {
  add("touch -d '1 hour ago' \"$2\"; echo '{}' >\"$2\"; touch -d '1 hour ago' \"$2\"");
  expect(run(), TestState::no_result, "older than this run");
}

TEST_F(Scratch, ADisabledTest) {
  add("echo '{}' >\"$2\"", "DISABLED TRUE");
  expect(run(), TestState::disabled, "CMake switches it off");
}

TEST_F(Scratch, ATestThatFails) {
  add("echo '{}' >\"$2\"; echo 'last words'; exit 1");
  expect(run(), TestState::failed, "last words");
}

TEST_F(Scratch, ATestThatASignalEnds) {
  add("kill -SEGV $$");
  expect(run(), TestState::failed, "");
}

TEST_F(Scratch, ATestThatTimesOut) {
  add("exec sleep 60", "TIMEOUT 1");
  expect(run(), TestState::timed_out, "");
}

// The test kills the CTest that runs it.
TEST_F(Scratch, ARunThatIsKilled) {
  add("echo '{}' >\"$2\"; kill -KILL $PPID");
  expect(run(), TestState::not_run, "CTest did not come to its end");
}

// An earlier run's results do not stand for one that was killed.
TEST_F(Scratch, ARunThatIsKilledAfterOneThatPassed) {
  add("echo '{}' >\"$2\"");
  expect(run(), TestState::passed, "");
  add("kill -KILL $PPID");
  expect(run(), TestState::not_run, "");
}

} // namespace
} // namespace kg::report
