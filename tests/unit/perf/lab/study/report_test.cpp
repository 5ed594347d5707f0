// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/peers.h"
#include "perf/measure/measure.h"
#include "perf/report/study_page.h"
#include "perf/report/study_sections.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/perf/lab/study/study_records.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::report {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

study::Record cubic(int sizes = 6) {
  return study::test::record(study::test::header(sizes), [](const std::string& variant, double n) {
    const double work = std::pow(n, 3);
    return variant == "library" ? work : variant == "tiled" ? 2 * work : 4 * work;
  });
}

std::string text_of(const study::Record& record) {
  return plain_text(study_sections(study::named("matmul"), record));
}

TEST(StudyReport, ShowsEveryExperimentOnItsDevice) {
  study::Record record = cubic();
  record.done[0].row.tags[perf::kWorstErrorTag] = "0.25";
  EXPECT_THAT(text_of(record),
              AllOf(HasSubstr("device: host"), HasSubstr("source abc"),
                    HasSubstr("18 of 18 experiments, all on this device"),
                    ContainsRegex("16 +naive +16.38 +0.01638 .* 8.192 +8.192 +0.25 +ok"),
                    Not(HasSubstr("compile us")), HasSubstr("compare emulated kernels only")));
}

TEST(StudyReport, ABusyMachineIsSaid) {
  study::Record record = cubic();
  record.done[2].row.tags["foreign_load"] = "20";
  EXPECT_THAT(text_of(record), Not(HasSubstr("other processes")));
  record.done[5].row.tags["foreign_load"] = "80";
  EXPECT_THAT(text_of(record), HasSubstr("other processes took up to 80 % of the CPU"));
}

TEST(StudyReport, ComparesAndRecommends) {
  study::Record record = cubic();
  EXPECT_THAT(text_of(record),
              AllOf(ContainsRegex("512 +4.00 +2.00 +1.00"), ContainsRegex("512 +library +tiled\n"),
                    ContainsRegex("naive +not seen .*3.000 .*3 ± 0.25 +pass"),
                    HasSubstr("no variant surely overtakes another")));
  record.done.back() = study::test::experiment(record.header.plan.back(), 2.01 * std::pow(512, 3));
  EXPECT_THAT(text_of(record), ContainsRegex("512 +tiled or library +tiled\n"));
}

TEST(StudyReport, RegretIsOfRulesBesideTheFastestOfOurs) {
  study::Record record = cubic(2);
  for (study::Experiment& each : record.done) each.row.tags[perf::kAutomaticTag] = "tiled";
  // At the second size naive takes a quarter of tiled's time.
  record.done[3] = study::test::experiment(record.header.plan[3], 0.5 * std::pow(32, 3));
  record.done[3].row.tags[perf::kAutomaticTag] = "tiled";
  EXPECT_THAT(text_of(record), AllOf(ContainsRegex("\nautomatic +100.0 % +300.0 % +2 +0\n"),
                                     ContainsRegex("\nalways naive +41.4 % +100.0 % +2 +0\n"),
                                     ContainsRegex("\nalways tiled +100.0 % +300.0 % +2 +0\n"),
                                     HasSubstr("automatic chooses for GPUs")));
  record.done[4].row.verified = "wrong";
  record.done[4].row.samples_ns.clear();
  EXPECT_THAT(text_of(record), ContainsRegex("\nalways tiled +0.0 % +0.0 % +1 +1\n"));
}

TEST(StudyReport, ExponentsMayDifferByGroup) {
  const study::Study& study = study::named("mlp");
  const auto made = [&](double power) {
    study::Record record;
    record.header = study::test::header(1);
    record.header.study = "mlp";
    record.header.plan.clear();
    record.header.points = study.points(study::completed(study, {}));
    for (const study::Point& point : record.header.points) {
      const study::Planned planned{point.case_id, "composed"};
      if (record.find(planned)) continue; // the base, which is in each group
      record.header.plan.push_back(planned);
      record.done.push_back(study::test::experiment(
          planned, 1e6 * std::pow(point.size, point.group == "dim" ? power : 1)));
    }
    return record;
  };
  EXPECT_EQ(exit_code(study, made(2), false), 0);
  EXPECT_THAT(plain_text(study_sections(study, made(2))),
              AllOf(ContainsRegex("composed, dim .*2.000 ± 0.000 .*2 ± 0.1 +pass"),
                    ContainsRegex("composed, layers .*1.000 ± 0.000 .*1 ± 0.05 +pass")));
  EXPECT_EQ(exit_code(study, made(1.5), false), 1);
  EXPECT_THAT(plain_text(study_sections(study, made(1.5))),
              ContainsRegex("composed, dim .*1.500 .* FAILED"));
}

TEST(StudyReport, ItemsPerSecondAreNotThoseOfTheExecutor) {
  const study::Study& study = study::named("fps");
  study::Record record;
  record.header = study::test::header(1);
  record.header.study = "fps";
  record.header.plan.clear();
  record.header.points = study.points(study::completed(study, {{"network", "resnet18"}}));
  for (const char* variant : {"composed", "library"}) {
    record.header.plan.push_back({record.header.points[0].case_id, variant});
    record.done.push_back(study::test::experiment(record.header.plan.back(), 5e8));
  }
  // In half a second one image where kernels run on the CPU, eight on a GPU.
  EXPECT_THAT(plain_text(study_sections(study, record)),
              AllOf(ContainsRegex("composed +(2|16) +emulated"),
                    ContainsRegex("library +(2|16) +1.00"), Not(HasSubstr("Which to take"))));
}

TEST(StudyReport, CompileTimesHaveColumnsOfTheirOwn) {
  study::Record record = cubic();
  record.done[1].row.jit_ns = 2.5e6;
  EXPECT_THAT(text_of(record), AllOf(HasSubstr("compile us  compile ms"),
                                     ContainsRegex("16 +tiled .* 2500 +2.5\n")));
}

TEST(StudyReport, FailuresAreListedAndFail) {
  const study::Study& study = study::named("matmul");
  study::Record record = cubic();
  EXPECT_EQ(exit_code(study, record, false), 0);
  record.done[3].row.verified = "element 5 is 1, not 2";
  record.done[3].row.samples_ns.clear();
  record.done[3].traced.reset();
  EXPECT_EQ(exit_code(study, record, false), 1);
  EXPECT_THAT(text_of(record),
              AllOf(HasSubstr("INVALID: element 5 is 1, not 2; again: kernelgrade run --op gemm"),
                    ContainsRegex("32 +naive +- +- +- +- +- +- +- +INVALID")));
}

TEST(StudyReport, AFrameworkThatFailedIsAskedAgainAsOne) {
  study::Record record = cubic();
  record.done[2].row.verified = "wrong";
  record.done[2].row.samples_ns.clear();
  record.done[2].row.tags[judge::kPeerTag] = "torch";
  EXPECT_THAT(text_of(record), HasSubstr("again: kernelgrade peers --op gemm --dtype f32 --shape "
                                         "m16_n16_k16_nn --peer torch"));
}

TEST(StudyReport, AnExponentThatMayBeAnotherIsUndecided) {
  // One size takes e^4 times as long: the slope hardly moves, and its interval reaches other
  // powers.
  const study::Record record =
      study::test::record(study::test::header(6), [](const std::string&, double n) {
        return std::pow(n, 3) * (n == 64 ? std::exp(4) : 1);
      });
  EXPECT_THAT(text_of(record), ContainsRegex("naive .*inconclusive: the times scatter"));
}

TEST(StudyReport, AWrongExponentFailsAFinishedStudy) {
  const study::Study& study = study::named("matmul");
  study::Record record = study::test::record(
      study::test::header(6), [](const std::string&, double n) { return std::pow(n, 2.5); });
  EXPECT_EQ(exit_code(study, record, false), 1);
  EXPECT_THAT(text_of(record), AllOf(ContainsRegex("naive .*2.500 .*FAILED"),
                                     ContainsRegex("library .*2.500 .*outside .informs")));
  record.done.pop_back();
  EXPECT_EQ(exit_code(study, record, false), 0) << "more sizes may still come";
  EXPECT_THAT(text_of(record), HasSubstr("17 of 18 experiments (UNFINISHED)"));
  record.done.clear();
  EXPECT_EQ(exit_code(study, record, false), 1) << "nothing was measured";
}

TEST(StudyReport, SkipsAloneSkip) {
  const study::Study& study = study::named("relu");
  study::Record record = cubic(1);
  for (study::Experiment& experiment : record.done) {
    experiment.row.skipped = "no memory";
    experiment.row.samples_ns.clear();
    experiment.traced.reset();
  }
  EXPECT_EQ(exit_code(study, record, false), 77);
  EXPECT_EQ(exit_code(study, record, true), 1);
}

TEST(StudyReport, ThePageStandsAlone) {
  study::Record record = cubic();
  record.header.environment["cpu"] = "<b>";
  const std::string page = study_html(study::named("matmul"), record);
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("&lt;b&gt;"), Not(HasSubstr("<b>")),
                          HasSubstr("Time against size"), Not(HasSubstr("<script")),
                          Not(HasSubstr("http"))));
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = page.find("<circle", at)) != page.npos; ++at) ++marks;
  EXPECT_EQ(marks, record.done.size()) << "a mark for each";
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(StudyReport, HasAPlotForEachGroup) {
  study::Record record = cubic(4);
  record.header.points[2].group = record.header.points[3].group = "kernel 5x5";
  const std::string page = study_html(study::named("conv"), record);
  EXPECT_THAT(page, HasSubstr("Time against size: kernel 5x5"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(StudyReport, WritesBesideItsName) {
  const TemporaryFolder folder;
  const auto page =
      write_study(folder.path(), "report/studies/matmul-1.jsonl", study::named("matmul"), cubic());
  EXPECT_EQ(page.string(), (folder.path() / "matmul-1.html").string());
  EXPECT_TRUE(std::filesystem::exists(page));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "matmul-1.md"));
}

} // namespace
} // namespace kg::report
