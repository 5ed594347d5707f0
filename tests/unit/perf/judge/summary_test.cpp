// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/summary.h"

#include "perf/format/table.h"
#include "perf/format/units.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/rows.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using test::key;

RowResult row_of(const std::string& category, std::optional<double> ratio,
                 Verdict verdict = Verdict::pass) {
  RowResult row;
  row.op = "softmax";
  row.dtype = "f32";
  row.key = key();
  row.category = category;
  row.verdict = verdict;
  row.ratio = ratio;
  if (ratio) {
    row.ratio_interval = {*ratio, *ratio};
    row.grade = grade(*ratio);
    row.measured_ns = 100 / *ratio;
    row.baseline_ns = 100;
  }
  row.exit_code = verdict == Verdict::pass ? 0 : verdict == Verdict::env ? 77 : 1;
  row.message = std::string(name(verdict)) + " message";
  return row;
}

GroupGrade grade_of(const std::vector<RowResult>& rows) {
  std::vector<const RowResult*> pointers;
  for (const RowResult& row : rows) pointers.push_back(&row);
  return grade_group(pointers);
}

TEST(GroupGrade, IsTheGeometricMean) {
  const GroupGrade group = grade_of({row_of("c", 0.5), row_of("c", 2)});
  EXPECT_DOUBLE_EQ(*group.geomean, 1);
  EXPECT_EQ(group.grade, Grade::excellent);
  EXPECT_EQ(group.rows, 2u);
}

TEST(GroupGrade, ACriticalRowCapsItAtFair) {
  const GroupGrade capped = grade_of({row_of("c", 0.19), row_of("c", 20)});
  EXPECT_GT(*capped.geomean, 1);
  EXPECT_EQ(capped.grade, Grade::fair);
  EXPECT_EQ(grade_of({row_of("c", 0.1), row_of("c", 0.5)}).grade, Grade::poor) << "no better";
  EXPECT_EQ(grade_of({row_of("c", 0.2), row_of("c", 20)}).grade, Grade::excellent);
}

TEST(GroupGrade, NoGradeWithoutFullCoverage) {
  const GroupGrade group = grade_of({row_of("c", 1), row_of("c", std::nullopt, Verdict::env)});
  EXPECT_EQ(group.grade, std::nullopt);
  EXPECT_EQ(group.graded, 1u);
  EXPECT_EQ(group.rows, 2u);
  EXPECT_DOUBLE_EQ(*group.geomean, 1);
  EXPECT_EQ(grade_of({}).grade, std::nullopt);
}

GateResult mixed() {
  GateResult result;
  result.rows = {row_of("softmax", 1), row_of("softmax", 0.3, Verdict::regressed),
                 row_of("copy", std::nullopt, Verdict::env), row_of("copy", 0.6)};
  result.rows[3].warning = true;
  result.rows.push_back(row_of("copy", 0.1));
  result.rows[4].kind = Kind::vendor;
  result.faults = {"softmax.csv:7: wrong; fix"};
  result.exit_code = 1;
  return result;
}

TEST(Summary, Counts) {
  const GateResult result = mixed();
  const Summary summary = summarise(result, 2);
  EXPECT_EQ(summary.verdicts.gated.at(Verdict::pass), 3u);
  EXPECT_EQ(summary.verdicts.gated.at(Verdict::regressed), 1u);
  EXPECT_EQ(summary.verdicts.gated.at(Verdict::env), 1u);
  EXPECT_EQ(summary.grades.at(Grade::excellent), 1u);
  EXPECT_EQ(summary.grades.at(Grade::fair), 1u);
  EXPECT_EQ(summary.grades.at(Grade::poor), 1u);
  EXPECT_EQ(summary.grades.at(Grade::critical), 0u) << "the vendor's row is not ours";
  ASSERT_EQ(summary.worst.size(), 2u);
  EXPECT_EQ(summary.worst[0], &result.rows[1]);
  EXPECT_EQ(summary.worst[1], &result.rows[3]);
  EXPECT_EQ(summary.categories.at("copy").rows, 2u);
  EXPECT_EQ(summary.to_fix, std::vector<const RowResult*>{&result.rows[1]});
  EXPECT_EQ(summary.to_know, (std::vector<const RowResult*>{&result.rows[2], &result.rows[3]}));
}

TEST(Summary, PlainText) {
  const GateResult result = mixed();
  EXPECT_EQ(plain_text(summarise(result, 1), result),
            "grades: 1 excellent, 0 good, 1 fair, 1 poor, 0 critical\n"
            "\n"
            "category  grade  geomean  graded rows\n"
            "copy      -      0.600    1 of 2\n"
            "softmax   fair   0.548    2 of 2\n"
            "\n"
            "slowest rows                     grade  ratio  verdict\n"
            "softmax.f32.r64_c64 online real  poor   0.300  regressed\n"
            "\n"
            "note: env message\n"
            "note: pass message\n"
            "FAIL: softmax.csv:7: wrong; fix\n"
            "FAIL: regressed message\n"
            "FAILED: 3 pass, 1 regressed, 1 env, 1 fault (exit 1)\n");
}

TEST(Summary, ExitLines) {
  GateResult result;
  result.rows = {row_of("c", 1)};
  result.exit_code = 0;
  EXPECT_EQ(exit_line(summarise(result), result), "passed: 1 pass (exit 0)");
  result.rows = {row_of("c", std::nullopt, Verdict::env)};
  result.exit_code = 77;
  EXPECT_EQ(exit_line(summarise(result), result), "SKIPPED: 1 env (exit 77)");
  result.rows.clear();
  result.exit_code = 1;
  EXPECT_EQ(exit_line(summarise(result), result), "FAILED: no rows (exit 1)");
}

TEST(Summary, RowsThatFailAsExpectedAreNoRegressions) {
  VerdictCounts counts;
  counts.add(Verdict::pass, {kExitPass, false});
  counts.add(Verdict::regressed, {kExitPass, false});
  EXPECT_EQ(text(counts), "1 pass, 1 fails as expected");
  counts.add(Verdict::regressed, {kExitFail, false});
  EXPECT_EQ(text(counts), "1 pass, 1 regressed, 1 fails as expected");
}

TEST(Summary, RowsThatInformAreCountedApart) {
  GateResult result;
  result.rows = {row_of("c", 1), row_of("c", 0.3, Verdict::regressed), row_of("c", 1)};
  for (const std::size_t i : {1, 2}) {
    result.rows[i].informs = true;
    result.rows[i].exit_code = 0;
  }
  result.exit_code = 0;
  EXPECT_EQ(exit_line(summarise(result), result),
            "passed: 1 pass; 2 informational (1 worse) (exit 0)");
  result.rows[0].informs = true;
  EXPECT_EQ(text(summarise(result).verdicts), "3 informational (1 worse)");
  // Wrong output of ours is no information.
  result.rows[0] = row_of("c", std::nullopt, Verdict::invalid);
  result.rows[0].informs = true;
  EXPECT_EQ(text(summarise(result).verdicts), "1 invalid; 2 informational (1 worse)");
}

TEST(Summary, Markdown) {
  const GateResult result = mixed();
  const Summary summary = summarise(result, 1);
  const std::string counts = counts_markdown(summary);
  for (const char* piece :
       {"**Grades:** 1 excellent, 0 good, 1 fair, 1 poor, 0 critical",
        "**Verdicts:** 3 pass, 1 regressed, 1 env", "| copy | - | 0.600 | 1 of 2 |"})
    EXPECT_NE(counts.find(piece), std::string::npos) << piece << "\nin\n" << counts;
  EXPECT_EQ(worth_knowing_markdown(summary, 2),
            "### Worth knowing\n\n- env message\n- pass message\n\n");
  EXPECT_EQ(worth_knowing_markdown(summary, 1),
            "### Worth knowing\n\n- env message\n\n1 more are in report.html.\n\n");
  EXPECT_EQ(worth_knowing_markdown(Summary(), 1), "");
}

TEST(Table, PlainAndMarkdown) {
  TextTable table({"a", "b"});
  table.add({"long cell", ""});
  table.add({"x|y", "two\nlines"});
  EXPECT_EQ(table.markdown(), "| a | b |\n|---|---|\n| long cell |  |\n| x\\|y | two<br>lines |\n");
  EXPECT_EQ(table.plain().substr(0, 23), "a          b\nlong cell\n");
  EXPECT_THROW(table.add({"one"}), Error);
}

TEST(Units, Times) {
  EXPECT_EQ(time_text(12.34567), "12.35 ns");
  EXPECT_EQ(time_text(1000), "1 us");
  EXPECT_EQ(time_text(1234567), "1.235 ms");
  EXPECT_EQ(time_text(2.5e9), "2.5 s");
}

} // namespace
} // namespace kg::judge
