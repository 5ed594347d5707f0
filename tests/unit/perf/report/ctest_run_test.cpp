// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What did not run has not passed: the ways in which a test can be missing from a run, each of
// which must be seen.
#include "perf/report/attachments.h"
#include "perf/report/ctest_run.h"
#include "perf/report/exporters.h"
#include "perf/report/failures.h"
#include "perf/report/headline.h"
#include "perf/report/summary.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::report {
namespace {

using testing::HasSubstr;

// A run of one test, as CTest 3.25 describes it, whose file of results is whole.
class PlannedTests : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  void list(const std::string& extra = "") {
    write_file(path("list.json"),
               fmt::format(R"({{"kind": "ctestInfo", "tests": [{{"name": "cost.axpy",
      "command": ["/build/kernelgrade-cost", "gate", "--json", "{}"],
      "properties": [{{"name": "LABELS", "value": ["perf", "cat_elementwise", "op_axpy"]}},
                     {{"name": "TIMEOUT", "value": 300.0}}{},
                     {{"name": "WORKING_DIRECTORY", "value": "/build"}}]}}]}})",
                           path("cost.json").string(), extra));
  }
  void results(const std::string& test) {
    write_file(path("junit.xml"), "<?xml version=\"1.0\"?><testsuite>" + test + "</testsuite>");
  }
  void ran(const std::string& status, const std::string& inside = "",
           const std::string& seconds = "1") {
    results(fmt::format("<testcase name=\"cost.axpy\" time=\"{}\" status=\"{}\">{}</testcase>",
                        seconds, status, inside));
  }
  void SetUp() override {
    list();
    ran("run");
    write_file(path("cost.json"), "{}");
  }
  PlannedTest test() const {
    const auto tests = planned_tests(path("list.json"), path("junit.xml"));
    EXPECT_EQ(tests.size(), 1u);
    return tests.at(0);
  }
  void expect(TestState state, const std::string& words) const {
    EXPECT_EQ(name(test().state), name(state));
    EXPECT_THAT(test().message, HasSubstr(words));
    // In every face of the report, and first.
    Attachments attachments;
    attachments.tests = {test()};
    EXPECT_EQ(exit_code(attachments), judge::kExitFail);
    judge::GateResult result;
    result.exit_code = exit_code(attachments);
    const auto failed = failures(result, {}, attachments);
    ASSERT_FALSE(failed.empty());
    EXPECT_EQ(failed.front().what, "cost.axpy");
    EXPECT_EQ(failed.front().again, "ctest --test-dir /build -R '^cost.axpy$' --output-on-failure");
    EXPECT_THAT(summary({}, result, {}, attachments),
                HasSubstr("**cost.axpy**: " + std::string(name(state))));
    EXPECT_THAT(headline({}, result, {}, attachments),
                HasSubstr("FAILED: cost.axpy " + std::string(name(state))));
    EXPECT_THAT(junit_xml({}, result, {}, attachments), HasSubstr("<failure"));
    EXPECT_THAT(badge_json(result, {}, attachments), HasSubstr("\"red\""));
  }

  TemporaryFolder folder_;
};

TEST_F(PlannedTests, OneThatPassedAndLeftItsResultHasPassed) {
  EXPECT_EQ(test().state, TestState::passed);
  EXPECT_EQ(test().op, "axpy");
  EXPECT_EQ(test().label, "perf");
  EXPECT_FALSE(test().failed());
  EXPECT_EQ(line({test()}), "tests: 1 passed");
}

TEST_F(PlannedTests, OneThatIsSkippedSaysWhy) {
  ran("notrun", "<skipped message=\"SKIP_RETURN_CODE=77\"/><system-out>a line\nskipped: no "
                "GPU\n</system-out>");
  EXPECT_EQ(test().state, TestState::skipped);
  EXPECT_EQ(test().message, "skipped: no GPU");
}

TEST_F(PlannedTests, WithoutItsExecutableItDidNotRun) {
  ran("notrun", "<skipped message=\"Unable to find executable\"/><system-out>Unable to find "
                "executable: /build/x</system-out>");
  expect(TestState::not_run, "Unable to find executable: /build/x");
}

TEST_F(PlannedTests, WithoutAResultFileItHasNotPassed) {
  std::filesystem::remove(path("cost.json"));
  expect(TestState::no_result, "it left no file");
}

TEST_F(PlannedTests, AnEmptyResultFileIsNone) {
  write_file(path("cost.json"), "");
  expect(TestState::no_result, "is empty");
}

TEST_F(PlannedTests, NorIsOneCutOff) {
  write_file(path("cost.json"), "{\"rows\": [");
  expect(TestState::no_result, "is not complete JSON");
}

TEST_F(PlannedTests, NorOneOfAnEarlierRun) {
  std::filesystem::last_write_time(path("cost.json"),
                                   std::filesystem::last_write_time(path("list.json")) -
                                       std::chrono::hours(1));
  expect(TestState::no_result, "older than this run");
}

TEST_F(PlannedTests, ARunThatWasKilledHasRunNothing) {
  std::filesystem::remove(path("junit.xml"));
  expect(TestState::not_run, "CTest did not come to its end");
  write_file(path("junit.xml"),
             "<?xml version=\"1.0\"?><testsuite><testcase name=\"cost.axpy\" sta");
  expect(TestState::not_run, "CTest did not come to its end");
}

TEST_F(PlannedTests, OneThatIsSwitchedOffHasNotPassed) {
  ran("disabled", "<system-out>Disabled</system-out>");
  expect(TestState::disabled, "CMake switches it off");
}

TEST_F(PlannedTests, OneThatTheResultsDoNotMentionDidNotRun) {
  results("");
  expect(TestState::not_run, "do not mention it");
}

TEST_F(PlannedTests, OneThatTookAllItsTimeTimedOut) {
  ran("fail", "<failure message=\"\"/>", "300.1");
  expect(TestState::timed_out, "");
}

TEST_F(PlannedTests, OneThatFailedIsNamedUnlessItsRowsAre) {
  ran("fail", "<failure message=\"\"/><system-out>some\nlast words\n</system-out>");
  expect(TestState::failed, "last words");
  CorrectnessRun wrong;
  wrong.op = "axpy";
  wrong.dtype = "f32";
  wrong.failed = {{"Axpy.Wrong", "3 elements", 0}};
  Attachments attachments;
  attachments.tests = {test()};
  attachments.tests[0].name = "correctness.axpy.f32";
  attachments.correctness = {wrong};
  EXPECT_EQ(failures({}, {}, attachments).size(), 1u) << "one failure, named once";
}

TEST_F(PlannedTests, AListThatIsNoneIsAnError) {
  write_file(path("list.json"), R"({"tests": []})");
  EXPECT_THROW(planned_tests(path("list.json"), path("junit.xml")), Error);
  write_file(path("list.json"), "{}");
  EXPECT_THROW(planned_tests(path("list.json"), path("junit.xml")), Error);
  EXPECT_THROW(planned_tests(path("none.json"), path("junit.xml")), Error);
}

} // namespace
} // namespace kg::report
