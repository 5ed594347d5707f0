// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The screen of fresh processes, and what overrules it: the identity of the machine code, the
// speed-up over a vendor, and a device that was disturbed.
#include "perf/judge/screen.h"

#include "perf/judge/peers.h"
#include "tests/unit/perf/judge/rows.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using test::blessed;
using test::file_of;
using test::key;
using test::measured;
using test::registered;

// Five processes, `spread` apart from each other, around a median.
std::vector<double> five(double median_ns, double spread) {
  std::vector<double> times;
  for (int i = -2; i <= 2; ++i) times.push_back(median_ns * (1 + i * spread));
  return times;
}

Measured in_processes(double median_ns, double spread = 0.001) {
  Measured row = measured(median_ns);
  row.process_medians_ns = five(median_ns, spread);
  return row;
}

TimingRow blessed_in_processes(double median_ns, double spread = 0.001) {
  TimingRow row = blessed(median_ns);
  row.process_medians_ns = five(median_ns, spread);
  return row;
}

RowResult judged(const Measured& row, const TimingRow& baseline, Device device,
                 const std::string& other_machine = "") {
  GateOptions options;
  options.device = device;
  options.other_machine = other_machine;
  return judge({row}, {{"softmax", file_of({baseline})}}, {registered(row.key)}, options)
      .rows.at(0);
}

void expect(const RowResult& result, Verdict verdict, bool suspicious, const std::string& words) {
  EXPECT_EQ(name(result.verdict), name(verdict)) << result.message;
  EXPECT_EQ(result.suspicious, suspicious) << result.message;
  EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
}

TEST(Screen, HalfOfTheToleranceIsTheBorderOfAQuietRow) {
  for (const Device device : {Device::host, Device::gpu}) {
    expect(judged(in_processes(100.9), blessed_in_processes(100), device), Verdict::pass, false,
           "half of its tolerance of 2 %");
    expect(judged(in_processes(101.1), blessed_in_processes(100), device), Verdict::inconclusive,
           true, "looks slower than half of its tolerance of 2 %, but is not confirmed");
  }
}

TEST(Screen, ScatterIsNoSuspicion) {
  // Trimmed by one: three of five are kept, {99, 100, 101} and the like; winsorised squares 4 s^2
  // each, pooled over 4 degrees of freedom: sd = s sqrt(2), error = sd sqrt(2 / 3) = 1.155 s. t at
  // 0.9 with 4 is 1.5332, so 1.77 s is the border: 7.3 % of a spread of 4 %.
  expect(judged(in_processes(106.6, 0.04), blessed_in_processes(100, 0.04), Device::gpu),
         Verdict::pass, false, "");
  expect(judged(in_processes(108.2, 0.04), blessed_in_processes(100, 0.04), Device::gpu),
         Verdict::inconclusive, true, "");
}

TEST(Screen, SoFewProcessesAreNotAsQuietAsTheyLook) {
  // All alike: an sd of 0.3 % is believed, so the border is 1.5332 * 0.3 % * sqrt(2 / 3) = 0.38 %,
  // above half of a tolerance of 0.5 %.
  TimingRow tight = blessed_in_processes(100, 0);
  tight.tol_pct = 0.5;
  EXPECT_FALSE(judged(in_processes(100.35, 0), tight, Device::gpu).suspicious);
  EXPECT_TRUE(judged(in_processes(100.4, 0), tight, Device::gpu).suspicious);
}

TEST(Screen, OneWildProcessOfFiveDoesNotMatter) {
  Measured row = in_processes(101.5);
  row.process_medians_ns[0] = 50;
  EXPECT_TRUE(judged(row, blessed_in_processes(100), Device::gpu).suspicious) << "hides nothing";
  row = in_processes(100);
  row.process_medians_ns[4] = 200;
  EXPECT_FALSE(judged(row, blessed_in_processes(100), Device::gpu).suspicious);
}

TEST(Screen, TakesThreeProcessesOnBothSides) {
  Measured row = in_processes(103);
  row.process_medians_ns.resize(2);
  EXPECT_FALSE(judged(row, blessed_in_processes(100), Device::host).suspicious);
  EXPECT_FALSE(judged(in_processes(103), blessed(100), Device::host).suspicious);
  EXPECT_TRUE(judged(in_processes(103), blessed_in_processes(100), Device::host).suspicious);
}

TEST(Screen, TheHostIsScreenedInCanaryUnits) {
  Measured row = in_processes(106);
  row.canary->median_ns = 1060;
  EXPECT_FALSE(judged(row, blessed_in_processes(100), Device::host).suspicious);
  row = in_processes(100);
  row.canary->median_ns = 950;
  EXPECT_TRUE(judged(row, blessed_in_processes(100), Device::host).suspicious);
}

TEST(Screen, OnAnotherHostOnlyCoarseLinesAreDrawn) {
  const std::string other = "cpu: another";
  const TimingRow baseline = blessed_in_processes(100);
  expect(judged(in_processes(130), baseline, Device::host, other), Verdict::pass, false,
         "Not the blessed machine: cpu: another");
  expect(judged(in_processes(145), baseline, Device::host, other), Verdict::inconclusive, true,
         "looks slower than 0.70 of the baseline");
  expect(judged(in_processes(210), baseline, Device::host, other), Verdict::regressed, true,
         "slower than 0.50");
  expect(judged(in_processes(210), baseline, Device::host), Verdict::regressed, false,
         "slower than 0.50");
}

TEST(Screen, UnchangedMachineCodeCannotHaveRegressed) {
  TimingRow baseline = blessed_in_processes(100);
  baseline.identity = "9f3c";
  Measured row = in_processes(110);
  row.identity = "9f3c";
  const char* words = "the machine is slower, not the kernel";
  expect(judged(row, baseline, Device::host), Verdict::env, false, words);
  EXPECT_NE(judged(row, baseline, Device::host).message.find("launches unchanged"),
            std::string::npos);
  expect(judged(in_processes(110), baseline, Device::host), Verdict::inconclusive, true,
         "changed is unknown");
  Measured slow = in_processes(300);
  slow.identity = "9f3c";
  expect(judged(slow, baseline, Device::host), Verdict::env, false, words);
  slow.identity = "77aa";
  expect(judged(slow, baseline, Device::host), Verdict::regressed, false, "launches changed");
  // What a caller waits for on a GPU has host code in it; device time has not.
  expect(judged(row, baseline, Device::gpu), Verdict::inconclusive, true, "not confirmed");
  baseline.key = row.key = key(key().case_id, "online", Mode::graph);
  expect(judged(row, baseline, Device::gpu), Verdict::env, false, words);
  row.identity.clear();
  baseline.identity.clear();
  expect(judged(row, baseline, Device::gpu), Verdict::inconclusive, true, "");
}

TEST(Screen, ChangedCodeOnTheBlessedHostIsConfirmedThoughItLooksNoSlower) {
  TimingRow baseline = blessed_in_processes(100);
  baseline.identity = "9f3c";
  Measured row = in_processes(100);
  row.identity = "77aa";
  expect(judged(row, baseline, Device::host), Verdict::pass, true, "its code has changed");
  expect(judged(row, baseline, Device::gpu), Verdict::pass, false, "");
  expect(judged(row, baseline, Device::host, "cpu: another"), Verdict::pass, false, "");
  row.identity = "9f3c";
  expect(judged(row, baseline, Device::host), Verdict::pass, false, "");
  row.identity.clear();
  expect(judged(row, baseline, Device::host), Verdict::pass, false, "");
}

TEST(Screen, ADisturbedDeviceIsNotJudged) {
  Measured row = in_processes(300);
  row.tags = {{"throttled", "software power cap"}, {"sm_mhz", "1200"}};
  expect(judged(row, blessed_in_processes(100), Device::gpu), Verdict::env, false,
         "the device was throttled (software power cap); quieten the device and measure again");
  EXPECT_NE(judged(row, blessed_in_processes(100), Device::gpu).message.find("sm_mhz 1200"),
            std::string::npos);
  row = in_processes(100);
  row.tags = {{"foreign_processes", "2"}};
  expect(judged(row, blessed_in_processes(100), Device::gpu), Verdict::env, false,
         "other processes used the device (2)");
}

// One of our rows and a vendor's, now and when they were blessed.
RowResult beside_vendor(double ours, double theirs, const std::string& version,
                        double canary = 1000, const std::string& framework = "") {
  const RowKey vendor_key = key(key().case_id, "cublas");
  Measured vendor = measured(theirs, vendor_key);
  vendor.kind = Kind::vendor;
  vendor.identity = version;
  if (!framework.empty()) vendor.tags[kPeerTag] = framework;
  TimingRow vendor_baseline = blessed(50, vendor_key);
  vendor_baseline.identity = "cuBLAS 13.0";
  vendor_baseline.status = Status::info;
  Measured row = in_processes(ours);
  row.canary->median_ns = canary;
  vendor.canary = row.canary;
  Registered registered_vendor = registered(vendor_key);
  registered_vendor.kind = Kind::vendor;
  GateOptions options;
  options.device = Device::gpu;
  return judge({row, vendor}, {{"softmax", file_of({blessed_in_processes(100), vendor_baseline})}},
               {registered(), registered_vendor}, options)
      .rows.at(0);
}

TEST(Screen, ARowThatLosesGroundOnItsVendorIsSuspicious) {
  // All became faster, the vendor by 5 %, ours not at all.
  expect(beside_vendor(100, 47.5, "cuBLAS 13.0"), Verdict::inconclusive, true,
         "has lost ground on cublas, but is not confirmed");
  EXPECT_FALSE(beside_vendor(100, 49.1, "cuBLAS 13.0").suspicious) << "within the tolerance";
  EXPECT_NE(beside_vendor(100, 47.5, "cuBLAS 13.0")
                .message.find("0.47 of cublas's speed (0.50 when blessed)"),
            std::string::npos);
  const RowResult other = beside_vendor(100, 47.5, "cuBLAS 13.1");
  EXPECT_FALSE(other.suspicious);
  EXPECT_NE(other.message.find("not judged: cuBLAS 13.0 blessed, cuBLAS 13.1 here"),
            std::string::npos)
      << other.message;
  EXPECT_FALSE(beside_vendor(100, 47.5, "").suspicious) << "perhaps another library";
  EXPECT_FALSE(beside_vendor(95, 47.5, "cuBLAS 13.0").suspicious);
  EXPECT_FALSE(beside_vendor(100, 47.5, "cuBLAS 13.0", 1000, "torch").suspicious)
      << "a framework's time is not a canary";
}

TEST(Screen, TheShareOfTheRoofIsShown) {
  GateOptions options;
  options.device = Device::gpu;
  options.ceilings = {{"dram_bytes_per_s", 32768 / 80e-9}, {"f32_flops_per_s", 20480 / 50e-9}};
  const auto message = [&](Mode mode) {
    const RowKey row = key(key().case_id, "online", mode);
    return judge({measured(100, row)}, {{"softmax", file_of({blessed(100, row)})}},
                 {registered(row)}, options)
        .rows[0]
        .message;
  };
  EXPECT_NE(message(Mode::cold).find("80 % of the roof"), std::string::npos);
  EXPECT_NE(message(Mode::hot).find("50 % of the roof"), std::string::npos) << "from the cache";
  options.ceilings["f32_matrix_flops_per_s"] = 20480 / 25e-9;
  EXPECT_NE(message(Mode::hot).find(" 50 % of the roof"), std::string::npos)
      << "f32 is a share of multiply-adds, not of TF32";
}

} // namespace
} // namespace kg::judge
