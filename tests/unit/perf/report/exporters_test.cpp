// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/exporters.h"

#include "perf/format/csv.h"
#include "perf/judge/peers.h"
#include "perf/report/html.h"
#include "perf/report/report.h"
#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/run.h"
#include "tests/unit/perf/report/studies.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace kg::report {
namespace {

using test::JudgedRun;
using test::many;
using test::mixed;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ReportJson, MeansLeaveOutWhatHasNoRatioAndSayHowMuchThatIs) {
  const JudgedRun run = mixed();
  const auto report = nlohmann::json::parse(json(run.measured, run.judged));
  EXPECT_EQ(report["all"]["rows"], 4);
  EXPECT_EQ(report["all"]["graded"], 2);
  EXPECT_NEAR(report["all"]["geomean"].get<double>(), std::sqrt(0.95 * 0.3), 1e-12);
  EXPECT_EQ(report["all"]["worst"], 0.3);
  EXPECT_FALSE(report["all"].contains("grade")) << "not all of it is known";
  EXPECT_EQ(report["categories"]["scans"]["graded"], 0);
  EXPECT_FALSE(report["categories"]["scans"].contains("geomean"));
}

TEST(ReportJson, TheVendorIsCountedWhereItStandsBesideUs) {
  const JudgedRun run = mixed();
  const auto report = nlohmann::json::parse(json(run.measured, run.judged));
  EXPECT_EQ(report["vendor"]["rows"], 1);
  EXPECT_EQ(report["vendor"]["faster"], 0);
  EXPECT_DOUBLE_EQ(report["vendor"]["geomean"].get<double>(), 0.8);
}

TEST(ReportJson, AFrameworkIsNoVendorToStandBeside) {
  JudgedRun run = mixed();
  for (judge::Measured& row : run.measured.rows)
    if (row.kind == judge::Kind::vendor) row.tags[judge::kPeerTag] = row.key.variant;
  const auto report = nlohmann::json::parse(json(run.measured, run.judged));
  EXPECT_EQ(report["vendor"]["rows"], 0);
}

TEST(ReportJson, QuantilesGoFromTheLeastSampleToTheGreatest) {
  const JudgedRun run = mixed();
  const auto report = nlohmann::json::parse(json(run.measured, run.judged));
  const auto quantiles = report["rows"][0]["quantiles_ns"].get<std::vector<double>>();
  ASSERT_EQ(quantiles.size(), 21u);
  EXPECT_DOUBLE_EQ(quantiles.front(), 99);
  EXPECT_DOUBLE_EQ(quantiles[10], 100);
  EXPECT_DOUBLE_EQ(quantiles.back(), 101);
}

TEST(ReportJson, ShareOfRoofNeedsACeiling) {
  JudgedRun run = mixed();
  for (judge::Measured& row : run.measured.rows) row.key.mode = judge::Mode::cold;
  for (judge::RowResult& row : run.judged.rows) row.key.mode = judge::Mode::cold;
  EXPECT_THAT(json(run.measured, run.judged), Not(HasSubstr("share_of_roof")));
  const judge::Ceilings ceilings = {{"dram_bytes_per_s", 2e12}};
  const auto report = nlohmann::json::parse(json(run.measured, run.judged, ceilings));
  EXPECT_DOUBLE_EQ(report["rows"][0]["share_of_roof"].get<double>(), 0.5);
  EXPECT_EQ(report["ceilings"]["dram_bytes_per_s"], 2e12);
}

TEST(RowsCsv, HasEveryRowAndReadsBack) {
  const JudgedRun run = mixed();
  const judge::Csv csv = judge::read_csv(rows_csv(run.measured, run.judged), "rows.csv");
  EXPECT_TRUE(csv.problems.empty());
  ASSERT_EQ(csv.records.size(), 6u);
  const auto& header = csv.records[0].fields;
  const auto at = [&](std::size_t row, const std::string& column) {
    const auto place = std::find(header.begin(), header.end(), column) - header.begin();
    return csv.records[row].fields.at(static_cast<std::size_t>(place));
  };
  EXPECT_EQ(at(1, "vendor_speedup"), "0.8");
  EXPECT_EQ(at(3, "ratio"), "0.3");
  EXPECT_EQ(at(3, "verdict"), "regressed");
  EXPECT_EQ(at(4, "median_ns"), "") << "it was not measured";
  EXPECT_EQ(at(4, "message"), "scan.f32.n64 broken says <why> & \"how\"");
}

TEST(Junit, CountsAndEscapes) {
  const JudgedRun run = mixed();
  const std::string xml = junit_xml(run.measured, run.judged);
  EXPECT_THAT(xml, AllOf(HasSubstr("tests=\"6\" failures=\"3\""), HasSubstr("skipped=\"1\""),
                         HasSubstr("says &lt;why&gt; &amp; &quot;how&quot;"),
                         HasSubstr("<property name=\"ratio\" value=\"0.3\"/>"),
                         HasSubstr("<failure type=\"regressed\""),
                         HasSubstr("<failure type=\"fault\"")));
  EXPECT_THAT(xml, Not(HasSubstr("says <why>")));
}

TEST(Junit, HoldsEveryTestMutantAndComparedRow) {
  const JudgedRun run = mixed();
  const std::string xml = junit_xml(run.measured, run.judged, {}, test::attachments());
  EXPECT_THAT(
      xml,
      AllOf(HasSubstr("tests=\"37\" failures=\"6\" errors=\"0\" skipped=\"3\""),
            HasSubstr("<testsuite name=\"correctness.copy.f32\" tests=\"12\" failures=\"1\" "
                      "errors=\"0\" skipped=\"1\" time=\"2.500000000\">"),
            HasSubstr("<testcase classname=\"correctness.copy.f32\" name=\"Copy/f32.Test3\" "
                      "time=\"0.250000000\">\n  </testcase>"),
            HasSubstr(
                "<failure type=\"failed\" message=\"3 of 64 elements are wrong &lt;here&gt;\">"
                "3 of 64 elements are wrong &lt;here&gt;&#10;  worst (5): 1&#10;again: ctest -R "
                "&#39;^correctness[.]copy[.]f32$&#39;</failure>"),
            HasSubstr("name=\"Copy/f32.Huge\" time=\"0.000000000\">\n   <skipped message=\"needs a "
                      "GPU\"/>"),
            HasSubstr("<testsuite name=\"mutants.copy\" tests=\"3\" failures=\"1\"")));
  EXPECT_THAT(
      xml, AllOf(HasSubstr("<failure type=\"survived\" message=\"no test finds this bug: A barrier "
                           "is missing\">"),
                 HasSubstr("&#10;again: KERNELGRADE_MUTANT=late build/host/copy_mutants_test<"),
                 HasSubstr("<property name=\"check\" value=\"exact\"/>"),
                 HasSubstr("<testsuite name=\"beside 1a2b3c4d5e6f\" tests=\"4\" failures=\"1\""),
                 HasSubstr("<property name=\"b_ns\" value=\"125\"/>")));
}

TEST(Junit, HoldsEveryExperiment) {
  const JudgedRun run = many(1);
  EXPECT_THAT(junit_xml(run.measured, run.judged, {}, test::studies()),
              AllOf(HasSubstr("<testsuite name=\"study matmul\" tests=\"18\" failures=\"0\""),
                    HasSubstr("<testsuite name=\"study matmul\" tests=\"19\" failures=\"2\""),
                    HasSubstr("name=\"naive\"")));
}

TEST(TestsCsv, HasEveryTestAndMutantAndReadsBack) {
  const judge::Csv csv = judge::read_csv(tests_csv(test::attachments()), "tests.csv");
  EXPECT_TRUE(csv.problems.empty());
  ASSERT_EQ(csv.records.size(), 1u + 24 + 3);
  EXPECT_THAT(csv.records[13].fields,
              testing::ElementsAre("correctness", "copy", "f32", "Copy/f32.Random", "failed", "0",
                                   "", "", "3 of 64 elements are wrong <here>\n  worst (5): 1",
                                   "ctest -R '^correctness[.]copy[.]f32$'"));
  EXPECT_THAT(csv.records[14].fields, testing::Contains("needs a GPU"));
  EXPECT_THAT(csv.records.back().fields,
              testing::ElementsAre("mutant", "copy", "", "late", "survived", "", "SURVIVED",
                                   "ops/copy/copy.cu:5", "A barrier is missing",
                                   "KERNELGRADE_MUTANT=late build/host/copy_mutants_test"));
}

TEST(Badge, SaysHowManyPassed) {
  const auto badge = nlohmann::json::parse(badge_json(mixed().judged));
  EXPECT_EQ(badge["schemaVersion"], 1);
  EXPECT_EQ(badge["message"], "failed, 2 of 5 rows");
  EXPECT_EQ(badge["color"], "red");
  EXPECT_EQ(nlohmann::json::parse(badge_json(many(3).judged))["message"], "passed, 3 of 3 rows");
}

TEST(Html, HoldsTheReportAndNothingThatEndsItsScript) {
  const JudgedRun run = mixed();
  const std::string report = json(run.measured, run.judged);
  const std::string page = html(report);
  const std::string begin = "id=\"report\">";
  const std::size_t from = page.find(begin) + begin.size();
  const std::size_t to = page.find("</script>", from);
  EXPECT_EQ(nlohmann::json::parse(page.substr(from, to - from)), nlohmann::json::parse(report));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("@REPORT@")), Not(HasSubstr("@STYLE@")),
                          Not(HasSubstr("@SCRIPTS@")), Not(HasSubstr("src=")),
                          Not(HasSubstr("href=\"http"))))
      << "one file, without a network";
}

// Its browser makes rows of them again: Page.ThousandsOfRowsAreShownInParts.
TEST(Html, HoldsLongListsAsColumns) {
  const std::string report = R"({"rows": [)" + [] {
    std::string rows;
    for (int i = 0; i < 1000; ++i)
      rows += fmt::format(R"({}{{"case": "softmax.f32.n{}", "verdict": "pass"{}}})", i ? "," : "",
                          i % 10, i == 7 ? R"(, "hint": "<why>")" : "");
    return rows;
  }() + "]}";
  const std::string page = html(report);
  const std::string begin = "id=\"report\">";
  const std::size_t from = page.find(begin) + begin.size();
  const auto packed = nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
  const nlohmann::json& rows = packed["rows"];
  EXPECT_EQ(rows["packed"], 1000);
  EXPECT_EQ(rows["columns"]["verdict"][0], nlohmann::json({"pass"}));
  const auto of_row = [&](const char* column, std::size_t row) {
    return rows["columns"][column][1].at(row).get<int>();
  };
  EXPECT_EQ(rows["columns"]["case"][0].at(static_cast<std::size_t>(of_row("case", 999))),
            "softmax.f32.n9");
  EXPECT_EQ(of_row("hint", 7), 0);
  EXPECT_EQ(of_row("hint", 8), -1) << "it has none";
  EXPECT_LT(packed.dump().size(), report.size() / 5);
}

// A second function of a name would silently stand for the first.
TEST(Html, ItsScriptsDefineNoFunctionTwice) {
  const JudgedRun run = mixed();
  std::istringstream page(html(json(run.measured, run.judged)));
  constexpr std::string_view kFunction = "function ";
  std::set<std::string> names;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with(kFunction)) {
      const std::string name = line.substr(kFunction.size(), line.find('(') - kFunction.size());
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  EXPECT_GT(names.size(), 50u);
}

} // namespace
} // namespace kg::report
