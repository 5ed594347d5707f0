// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/attachments.h"

#include "perf/report/report.h"
#include "perf/report/summary.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/run.h"
#include "tests/unit/perf/report/studies.h"

#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// As GoogleTest writes it: one test passes, one fails twice, one is skipped; f16 shows all that it
// demands only through what holds for any variant.
constexpr const char* kTests = R"({"tests": 4, "failures": 1, "name": "AllTests", "seed": "7",
 "program": "copy_test", "testsuites": [
 {"name": "Copy/f32", "tests": 3, "testsuite": [
  {"name": "Ones", "type_param": "float", "status": "RUN", "result": "COMPLETED", "time": "0.25s",
   "ledger.required/copy/f32/naive/exact": "yes", "ledger.seen/copy/f32/naive/exact": "yes"},
  {"name": "Random", "status": "RUN", "result": "COMPLETED", "time": "0.5s",
   "ledger.required/copy/f32/naive/vendor": "yes",
   "failures": [{"failure": "first", "type": ""}, {"failure": "second", "type": ""}]},
  {"name": "Huge", "status": "RUN", "result": "SKIPPED", "time": "0s",
   "skipped_because": "needs a GPU"}]},
 {"name": "Copy/f16", "tests": 1, "testsuite": [
  {"name": "Ones", "status": "RUN", "result": "COMPLETED", "time": "0.25s",
   "ledger.required/copy/f16/naive/vendor": "yes", "ledger.seen/copy/f16/any/vendor": "yes"}]}]})";

constexpr const char* kMutants = R"({"op": "copy", "mutants": [
 {"mutant": "one_short", "place": "ops/copy/copy.cu:3", "why": "w", "killed": true, "check": "exact",
  "expected": "exact", "test": "t", "message": "m", "seconds": 1},
 {"mutant": "late", "place": "ops/copy/copy.cu:5", "why": "w", "killed": false, "check": "SURVIVED",
  "expected": "race", "test": "", "message": "", "seconds": 1}]})";

constexpr const char* kBuilds = R"({"schema": 1, "a": "1a2b3c4d5e6f7a8b", "b": "abc", "seed": 1,
 "rows": [{"case": "copy.f32.n64", "variant": "naive", "mode": "real", "verdict": "regressed",
  "a_ns": [90, 100, 110], "b_ns": [120, 125, 130], "control_ns": [100, 100, 100], "ratio": 0.8,
  "ratio_interval": [0.79, 0.81], "detectable_pct": 1.5, "reason": "slower"},
 {"case": "copy.f32.n64", "variant": "tiled", "mode": "real", "verdict": "skipped", "a_ns": [],
  "b_ns": [], "control_ns": [], "reason": "it found no memory"}]})";

class SupplementFiles : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) {
    const auto path = folder_.path() / (std::to_string(++files_) + ".json");
    std::ofstream(path) << text;
    return path;
  }
  std::string error_of(const std::string& text) {
    try {
      add_file(all_, file(text));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  Attachments all_;
  int files_ = 0;
};

TEST_F(SupplementFiles, TestsAreReadByType) {
  ASSERT_TRUE(add_file(all_, file(kTests)));
  ASSERT_EQ(all_.correctness.size(), 2u);
  const CorrectnessRun& f16 = all_.correctness[0];
  EXPECT_EQ(f16.op + "." + f16.dtype, "copy.f16");
  EXPECT_EQ(exit_code(f16), 0);
  EXPECT_TRUE(f16.evidence.at("naive").at("vendor")) << "it was shown for any variant";
  const CorrectnessRun& f32 = all_.correctness[1];
  ASSERT_EQ(f32.passed.size(), 1u);
  EXPECT_EQ(f32.passed[0].test, "Copy/f32.Ones");
  EXPECT_EQ(f32.passed[0].seconds, 0.25);
  EXPECT_EQ(f32.seconds, 0.75);
  ASSERT_EQ(f32.failed.size(), 1u);
  EXPECT_EQ(f32.failed[0].test, "Copy/f32.Random");
  EXPECT_EQ(f32.failed[0].message, "first\nsecond");
  ASSERT_EQ(f32.skipped.size(), 1u);
  EXPECT_EQ(f32.skipped[0].message, "needs a GPU");
  EXPECT_TRUE(f32.evidence.at("naive").at("exact"));
  EXPECT_FALSE(f32.evidence.at("naive").at("vendor"));
  EXPECT_EQ(exit_code(f32), 1);
}

TEST_F(SupplementFiles, TestsThatPassWithoutTheirEvidenceFail) {
  std::string text = kTests;
  const std::string seen = "ledger.seen/copy/f16/any/vendor";
  text.replace(text.find(seen), seen.size(), "other");
  ASSERT_TRUE(add_file(all_, file(text)));
  ASSERT_EQ(all_.correctness[0].failed.size(), 1u);
  EXPECT_THAT(all_.correctness[0].failed[0].message, HasSubstr("\"vendor\""));
  EXPECT_EQ(exit_code(all_.correctness[0]), 1);
}

TEST_F(SupplementFiles, MutantsAndBuildsAreRead) {
  ASSERT_TRUE(add_file(all_, file(kMutants)));
  ASSERT_TRUE(add_file(all_, file(kBuilds)));
  EXPECT_EQ(killed(all_.mutants.at(0)), 1u);
  const SideBySide& builds = all_.comparisons.at(0);
  ASSERT_EQ(builds.rows.size(), 2u);
  EXPECT_EQ(builds.rows[0].a_ns, 100);
  EXPECT_EQ(builds.rows[0].b_ns, 125);
  EXPECT_EQ(builds.rows[0].pairs, 3u);
  EXPECT_EQ(builds.rows[0].ratio, 0.8);
  EXPECT_EQ(builds.rows[1].a_ns, 0);
  EXPECT_FALSE(builds.rows[1].ratio);
  EXPECT_THAT(lines(all_),
              ElementsAre("mutants: 1 of 2 killed", "beside 1a2b3c4d5e6f: 1 regressed, 1 skipped"));
}

TEST_F(SupplementFiles, ResultsAreLeftToOthers) {
  EXPECT_FALSE(add_file(all_, file(R"({"schema": 1, "environment": {}, "rows": []})")));
  EXPECT_FALSE(add_file(all_, file("Problem,Disposition\n")));
  EXPECT_FALSE(add_file(all_, file("")));
  EXPECT_FALSE(add_file(all_, folder_.path() / "none.json"));
  EXPECT_TRUE(all_.empty());
}

TEST_F(SupplementFiles, WhatIsGivenTwiceIsRefused) {
  for (const char* text : {kTests, kMutants}) {
    EXPECT_EQ(error_of(text), "no error");
    EXPECT_THAT(error_of(text), HasSubstr("another file also holds the "));
  }
}

TEST_F(SupplementFiles, WhatIsNotWholeIsRefusedByName) {
  EXPECT_THAT(error_of(R"({"testsuites": []})"),
              AllOf(HasSubstr("1.json"), HasSubstr("program"), HasSubstr("--gtest_output")));
  EXPECT_THAT(error_of(R"({"program": "other", "testsuites": []})"),
              AllOf(HasSubstr("2.json"), HasSubstr("\"other\"")));
  EXPECT_THAT(error_of(R"({"op": "copy", "mutants": [{"mutant": "m"}]})"),
              AllOf(HasSubstr("3.json"), HasSubstr("place")));
  EXPECT_THAT(error_of(R"({"a": "1", "b": "2", "rows": [{"case": "c"}]})"),
              AllOf(HasSubstr("4.json"), HasSubstr("mode")));
}

TEST(Attachments, OneFailureFailsTheWhole) {
  EXPECT_EQ(exit_code(test::attachments()), 1);
  Attachments one;
  one.correctness = {test::attachments().correctness[0]};
  EXPECT_EQ(exit_code(one), 0);
  one.mutants = test::attachments().mutants;
  EXPECT_EQ(exit_code(one), 1) << "a mutant survived";
  one.mutants[0].mutants.pop_back();
  EXPECT_EQ(exit_code(one), 0);
  one.comparisons = test::attachments().comparisons;
  EXPECT_EQ(exit_code(one), 1) << "a row regressed";
  one = {};
  one.correctness = {{"copy", "f32", {}, {}, {{"Copy/f32.Huge", "needs a GPU"}}, 0, {}}};
  EXPECT_EQ(exit_code(one), 77);
}

TEST(Attachments, StandInTheSummaryTheMarkdownAndTheJson) {
  const test::JudgedRun run = test::mixed();
  const Attachments all = test::attachments();
  for (const std::string& text :
       {summary(run.measured, run.judged, {}, all), markdown(run.measured, run.judged, {}, all)})
    EXPECT_THAT(
        text, AllOf(HasSubstr("FAILED: Copy/f32.Random fails, and 5 more; mutants: 2 of 3 "
                              "killed; beside 1a2b3c4d5e6f: 1 pass, 1 improved, 1 regressed"),
                    HasSubstr("| Copy/f32.Random | 3 of 64"), HasSubstr("| copy late | ops/copy/"),
                    HasSubstr("| copy.f32.n128 ours real | 100 ns | 125 ns | 0.800 | regressed"),
                    Not(HasSubstr("one_short")), Not(HasSubstr("| copy.f32.n32 ours real"))));
  const auto report = nlohmann::json::parse(json(run.measured, run.judged, {}, {}, all));
  EXPECT_EQ(report["correctness"][1]["failed"][0]["test"], "Copy/f32.Random");
  EXPECT_EQ(report["correctness"][1]["evidence"]["ours"]["vendor"], false);
  EXPECT_EQ(report["mutants"][0]["killed"], 2);
  EXPECT_EQ(report["mutants"][0]["mutants"][2]["check"], "SURVIVED");
  EXPECT_EQ(report["comparisons"][0]["rows"][1]["ratio_hi"], 1.01 * 0.8);
  EXPECT_FALSE(report["comparisons"][0]["rows"][3].contains("ratio"));
}

TEST_F(SupplementFiles, StudiesAreReadOnce) {
  const study::Header header = study::test::header(1);
  const auto path = [&] {
    study::RecordFile record = study::RecordFile::begin(folder_.path(), header);
    for (const study::Planned& planned : header.plan)
      record.append(study::test::experiment(planned));
    return record.path();
  }();
  ASSERT_TRUE(add_file(all_, path));
  EXPECT_THAT(lines(all_), ElementsAre("study matmul: 3 of 3 experiments"));
  EXPECT_EQ(exit_code(all_), 0);
  EXPECT_THROW(add_file(all_, path), Error);
}

TEST(Attachments, StudiesFailByTheirResultsAndTheirExponents) {
  Attachments all = test::studies();
  EXPECT_THAT(lines(all),
              ElementsAre("study matmul: 18 of 18 experiments",
                          "study matmul: 18 of 18 experiments, 1 invalid, 1 exponent not as "
                          "expected"));
  EXPECT_EQ(exit_code(all), 1);
  const test::JudgedRun run = test::many(1);
  const std::string text = summary(run.measured, run.judged, {}, all);
  EXPECT_THAT(text, AllOf(HasSubstr("| naive | failed | time grows as n^2.500, not as n^3 ± 0.25"),
                          HasSubstr("tiled real | invalid | element 5 is 1, not &lt;2>; again: "),
                          Not(HasSubstr("Which to take"))));
  EXPECT_THAT(markdown(run.measured, run.judged, {}, all),
              AllOf(HasSubstr("## Studies\n\n### matmul: "), HasSubstr("\n#### Which to take\n")));
  all.studies.pop_back();
  EXPECT_EQ(exit_code(all), 0);
}

} // namespace
} // namespace kg::report
