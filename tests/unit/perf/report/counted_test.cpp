// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/counted.h"

#include "perf/format/csv.h"
#include "perf/report/exporters.h"
#include "perf/report/headline.h"
#include "perf/report/report.h"
#include "perf/report/summary.h"
#include "tests/unit/perf/report/counted.h"
#include "tests/unit/perf/report/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::report {
namespace {

using test::counted;
using test::mixed;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Counted, TheWorstComesFirst) {
  const CountedSection costs = counted().at(0);
  std::vector<std::string> order;
  for (const std::size_t i : worst_first(costs)) order.push_back(costs.measured[i].row.key[2]);
  EXPECT_THAT(order, ElementsAre("unique_sectors", "sectors_per_request", "collectives", "barriers",
                                 "sectors"))
      << "invalid, regressed, improved, three times its minimum, at its minimum";
}

TEST(Counted, ReportJsonHasBothValuesTheLineAndTheHint) {
  const test::JudgedRun run = mixed();
  const auto report = nlohmann::json::parse(json(run.measured, run.judged, {}, counted()));
  ASSERT_EQ(report["counted"].size(), 2u);
  const auto& costs = report["counted"][0];
  EXPECT_EQ(costs["table"], "cost");
  EXPECT_EQ(costs["verdicts"]["regressed"], 1);
  EXPECT_EQ(costs["rows"][0]["verdict"], "invalid");
  EXPECT_EQ(costs["rows"][0]["baseline"]["value"], 80) << "what was blessed is known all the same";
  const auto& slow = costs["rows"][1];
  EXPECT_EQ(slow["metric"], "sectors_per_request");
  EXPECT_EQ(slow["value"], 4.1);
  EXPECT_EQ(slow["baseline"]["value"], 4);
  EXPECT_EQ(slow["site"], "kernels/ops/copy/copy.cu:12");
  EXPECT_EQ(slow["hint"], "misaligned read");
  const auto& kernel = report["counted"][1]["rows"][0];
  EXPECT_EQ(kernel["spill_bytes"], 16);
  EXPECT_EQ(kernel["baseline"]["spill_bytes"], 0);
  EXPECT_THAT(kernel["hint"].get<std::string>(), HasSubstr("launch bounds"));
  EXPECT_THAT(report["line"].get<std::string>(),
              HasSubstr("costs: 2 pass, 1 improved, 1 regressed, 1 invalid; sm_80-cuda13.0: 1 "
                        "regressed"));
}

TEST(Counted, TheSummaryCountsAndNamesWhatIsNotAsBlessed) {
  const test::JudgedRun run = mixed();
  const std::string text = summary(run.measured, run.judged, counted());
  EXPECT_THAT(text, AllOf(HasSubstr("### costs\n\n2 pass, 1 improved, 1 regressed, 1 invalid"),
                          HasSubstr("value 4 -> 4.1"), HasSubstr("copy.cu:12"),
                          HasSubstr("spill_bytes 0 -> 16"), Not(HasSubstr("barriers"))));
  EXPECT_THAT(markdown(counted().at(0), 1), HasSubstr("2 more such rows are in report.html"));
}

TEST(Counted, RowsCsvHoldsThemBehindTheTimings) {
  const test::JudgedRun run = mixed();
  const judge::Csv csv = judge::read_csv(rows_csv(run.measured, run.judged, counted()), "rows.csv");
  EXPECT_TRUE(csv.problems.empty());
  ASSERT_EQ(csv.records.size(), 1u + 5 + 5 + 14);
  const auto& header = csv.records[0].fields;
  const auto at = [&](std::size_t row, const std::string& column) {
    const auto place = std::find(header.begin(), header.end(), column) - header.begin();
    return csv.records[row].fields.at(static_cast<std::size_t>(place));
  };
  EXPECT_EQ(at(1, "metric"), "") << "a timing";
  EXPECT_EQ(at(7, "case") + " " + at(7, "variant"), "copy.f32.n64 plain");
  EXPECT_EQ(at(7, "metric"), "sectors_per_request");
  EXPECT_EQ(at(7, "baseline") + " -> " + at(7, "measured") + ", " + at(7, "minimum"),
            "4 -> 4.1, 4");
  EXPECT_EQ(at(7, "verdict"), "regressed");
  EXPECT_THAT(at(7, "message"), HasSubstr("value 4 -> 4.1"));
  EXPECT_EQ(at(7, "hint"), "misaligned read");
  EXPECT_EQ(at(9, "verdict") + at(9, "message") + at(9, "hint"), "pass") << "nothing is to be said";
  EXPECT_EQ(at(12, "case") + " " + at(12, "variant"), "copy.plain sm_80-cuda13.0");
  EXPECT_EQ(at(12, "metric") + " " + at(12, "baseline") + " -> " + at(12, "measured"),
            "spill_bytes 0 -> 16");
}

TEST(Counted, JunitHasASuiteForEachSection) {
  const test::JudgedRun run = mixed();
  const std::string xml = junit_xml(run.measured, run.judged, counted());
  EXPECT_THAT(xml, AllOf(HasSubstr("<testsuites name=\"kernelgrade\" tests=\"12\" failures=\"6\" "),
                         HasSubstr("<testsuite name=\"costs\" tests=\"5\" failures=\"2\""),
                         HasSubstr("name=\"copy.f32.n64 plain sectors_per_request\""),
                         HasSubstr("<property name=\"baseline_value\" value=\"4\"/>"),
                         HasSubstr("<testsuite name=\"sm_80-cuda13.0\" tests=\"1\"")));
}

// What was neither counted nor compiled has no verdict, wherever it is shown; but a kernel that was
// not compiled may be launched with more shared memory than was blessed.
TEST(Counted, WhatIsTakenAsBlessedIsCalledUnchanged) {
  CountedSections sections = counted();
  CountedSection& costs = sections.at(0);
  EXPECT_EQ(line(costs), "costs: 2 pass, 1 improved, 1 regressed, 1 invalid");
  costs.measured[0].as_blessed = costs.measured[2].as_blessed = "not counted: all unchanged";
  EXPECT_EQ(line(costs),
            "costs: 1 improved, 1 regressed, 1 invalid, 2 unchanged since blessed (not counted)");
  EXPECT_FALSE(is_unchanged(costs));
  const nlohmann::json json = report::json(costs);
  EXPECT_EQ(json["verdicts"]["unchanged"], 2);
  EXPECT_FALSE(json["verdicts"].contains("pass"));
  EXPECT_EQ(json["rows"][3]["verdict"], "unchanged");
  EXPECT_EQ(json["rows"][3]["as_blessed"], "not counted: all unchanged");
  EXPECT_EQ(csv_records(costs).size(), 3u) << "rows.csv has what was counted";
  const test::JudgedRun run = mixed();
  EXPECT_THAT(junit_xml(run.measured, run.judged, sections),
              AllOf(HasSubstr("<property name=\"verdict\" value=\"unchanged\"/>"),
                    HasSubstr("name=\"as_blessed\" value=\"not counted: all unchanged\"")));

  CountedSection& resources = sections.at(1);
  resources.measured[0].as_blessed = "not compiled: all unchanged";
  EXPECT_EQ(line(resources), "sm_80-cuda13.0: 1 regressed");
  EXPECT_EQ(report::json(resources)["rows"][0]["as_blessed"], "not compiled: all unchanged");
}

TEST(Counted, TheHeadlineSaysWhatIsUnchanged) {
  judge::ExactFile blessed{"copy.csv", true, {}, {}};
  CountedSection costs{&judge::cost_table(), "costs", {}, {}};
  for (const char* metric : {"barriers", "sectors"}) {
    blessed.rows.push_back({{"copy.f32.n64", "plain", metric}, {4, 4}, "", "first", 2});
    costs.measured.push_back({blessed.rows.back(), judge::Gating::always, "", ""});
  }
  costs.result = judge::judge_exact(judge::cost_table(), costs.measured, blessed, {}, {});
  CountedSection resources = costs;
  resources.name = "sm_80-cuda13.0";
  const auto said = [&] { return headline({}, {}, {costs, resources}, {}); };
  EXPECT_THAT(said(), HasSubstr("costs and resources match the baselines"));
  costs.measured[0].as_blessed = "not counted";
  EXPECT_THAT(said(), HasSubstr("costs and resources match the baselines"));
  costs.measured[1].as_blessed = "not counted";
  EXPECT_THAT(said(), HasSubstr("resources match the baselines; costs unchanged"));
  for (judge::ExactMeasured& row : resources.measured) row.as_blessed = "not compiled";
  EXPECT_THAT(said(), HasSubstr(": costs and resources unchanged"));
}

TEST(Counted, TheBadgeCountsThem) {
  EXPECT_EQ(nlohmann::json::parse(badge_json(mixed().judged, counted()))["message"],
            "failed, 5 of 11 rows");
}

} // namespace
} // namespace kg::report
