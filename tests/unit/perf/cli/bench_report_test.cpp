// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/report.h"

#include "perf/judge/stored_confirmation.h"
#include "perf/report/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

judge::Measured measured(const std::string& variant, double ns) {
  judge::Measured row;
  row.op = "copy";
  row.dtype = "f32";
  row.key = {"copy.f32.n64", variant, judge::Mode::real};
  row.bytes = 512;
  row.flops = 64;
  judge::take_samples(row, std::vector<double>(10, ns));
  return row;
}

judge::RowResult judged(const std::string& variant, judge::Verdict verdict,
                        std::optional<double> ratio, int exit_code) {
  judge::RowResult row;
  row.op = "copy";
  row.dtype = "f32";
  row.key = {"copy.f32.n64", variant, judge::Mode::real};
  row.verdict = verdict;
  row.exit_code = exit_code;
  row.ratio = ratio;
  if (ratio) {
    row.ratio_interval = {*ratio, *ratio};
    row.grade = judge::grade(*ratio);
  }
  row.reason = row.message = "because of " + variant;
  return row;
}

TEST(RateText, IsInWhatTheRowDoesMoreOf) {
  judge::Measured row = measured("a", 100);
  EXPECT_EQ(rate_text(row), "5.12 GB/s");
  row.flops = 51200;
  EXPECT_EQ(rate_text(row), "512 GFLOP/s");
  row.bytes = row.flops = 0;
  EXPECT_EQ(rate_text(row), "-");
  EXPECT_EQ(rate_text(judge::Measured{}), "-") << "without a time";
}

TEST(MeasuredTable, AnIntervalWiderThanTheMedianIsNoFigure) {
  judge::Measured row = measured("a", 100);
  row.ci_ns = {50, 5e5};
  EXPECT_THAT(measured_table({row}, judge::Device::host).plain(), HasSubstr("> ±100 %"));
}

TEST(MeasuredTable, ShowsWhyARowHasNoTime) {
  judge::Measured wrong;
  wrong.key = {"copy.f32.n64", "b", judge::Mode::real};
  wrong.verified = "element 1 is 2";
  const std::string table =
      measured_table({measured("a", 100), wrong}, judge::Device::host).plain();
  EXPECT_THAT(
      table, AllOf(HasSubstr("100 ns"), HasSubstr("±0.0 %"), HasSubstr("INVALID: element 1 is 2")));
}

judge::GateResult mixed() {
  judge::GateResult result;
  result.rows = {judged("good", judge::Verdict::pass, 0.95, 0),
                 judged("new", judge::Verdict::unblessed, std::nullopt, 77),
                 judged("slow", judge::Verdict::regressed, 0.3, 1),
                 judged("fair", judge::Verdict::pass, 0.6, 0),
                 judged("broken", judge::Verdict::invalid, std::nullopt, 1)};
  return result;
}

TEST(JudgedTable, PutsTheWorstFirst) {
  const std::string table =
      judged_table(mixed(), {measured("slow", 100)}, judge::Device::host).plain();
  std::vector<std::size_t> places;
  for (const char* variant : {"broken", "slow", "fair", "good", "new"})
    places.push_back(table.find(variant));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << table;
  EXPECT_NE(places.back(), std::string::npos);
  EXPECT_THAT(table, AllOf(HasSubstr("n/a"), HasSubstr("poor"), HasSubstr("5.12 GB/s")));
}

judge::Measured vendors(const std::string& variant, double ns) {
  judge::Measured row = measured(variant, ns);
  row.kind = judge::Kind::vendor;
  return row;
}

TEST(VendorSpeedup, IsAgainstTheFastestVendorOfTheSameCaseAndMode) {
  judge::Measured cold = measured("ours", 50);
  cold.key.mode = judge::Mode::cold;
  judge::Measured broken = vendors("broken", 1);
  broken.verified = "wrong";
  const auto found = vendor_speedups({measured("ours", 100), cold, vendors("slow", 90),
                                      vendors("fast", 60), vendors("middling", 80), broken});
  EXPECT_EQ(found, (std::map<judge::RowKey, double>{{measured("ours", 1).key, 0.6}}));
}

TEST(VendorSpeedup, IsShownOnAGpuOnly) {
  const std::vector<judge::Measured> rows = {measured("ours", 100), vendors("lib", 60)};
  EXPECT_THAT(measured_table(rows, judge::Device::gpu).plain(), HasSubstr("0.60 fair"));
  EXPECT_THAT(measured_table(rows, judge::Device::host).plain(), Not(HasSubstr("vs vendor")));
  judge::GateResult result;
  result.rows = {judged("ours", judge::Verdict::pass, 1, 0)};
  EXPECT_THAT(json({{{"device", "nvidia-h200"}}, rows}, result),
              HasSubstr("\"vendor_speedup\": 0.6"));
  EXPECT_THAT(json({{{"device", "host"}}, rows}, result), Not(HasSubstr("vendor_speedup")));
}

TEST(Report, MarkdownNamesFailuresAndEnvironment) {
  const judge::Results run = {{{"cpu", "EPYC"}}, {measured("slow", 100)}};
  const std::string text = markdown(run, mixed());
  EXPECT_THAT(text, AllOf(HasSubstr("because of slow"), HasSubstr("| cpu | EPYC |"),
                          HasSubstr("5.12 GB/s"), HasSubstr("FAILED")));
  EXPECT_EQ(text.find("Rows, worst first"), text.rfind("Rows, worst first"));
}

TEST(Report, ShowsWhatWasMeasuredSideBySide) {
  judge::Measured slow = measured("slow", 100), fair = measured("fair", 100);
  judge::RowConfirmation confirmation;
  confirmation.reference = "1a2b3c";
  judge::Confirmation& found = confirmation.found.emplace();
  found.verdict = judge::Verdict::regressed;
  found.ratio = 0.9;
  found.ratio_interval = {0.89, 0.91};
  found.pairs = 20;
  judge::store(confirmation, slow);
  confirmation = {};
  confirmation.unavailable = "disabled";
  judge::store(confirmation, fair);
  const judge::Results run = {{}, {slow, fair, measured("good", 100)}};
  EXPECT_THAT(markdown(run, mixed()),
              AllOf(HasSubstr("| copy.f32.n64 slow real | 1a2b3c | 20 | 0.900 | [0.890, 0.910] | "
                              "regressed |"),
                    HasSubstr("unconfirmed: disabled")));
  EXPECT_THAT(markdown({{}, {measured("good", 100)}}, mixed()), Not(HasSubstr("side by side")));
  const auto rows = nlohmann::json::parse(json(run, mixed()))["rows"];
  EXPECT_EQ(rows[2]["confirmation"]["verdict"], "regressed");
  EXPECT_EQ(rows[2]["confirmation"]["ratio_hi"], 0.91);
  EXPECT_EQ(rows[2]["confirmation"]["reference"], "1a2b3c");
  EXPECT_EQ(rows[3]["confirmation"]["unavailable"], "disabled");
  EXPECT_FALSE(rows[0].contains("confirmation"));
}

TEST(Report, JsonHoldsEveryRow) {
  const judge::Results run = {{{"cpu", "EPYC"}}, {measured("slow", 100)}};
  judge::GateResult result = mixed();
  result.exit_code = 1;
  result.faults = {"fill.csv:3: an empty line"};
  const auto report = nlohmann::json::parse(json(run, result));
  EXPECT_EQ(report["schema"], kReportSchema);
  EXPECT_EQ(report["exit_code"], 1);
  EXPECT_EQ(report["environment"]["cpu"], "EPYC");
  EXPECT_EQ(report["faults"][0], "fill.csv:3: an empty line");
  ASSERT_EQ(report["rows"].size(), 5u);
  const auto& slow = report["rows"][2];
  EXPECT_EQ(slow["verdict"], "regressed");
  EXPECT_EQ(slow["grade"], "poor");
  EXPECT_EQ(slow["ratio"], 0.3);
  EXPECT_EQ(slow["median_ns"], 100);
  EXPECT_EQ(slow["gb_per_s"], 5.12);
  EXPECT_THAT(slow["reproduce"], HasSubstr("--variant slow"));
  EXPECT_FALSE(report["rows"][1].contains("median_ns")) << "it was not measured";
  EXPECT_FALSE(report["rows"][1].contains("grade"));
}

} // namespace
} // namespace kg::report
