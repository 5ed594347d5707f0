// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole runs: exit codes, files, registered and missing rows.
#include "perf/judge/gate.h"

#include "tests/unit/perf/judge/rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using test::blessed;
using test::file_of;
using test::key;
using test::measured;
using test::registered;
using Files = std::map<std::string, TimingFile>;

constexpr bool kStrict = true;

const RowKey kOther = key("softmax.f32.r2_c2");

// Options with one of them set.
GateOptions strict() {
  GateOptions options;
  options.strict = true;
  return options;
}

TEST(Exit, OfSeveralTestsTheGravestCounts) {
  EXPECT_EQ(combined_exit({0, 77, 1}, false), 1);
  EXPECT_EQ(combined_exit({0, 77}, false), 77);
  EXPECT_EQ(combined_exit({0, 0}, false), 0);
  EXPECT_EQ(combined_exit({77, 77}, false), 77);
  EXPECT_EQ(combined_exit({}, false), 1);
  EXPECT_EQ(combined_exit({77, 77}, kStrict), 1);
  EXPECT_EQ(combined_exit({77, 0}, kStrict), 1);
}

std::vector<RowExit> rows_of(std::size_t passed, std::size_t undecided, std::size_t informing = 0) {
  std::vector<RowExit> rows(passed, {0});
  rows.resize(passed + undecided, {77});
  rows.resize(passed + undecided + informing, {0, true});
  return rows;
}

TEST(Exit, ARowThatFailsFailsItsTestEvenIfItInforms) {
  EXPECT_EQ(exit_of_rows({{0}, {77}, {1}}, false), 1);
  EXPECT_EQ(exit_of_rows({{0}, {1, true}}, false), 1);
}

TEST(Exit, MoreThanHalfUndecidedIsSkipped) {
  EXPECT_EQ(exit_of_rows(rows_of(2, 2), false), 0);
  EXPECT_EQ(exit_of_rows(rows_of(2, 3), false), 77);
  EXPECT_EQ(exit_of_rows(rows_of(0, 4, 9), false), 77) << "rows that inform never count";
  EXPECT_EQ(exit_of_rows(rows_of(0, 0, 9), false), 77) << "nothing was judged";
  EXPECT_EQ(exit_of_rows({}, false), 77);
}

TEST(Exit, StrictAllowsOneUndecidedRowInTwenty) {
  EXPECT_EQ(exit_of_rows(rows_of(19, 1), kStrict), 0);
  EXPECT_EQ(exit_of_rows(rows_of(18, 1), kStrict), 1);
  EXPECT_EQ(exit_of_rows(rows_of(1, 0), kStrict), 0);
  EXPECT_EQ(exit_of_rows(rows_of(0, 0, 9), kStrict), 1) << "at least one must be judged";
  EXPECT_EQ(exit_of_rows({}, kStrict), 1);
}

TEST(GateRun, TwoHundredFiftySixRegressionsAreOneFailure) {
  std::vector<Measured> rows;
  std::vector<TimingRow> baselines;
  std::vector<Registered> known;
  for (int i = 0; i < 256; ++i) {
    const RowKey row_key = key(fmt::format("softmax.f32.r{:03}", i));
    rows.push_back(measured(1000, row_key));
    baselines.push_back(blessed(100, row_key));
    known.push_back(registered(row_key));
  }
  const GateResult result = judge(rows, {{"softmax", file_of(baselines)}}, known, {});
  EXPECT_EQ(result.exit_code, 1);
  for (const RowResult& row : result.rows) EXPECT_EQ(row.verdict, Verdict::regressed);
  EXPECT_EQ(result.rows.size(), 256u);
}

TEST(GateRun, ZeroRowsFail) {
  EXPECT_EQ(judge({}, {}, {}, {}).exit_code, 1);
  Registered unselected = registered();
  unselected.selected = false;
  GateOptions options;
  options.filtered = true;
  const GateResult result =
      judge({}, {{"softmax", file_of({blessed(100)})}}, {unselected}, options);
  EXPECT_EQ(result.exit_code, 1);
  ASSERT_EQ(result.faults.size(), 1u);
  EXPECT_EQ(result.faults[0].substr(0, 8), "no rows:");
}

TEST(GateRun, ASelectedRowMustBeMeasured) {
  const GateResult result =
      judge({measured(100)}, {{"softmax", file_of({blessed(100), blessed(100, kOther)})}},
            {registered(), registered(kOther)}, {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.rows[0].verdict, Verdict::pass);
  EXPECT_EQ(result.rows[1].verdict, Verdict::invalid);
  EXPECT_NE(result.rows[1].message.find("selected but not measured"), std::string::npos);
}

TEST(GateRun, ARowMissingFromAnExistingFileFails) {
  const std::vector<Measured> rows = {measured(100), measured(100, kOther)};
  const std::vector<Registered> known = {registered(), registered(kOther)};
  const GateResult result = judge(rows, {{"softmax", file_of({blessed(100)})}}, known, {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.rows[1].verdict, Verdict::unblessed);
  EXPECT_NE(
      result.rows[1].message.find("softmax.csv has no such row; bless: kernelgrade bless --op "
                                  "softmax --dtype f32 --case softmax.f32.r2_c2"),
      std::string::npos)
      << result.rows[1].message;
}

TEST(GateRun, ADeviceWithoutBaselinesIsSkipped) {
  const Files none = {{"softmax", {"baselines/nvidia-h200/softmax.csv", false, {}, {}}}};
  const GateResult result = judge({measured(100)}, none, {registered()}, {});
  EXPECT_EQ(result.exit_code, 77);
  EXPECT_EQ(result.rows[0].verdict, Verdict::unblessed);
  EXPECT_NE(result.rows[0].message.find("baselines/nvidia-h200/softmax.csv does not exist"),
            std::string::npos);
  EXPECT_EQ(judge({measured(100)}, none, {registered()}, strict()).exit_code, 1);
  EXPECT_EQ(judge({measured(100)}, {}, {registered()}, {}).exit_code, 77);
}

TEST(GateRun, AFileThatIsMissingFailsItsRowsButNoLibrarys) {
  TimingFile gone = {"baselines/host/softmax.csv", false, {}, {}};
  gone.missing = true;
  const GateResult result = judge({measured(100)}, {{"softmax", gone}}, {registered()}, {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.rows[0].message.find("baselines/host/softmax.csv is missing: restore it, or "
                                        "name softmax under not_blessed in the device.json"),
            std::string::npos)
      << result.rows[0].message;
  Measured vendor = measured(100);
  vendor.kind = Kind::vendor;
  Registered known = registered();
  known.kind = Kind::vendor;
  EXPECT_EQ(judge({vendor}, {{"softmax", gone}}, {known}, {}).exit_code, 77);
}

TEST(GateRun, OrphansFailUnlessFiltered) {
  const Files files = {{"softmax", file_of({blessed(100), blessed(100, key("softmax.f32.gone"))})}};
  GateOptions options;
  const GateResult result = judge({measured(100)}, files, {registered()}, options);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.rows[0].verdict, Verdict::pass);
  EXPECT_EQ(
      result.faults,
      std::vector<std::string>{
          "softmax.csv:2: the row 'softmax.f32.gone online real' is an orphan: no such case is "
          "registered; remove it: kernelgrade bless --op softmax --remove-orphans"});
  options.filtered = true;
  EXPECT_EQ(judge({measured(100)}, files, {registered()}, options).exit_code, 0);
}

// oneDNN, say, has bf16 on some processors only.
TEST(GateRun, AVendorThatThisMachineLacksIsNoOrphan) {
  TimingRow vendor = blessed(100, {key().case_id, "onednn", key().mode});
  vendor.status = Status::info;
  const Files files = {{"softmax", file_of({blessed(100), vendor})}};
  EXPECT_EQ(judge({measured(100)}, files, {registered()}, {}).exit_code, 0);
  vendor.key.case_id = "softmax.f32.gone";
  const Files gone = {{"softmax", file_of({blessed(100), vendor})}};
  EXPECT_EQ(judge({measured(100)}, gone, {registered()}, {}).exit_code, 1);
}

TEST(GateRun, ARowThatIsRegisteredButNotSelectedIsNoOrphan) {
  Registered other = registered(kOther);
  other.selected = false;
  const GateResult result =
      judge({measured(100)}, {{"softmax", file_of({blessed(100), blessed(100, kOther)})}},
            {registered(), other}, {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.rows.size(), 1u);
}

TEST(GateRun, AMalformedFileFailsEveryRowOfItsOp) {
  TimingFile file = file_of({blessed(100)});
  file.problems = {{"softmax.csv", 3, "unknown mode 'warm'", "use cold, hot, graph or real"}};
  const GateResult result = judge({measured(100)}, {{"softmax", file}}, {registered()}, {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.rows[0].verdict, Verdict::invalid);
  EXPECT_EQ(result.faults, std::vector<std::string>{"softmax.csv:3: unknown mode 'warm'; use cold, "
                                                    "hot, graph or real"});
}

TEST(GateRun, StrangersAndDoublesFail) {
  const Files files = {{"softmax", file_of({blessed(100)})}};
  const GateResult stranger =
      judge({measured(100), measured(100, kOther)}, files, {registered()}, {});
  EXPECT_EQ(stranger.exit_code, 1);
  ASSERT_EQ(stranger.rows.size(), 2u);
  EXPECT_EQ(stranger.rows[1].verdict, Verdict::invalid);
  const GateResult twice = judge({measured(100), measured(50)}, files, {registered()}, {});
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_EQ(twice.faults.size(), 1u);
}

TEST(GateRun, WithoutAGpu) {
  const Files files = {{"softmax", file_of({blessed(100)})}};
  GateOptions options;
  options.device = Device::gpu;
  options.no_device = "no CUDA driver";
  const GateResult skipped = judge({}, files, {registered()}, options);
  EXPECT_EQ(skipped.exit_code, 77);
  EXPECT_EQ(skipped.rows[0].verdict, Verdict::skipped);
  EXPECT_EQ(skipped.notes, std::vector<std::string>{"no CUDA driver"});
  options.strict = true;
  EXPECT_EQ(judge({}, files, {registered()}, options).exit_code, 1);
  options.strict = false;
  options.require_gpu = true;
  const GateResult promised = judge({}, files, {registered()}, options);
  EXPECT_EQ(promised.exit_code, 1);
  ASSERT_EQ(promised.faults.size(), 1u);
  EXPECT_NE(promised.faults[0].find("KERNELGRADE_REQUIRE_GPU"), std::string::npos);
}

TEST(GateRun, StrictJudgesEachTestByItself) {
  // f32 passes; f16 cannot be compared today. CTest would show a pass and a skip; strictly, a pass
  // and a failure.
  const RowKey half = key("softmax.f16.r64_c64");
  Measured noisy = measured(100, half);
  noisy.canary->half_width = 0.5;
  const std::vector<Measured> rows = {measured(100), noisy};
  const Files files = {{"softmax", file_of({blessed(100, half), blessed(100)})}};
  const std::vector<Registered> known = {registered(), registered(half)};
  EXPECT_EQ(judge(rows, files, known, {}).exit_code, 77);
  const GateResult strictly = judge(rows, files, known, strict());
  EXPECT_EQ(strictly.exit_code, 1);
  EXPECT_EQ(strictly.notes.size(), 1u) << "a failure without a failing row needs its reason";
  // Within one test one undecided row in two is too much, too.
  noisy = measured(100, kOther);
  noisy.canary->half_width = 0.5;
  EXPECT_EQ(judge({measured(100), noisy},
                  {{"softmax", file_of({blessed(100, kOther), blessed(100)})}},
                  {registered(), registered(kOther)}, strict())
                .exit_code,
            1);
}

// The whole gate must turn red when someone tampers with the file.
TEST(GateRun, Tampering) {
  const std::vector<Measured> rows = {measured(100), measured(100, kOther)};
  const std::vector<Registered> known = {registered(), registered(kOther)};
  const auto exit_with = [&](const TimingRow& a, const TimingRow& b) {
    return judge(rows, {{"softmax", file_of({b, a})}}, known, {}).exit_code;
  };
  EXPECT_EQ(exit_with(blessed(100), blessed(100, kOther)), 0);
  EXPECT_EQ(exit_with(blessed(40), blessed(100, kOther)), 1) << "a baseline made faster";
  TimingRow canary = blessed(100);
  canary.canary->kind = CanaryKind::compute;
  EXPECT_EQ(exit_with(canary, blessed(100, kOther)), 1) << "another canary";
}

} // namespace
} // namespace kg::judge
