// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/bless.h"

#include "runtime/atomic_file.h"
#include "tests/unit/perf/judge/folder.h"
#include "tests/unit/perf/judge/rows.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using test::blessed;
using test::file_of;
using test::Folder;
using test::key;

// In as many processes as either device asks for.
Measured measured(double median_ns, const RowKey& row_key = key()) {
  Measured row = test::measured(median_ns, row_key);
  row.process_medians_ns.assign(10, median_ns);
  return row;
}

const RowKey kOther = key("softmax.f32.r2_c2");
const TimingFile kNoFile = {"softmax.csv", false, {}, {}};

BlessOptions because(const std::string& why, Device device = Device::host) {
  BlessOptions options;
  options.device = device;
  options.why = why;
  return options;
}

// The only entry of a plan for one row.
BlessEntry blessing(const TimingFile& file, const Measured& row, const BlessOptions& options) {
  const BlessPlan plan = plan_bless(file, {row}, options);
  EXPECT_TRUE(plan.faults.empty());
  EXPECT_EQ(plan.entries.size(), 1u);
  EXPECT_EQ(plan.exit_code(), plan.entries.front().action == BlessAction::refused);
  return plan.entries.front();
}

void expect_refused(const BlessEntry& entry, const std::string& words) {
  EXPECT_EQ(name(entry.action), "refused");
  EXPECT_NE(entry.reason.find(words), std::string::npos) << entry.reason;
}

TEST(Bless, ANewRowNeedsNoReason) {
  const BlessPlan plan = plan_bless(kNoFile, {measured(100)}, because(""));
  EXPECT_EQ(plan.exit_code(), 0);
  EXPECT_TRUE(plan.changes());
  ASSERT_EQ(plan.rows.size(), 1u);
  const TimingRow& row = plan.rows.front();
  EXPECT_EQ(row.median_ns, 100);
  EXPECT_EQ(row.ci_ns, measured(100).ci_ns);
  EXPECT_EQ(row.canary, (Canary{CanaryKind::memory, 1000}));
  EXPECT_EQ(row.status, Status::gate);
  EXPECT_EQ(row.tol_pct, 3);
  EXPECT_EQ(row.bytes, 32768);
  EXPECT_EQ(row.flops, 20480);
  EXPECT_EQ(row.why, "first measurement");
  EXPECT_EQ(plan_bless(kNoFile, {measured(100)}, because("", Device::gpu)).rows[0].tol_pct, 2);
}

TEST(Bless, AVendorsRowOnlyInforms) {
  Measured row = measured(100);
  row.kind = Kind::vendor;
  EXPECT_EQ(plan_bless(kNoFile, {row}, because("")).rows[0].status, Status::info);
}

TEST(Bless, AChangeNeedsAReason) {
  const TimingFile file = file_of({blessed(100)});
  expect_refused(blessing(file, measured(120), because("")), "has become slower; say --why");
  expect_refused(blessing(file, measured(80), because("")), "has changed; say --why");
  EXPECT_EQ(plan_bless(file, {measured(120)}, because("")).rows, file.rows);
  const BlessPlan plan = plan_bless(file, {measured(120)}, because("wider tiles"));
  EXPECT_EQ(plan.entries[0].action, BlessAction::changed);
  EXPECT_EQ(plan.rows[0].median_ns, 120);
  EXPECT_EQ(plan.rows[0].why, "wider tiles");
}

TEST(Bless, TheRatioIsInCanaryUnitsOnHost) {
  Measured row = measured(100);
  row.canary->median_ns = 500;
  EXPECT_DOUBLE_EQ(*blessing(file_of({blessed(100)}), row, because("x")).ratio, 0.5);
  EXPECT_DOUBLE_EQ(*blessing(file_of({blessed(100)}), row, because("x", Device::gpu)).ratio, 1);
  expect_refused(blessing(file_of({blessed(100)}), row, because("")), "has become slower");
}

TEST(Bless, KeepsWhatWasDecidedAboutARow) {
  TimingRow old = blessed(100);
  old.status = Status::xfail;
  old.tol_pct = 7;
  BlessOptions options = because("faster");
  const BlessPlan kept = plan_bless(file_of({old}), {measured(90)}, options);
  EXPECT_EQ(kept.rows[0].status, Status::xfail);
  EXPECT_EQ(kept.rows[0].tol_pct, 7);
  options.status = Status::gate;
  options.tol_pct = 3;
  const BlessPlan set = plan_bless(file_of({old}), {measured(90)}, options);
  EXPECT_EQ(set.rows[0].status, Status::gate);
  EXPECT_EQ(set.rows[0].tol_pct, 3);
}

TEST(Bless, ChangesOnlyTheRowsGiven) {
  const TimingRow other = blessed(50, kOther);
  const BlessPlan plan =
      plan_bless(file_of({other, blessed(100)}), {measured(120)}, because("wider tiles"));
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0], other);
  EXPECT_EQ(plan.entries.size(), 1u);
}

TEST(Bless, ARefusedRowDoesNotHoldBackTheOthers) {
  Measured wrong = measured(10);
  wrong.verified = "element 0 is 2, not 1";
  const BlessPlan plan =
      plan_bless(file_of({blessed(100)}), {wrong, measured(50, kOther)}, because("new case"));
  EXPECT_EQ(plan.exit_code(), 1);
  EXPECT_TRUE(plan.changes());
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[1], blessed(100));
}

TEST(Bless, TheSameFiguresChangeNothing) {
  const BlessPlan first = plan_bless(kNoFile, {measured(100)}, because(""));
  const BlessPlan again = plan_bless(file_of(first.rows), {measured(100.00001)}, because(""));
  EXPECT_EQ(again.entries[0].action, BlessAction::unchanged) << "six digits are the same";
  EXPECT_FALSE(again.changes());
}

TEST(Bless, RefusesWhatItCannotVouchFor) {
  Measured row = measured(100);
  row.verified = "element 7 is NaN";
  expect_refused(blessing(kNoFile, row, because("x")), "element 7 is NaN");
  row = measured(100);
  row.skipped = "no such library";
  expect_refused(blessing(kNoFile, row, because("x")), "no such library");
  row = measured(100);
  row.canary.reset();
  expect_refused(blessing(kNoFile, row, because("x")), "no canary");
  take_samples(row, std::vector<double>(7, 100.0));
  expect_refused(blessing(kNoFile, row, because("x", Device::gpu)), "7 samples");
}

TEST(Bless, RefusesNoise) {
  Measured row = measured(100);
  row.ci_ns = {70.1, 129.9};
  EXPECT_EQ(blessing(kNoFile, row, because("x")).action, BlessAction::added);
  row.ci_ns = {69.9, 130.1};
  expect_refused(blessing(kNoFile, row, because("x")), "it is noisy: +-30.1 % where +-30 %");
  row.ci_ns = {95.1, 104.9};
  EXPECT_EQ(blessing(kNoFile, row, because("x", Device::gpu)).action, BlessAction::added);
  row.ci_ns = {94.9, 105.1};
  expect_refused(blessing(kNoFile, row, because("x", Device::gpu)), "it is noisy: +-5.1 %");
  row = measured(100);
  row.canary->half_width = 0.21;
  expect_refused(blessing(kNoFile, row, because("x")), "its canary is noisy: +-21.0 %");
  row.kind = Kind::vendor; // for information only
  EXPECT_EQ(blessing(kNoFile, row, because("x")).action, BlessAction::added);
}

TEST(Bless, RefusesTwoModesUnlessTold) {
  Measured row = measured(100);
  row.process_medians_ns = {100, 100, 100, 120, 120};
  BlessOptions options = because("x");
  expect_refused(blessing(kNoFile, row, options), "two modes, 100 ns and 120 ns");
  options.accept_bimodal = true;
  EXPECT_EQ(blessing(kNoFile, row, options).action, BlessAction::added);
  // 5 % apart matters on a GPU, and is a host's everyday noise.
  row.process_medians_ns = {100, 100, 100, 105, 105};
  EXPECT_EQ(blessing(kNoFile, row, because("x")).action, BlessAction::added);
  row.process_medians_ns = {100, 100, 100, 100, 100, 105, 105, 105, 105, 105};
  expect_refused(blessing(kNoFile, row, because("x", Device::gpu)), "two modes");
}

TEST(Bless, RefusesFewProcessesOfARowThatCanFail) {
  Measured row = measured(100);
  row.process_medians_ns.resize(5);
  EXPECT_EQ(blessing(kNoFile, row, because("x")).action, BlessAction::added);
  expect_refused(blessing(kNoFile, row, because("x", Device::gpu)),
                 "measured in 5 processes; a row that can fail takes 10: --processes 10");
  row.process_medians_ns.resize(4);
  expect_refused(blessing(kNoFile, row, because("x")), "takes 5");
  BlessOptions options = because("x");
  options.status = Status::info;
  EXPECT_EQ(blessing(kNoFile, row, options).action, BlessAction::added);
  TimingRow info = blessed(100);
  info.status = Status::info;
  EXPECT_EQ(blessing(file_of({info}), row, because("x")).action, BlessAction::changed);
}

TEST(Bless, RefusesADisturbedDevice) {
  Measured row = measured(100);
  row.tags["throttled"] = "hardware slow-down";
  expect_refused(blessing(kNoFile, row, because("x")), "throttled (hardware slow-down)");
  row.kind = Kind::vendor;
  expect_refused(blessing(kNoFile, row, because("x")), "throttled (hardware slow-down)");
  row = measured(100);
  row.tags["foreign_processes"] = "1";
  expect_refused(blessing(kNoFile, row, because("x")), "other processes used the device (1)");
}

TEST(Bless, RefusesAMachineOfAnotherSpeedWithoutAReason) {
  Measured row = measured(100);
  BlessOptions options = because("", Device::gpu);
  options.canaries_ns = {{"memory", 1000}};
  row.canary->median_ns = 1019;
  EXPECT_EQ(blessing(kNoFile, row, options).action, BlessAction::added);
  row.canary->median_ns = 1021;
  expect_refused(blessing(kNoFile, row, options), "1.021x the time in device.json");
  row.canary->median_ns = 979;
  expect_refused(blessing(kNoFile, row, options), "say --why");
  options.device = Device::host;
  EXPECT_EQ(blessing(kNoFile, row, options).action, BlessAction::added) << "a factor of 2";
  row.canary->median_ns = 2100;
  expect_refused(blessing(kNoFile, row, options), "2.100x");
  options.why = "a new machine";
  EXPECT_EQ(blessing(kNoFile, row, options).action, BlessAction::added);
}

TEST(Bless, RefusesWhatIsTooGoodToBeTrue) {
  Measured row = measured(100, key(key().case_id, "online", Mode::cold)); // 32768 bytes in 100 ns
  BlessOptions options = because("x", Device::gpu);
  options.ceilings = {{"dram_bytes_per_s", 32768 / 101.9e-9}};
  EXPECT_EQ(blessing(kNoFile, row, options).action, BlessAction::added);
  options.ceilings = {{"dram_bytes_per_s", 32768 / 103e-9}};
  expect_refused(blessing(kNoFile, row, options), "103 % of the device's measured roof");
}

TEST(Bless, NothingIsWrittenOverAMalformedFile) {
  const Folder folder;
  const auto path = folder.path() / "softmax.csv";
  TimingFile malformed = file_of({});
  malformed.problems = {{"softmax.csv", 2, "wrong", "fix"}};
  const BlessPlan over = plan_bless(malformed, {measured(100)}, because("x"));
  EXPECT_EQ(over.exit_code(), 1);
  carry_out(over, path, Device::host);
  EXPECT_EQ(read_file(path), std::nullopt);

  EXPECT_EQ(plan_bless(kNoFile, {}, because("x")).exit_code(), 1);
  EXPECT_EQ(plan_bless(kNoFile, {measured(1), measured(2)}, because("x")).exit_code(), 1);
}

TEST(Bless, OrphansGoOnRequestOnly) {
  const TimingFile file = file_of({blessed(50, kOther), blessed(100)});
  BlessOptions options = because("x");
  EXPECT_EQ(plan_bless(file, {measured(100)}, options).rows.size(), 2u);
  options.remove_orphans_beside = {key()};
  const BlessPlan plan = plan_bless(file, {}, options);
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].key, key());
  ASSERT_EQ(plan.entries.size(), 1u);
  EXPECT_EQ(plan.entries[0].action, BlessAction::removed);
  EXPECT_TRUE(plan.changes());
}

TEST(Bless, WrittenRowsAreReadBack) {
  const Folder folder;
  const auto path = folder.path() / "host" / "softmax.csv";
  carry_out(plan_bless(kNoFile, {measured(100), measured(50, kOther)}, because("")), path,
            Device::host);
  const TimingFile file = load_timings(path, Device::host);
  EXPECT_TRUE(file.problems.empty()) << text(file.problems);
  EXPECT_EQ(file.rows.size(), 2u);
  // What was blessed passes, with the same times.
  EXPECT_EQ(judge({measured(100)}, {{"softmax", file}},
                  {test::registered(), test::registered(kOther)}, {})
                .rows[0]
                .verdict,
            Verdict::pass);
}

TEST(Bless, TheTableShowsOldAndNew) {
  Measured wrong = measured(10, kOther);
  wrong.verified = "wrong";
  BlessPlan plan = plan_bless(file_of({blessed(1000)}), {measured(1250), wrong}, because("x"));
  plan.faults = {"a fault"};
  EXPECT_EQ(text(plan),
            "row                              old   new      old/new  what\n"
            "softmax.f32.r2_c2 online real    -     10 ns    -        refused  its output is wrong "
            "(wrong); a time for a wrong result means nothing\n"
            "softmax.f32.r64_c64 online real  1 us  1.25 us  0.800    changed\n"
            "nothing is written: a fault\n");
}

} // namespace
} // namespace kg::judge
