// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/compare_results.h"

#include "tests/unit/perf/judge/rows.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::judge {
namespace {

using test::key;
using testing::ElementsAre;
using testing::HasSubstr;

// A row measured by fresh processes with these medians, beside a canary of 1000 ns.
Measured row_of(const std::vector<double>& process_medians_ns, const RowKey& row_key = key()) {
  std::vector<Results> runs;
  for (const double ns : process_medians_ns)
    runs.push_back({{{"device", "host"}}, {test::measured(ns, row_key)}});
  return merge(runs).rows.front();
}

Results results(std::vector<Measured> rows, const std::string& device = "host") {
  return {{{"device", device}}, std::move(rows)};
}

const std::vector<double> kQuiet = {1000, 1002, 998, 1001, 999};

std::vector<double> times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

ComparedRow only_row(const Measured& a, const Measured& b, const CompareRule& rule = {}) {
  const ComparedResults compared = compare(results({a}), results({b}), rule);
  EXPECT_EQ(compared.rows.size(), 1u);
  return compared.rows.at(0);
}

const CompareRule kTwoPercent = {Device::host, 2.0, 0.001};

TEST(CompareResults, EqualTimesPass) {
  const ComparedRow row = only_row(row_of(kQuiet), row_of(kQuiet), kTwoPercent);
  EXPECT_EQ(row.result.verdict, Verdict::pass);
  EXPECT_DOUBLE_EQ(row.result.ratio.value(), 1);
  EXPECT_EQ(row.a_processes, 5u);
  EXPECT_EQ(row.result.exit_code, kExitPass);
}

TEST(CompareResults, SlowerBeyondTheToleranceIsRegressed) {
  const ComparedRow row = only_row(row_of(kQuiet), row_of(times(kQuiet, 1.05)), kTwoPercent);
  EXPECT_EQ(row.result.verdict, Verdict::regressed);
  EXPECT_NEAR(row.result.ratio.value(), 1 / 1.05, 1e-9);
  EXPECT_EQ(row.result.exit_code, kExitFail);
}

TEST(CompareResults, FasterBeyondTheToleranceIsImproved) {
  const ComparedRow row = only_row(row_of(times(kQuiet, 1.05)), row_of(kQuiet), kTwoPercent);
  EXPECT_EQ(row.result.verdict, Verdict::improved);
}

TEST(CompareResults, ADifferenceWithinTheNoiseIsInconclusive) {
  const std::vector<double> noisy = {900, 1100, 1000, 1050, 950};
  const ComparedRow row = only_row(row_of(noisy), row_of(times(noisy, 1.05)), kTwoPercent);
  EXPECT_EQ(row.result.verdict, Verdict::inconclusive);
  EXPECT_GT(row.detectable_pct.value(), 5);
  EXPECT_THAT(row.result.reason, HasSubstr("kernelgrade ab"));
}

// Two processes each, ln medians 0, 0.02 and 0.1, 0.14: d = -0.11, errors 0.01 and 0.02, so
// error^2 = 5e-4, dof = 25e-8 / (1e-8 + 16e-8) = 25 / 17. P(T > 3.77983) = 0.05 there, by
// integrating the density numerically.
TEST(CompareResults, TheIntervalIsWelchs) {
  const auto at = [](double log) { return 1000 * std::exp(log); };
  const ComparedRow row =
      only_row(row_of({at(0), at(0.02)}), row_of({at(0.1), at(0.14)}), {Device::host, 2.0, 0.05});
  EXPECT_NEAR(std::log(row.result.ratio.value()), -0.11, 1e-9);
  const double error = std::sqrt(5e-4);
  EXPECT_NEAR((-0.11 - std::log(row.result.ratio_interval.low)) / error, 3.77983, 1e-4);
  EXPECT_NEAR((std::log(row.result.ratio_interval.high) + 0.11) / error, 3.77983, 1e-4);
}

TEST(CompareResults, OneProcessOnASideIsInconclusiveWhateverTheDifference) {
  const ComparedRow row = only_row(row_of({1000}), row_of(times(kQuiet, 10)), kTwoPercent);
  EXPECT_EQ(row.result.verdict, Verdict::inconclusive);
  EXPECT_NEAR(row.result.ratio.value(), 0.1, 1e-3);
  EXPECT_FALSE(row.detectable_pct.has_value());
  EXPECT_THAT(row.result.reason, HasSubstr("1 process of A and 5 of B"));
  EXPECT_THAT(row.result.reason, HasSubstr("kernelgrade ab"));
  EXPECT_EQ(row.result.exit_code, kExitSkip);
}

TEST(CompareResults, HostTimesAreInUnitsOfTheCanary) {
  Measured slow_machine = row_of(times(kQuiet, 1.5));
  slow_machine.canary->median_ns = 1500;
  const ComparedRow row = only_row(row_of(kQuiet), slow_machine, kTwoPercent);
  EXPECT_EQ(row.result.verdict, Verdict::pass);
  EXPECT_NEAR(row.result.ratio.value(), 1, 1e-9);
}

TEST(CompareResults, AnIllCanaryOnEitherSideIsEnv) {
  Measured ill = row_of(kQuiet);
  ill.canary->half_width = 0.5;
  for (const bool left : {true, false}) {
    const Measured healthy = row_of(kQuiet);
    const ComparedRow row = only_row(left ? ill : healthy, left ? healthy : ill, kTwoPercent);
    EXPECT_EQ(row.result.verdict, Verdict::env) << "left: " << left;
    EXPECT_EQ(row.result.exit_code, kExitSkip);
  }
}

TEST(CompareResults, RowsWithoutCanariesAreComparedInTime) {
  Measured a = row_of(kQuiet), b = row_of(times(kQuiet, 1.05));
  a.canary.reset();
  b.canary.reset();
  EXPECT_EQ(only_row(a, b, kTwoPercent).result.verdict, Verdict::regressed);
}

TEST(CompareResults, AWrongOutputIsInvalid) {
  Measured wrong = row_of(kQuiet);
  wrong.verified = "element 5 is 1, not 2";
  const ComparedRow row = only_row(row_of(kQuiet), wrong);
  EXPECT_EQ(row.result.verdict, Verdict::invalid);
  EXPECT_THAT(row.result.reason, HasSubstr("B: its output is wrong"));
  EXPECT_EQ(row.result.exit_code, kExitFail);
}

TEST(CompareResults, ARowThatBecomesAVendorsFails) {
  Measured a = row_of(kQuiet), b = row_of(times(kQuiet, 3));
  for (const auto& [of_a, of_b] :
       {std::pair{Kind::ours, Kind::vendor}, {Kind::vendor, Kind::ours}}) {
    a.kind = of_a;
    b.kind = of_b;
    const RowResult row = only_row(a, b, kTwoPercent).result;
    EXPECT_EQ(row.verdict, Verdict::invalid);
    EXPECT_EQ(row.exit_code, kExitFail);
    EXPECT_FALSE(row.informs);
    EXPECT_THAT(row.message, HasSubstr("in A and"));
  }
}

TEST(CompareResults, AVendorsRowNeverFails) {
  Measured a = row_of(kQuiet), b = row_of(times(kQuiet, 2));
  a.kind = b.kind = Kind::vendor;
  const ComparedRow row = only_row(a, b, kTwoPercent);
  EXPECT_EQ(row.result.verdict, Verdict::regressed);
  EXPECT_EQ(row.result.exit_code, kExitPass);
}

TEST(CompareResults, RowsOfOneSideAreListed) {
  const RowKey left = key("a.f32.n1"), both = key("b.f32.n1"), right = key("c.f32.n1");
  const ComparedResults compared =
      compare(results({row_of(kQuiet, left), row_of(kQuiet, both)}),
              results({row_of(kQuiet, both), row_of(kQuiet, right)}), {});
  EXPECT_THAT(compared.only_a, ElementsAre(left));
  EXPECT_THAT(compared.only_b, ElementsAre(right));
  EXPECT_EQ(compared.rows.size(), 1u);
  EXPECT_EQ(exit_code(compared, false), kExitFail) << "what one file lacks was not compared";
}

TEST(CompareResults, NoCommonRowFails) {
  const ComparedResults compared = compare(results({}), results({row_of(kQuiet)}), {});
  EXPECT_EQ(exit_code(compared, false), kExitFail);
}

TEST(CompareResults, StrictFailsWhatIsInconclusive) {
  const ComparedResults compared =
      compare(results({row_of({1000})}), results({row_of({1000})}), {});
  EXPECT_EQ(exit_code(compared, false), kExitSkip);
  EXPECT_EQ(exit_code(compared, true), kExitFail);
}

TEST(CompareResults, AcrossDevicesRowsAreForInformation) {
  const ComparedResults compared = compare(
      results({row_of(kQuiet)}), results({row_of(times(kQuiet, 9))}, "nvidia-h200"), kTwoPercent);
  EXPECT_TRUE(compared.across_devices);
  EXPECT_EQ(compared.environment.at("device").second, "nvidia-h200");
  EXPECT_EQ(compared.rows.at(0).result.verdict, Verdict::env);
  EXPECT_NEAR(compared.rows.at(0).result.ratio.value(), 1.0 / 9, 1e-9);
  EXPECT_EQ(exit_code(compared, false), kExitPass);
}

TEST(CompareResults, EnvironmentsDifferInAllButTheDate) {
  Results a = results({}), b = results({});
  a.environment.insert({{"compiler", "g++ 12"}, {"date_utc", "yesterday"}, {"cpu", "x"}});
  b.environment.insert({{"compiler", "g++ 13"}, {"date_utc", "today"}});
  const ComparedResults compared = compare(a, b, {});
  EXPECT_EQ(compared.environment.size(), 2u);
  EXPECT_EQ(compared.environment.at("compiler"),
            std::pair(std::string("g++ 12"), std::string("g++ 13")));
  EXPECT_EQ(compared.environment.at("cpu").second, "");
}

TEST(CompareResults, AsAGateMissingAndNewRowsFail) {
  const RowKey left = key("a.f32.n1"), both = key("b.f32.n1"), right = key("c.f32.n1");
  const Results a = results({row_of(kQuiet, left), row_of(kQuiet, both)});
  const Results b = results({row_of(kQuiet, both), row_of(kQuiet, right)});
  const GateResult gate = as_gate(compare(a, b, {}), a, b, false);
  ASSERT_EQ(gate.rows.size(), 3u);
  EXPECT_EQ(gate.rows[0].verdict, Verdict::pass);
  EXPECT_EQ(gate.rows[1].verdict, Verdict::invalid);
  EXPECT_EQ(gate.rows[2].verdict, Verdict::unblessed);
  EXPECT_EQ(gate.rows[2].exit_code, kExitFail);
  EXPECT_EQ(gate.exit_code, kExitFail);
}

} // namespace
} // namespace kg::judge
