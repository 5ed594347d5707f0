// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/pace.h"

#include "perf/code/sass/table.h"
#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace kg::sass {
namespace {

using testing::HasSubstr;

// 10 bytes a clock for each multiprocessor, 500 clocks after they are asked for.
model::Gpu round_gpu() {
  model::Gpu gpu;
  gpu.sms = 100;
  gpu.clock_hz = 1e9;
  gpu.copy_bytes_per_s = 10 * gpu.sms * gpu.clock_hz;
  gpu.latency_s = 500 / gpu.clock_hz;
  gpu.l2_bytes_per_s = 40 * gpu.sms * gpu.clock_hz;
  gpu.l2_latency_s = 200 / gpu.clock_hz;
  gpu.port_bytes_per_s = 64 * gpu.clock_hz;
  gpu.f32_flops_per_s = 256 * gpu.clock_hz;
  gpu.f16_flops_per_s = 512 * gpu.clock_hz;
  gpu.f64_flops_per_s = 128 * gpu.clock_hz;
  gpu.matrix_flops_per_s = {{"f16", 4096 * gpu.clock_hz}, {"tf32", 2048 * gpu.clock_hz}};
  gpu.mma_share = 0.5;
  return gpu;
}

Kernel kernel_of_lines(const std::vector<std::string>& lines, int threads, int warps) {
  return {"made", "made", analyse({test::controlled(lines)}).at(0), 32, threads, 0, warps};
}

Pace pace(const Kernel& kernel) {
  const model::Gpu gpu = round_gpu();
  return pace_of(kernel, limit_share_of(kernel, &gpu), gpu);
}

const std::vector<std::string> kCopies = {".L_1:",
                                          "//## File \"copy.cu\", line 3",
                                          "S02 W0 LDG.E.128 R4, desc[UR8][R2.64]",
                                          "//## File \"copy.cu\", line 4",
                                          "S01 B0 STG.E.128 desc[UR8][R2.64], R4",
                                          "IADD3 R2, R2, 0x10, RZ",
                                          "S05 @P0 BRA `(.L_1)",
                                          "EXIT"};

TEST(Pace, OneWarpWaitsForEachOfItsLoads) {
  const Kernel kernel = kernel_of_lines(kCopies, 32, 1);
  // 500 clocks for the data, then the store, the addition and the branch.
  const Pace found = pace(kernel);
  EXPECT_EQ(found.clocks, 500 + 1 + 1 + 5);
  EXPECT_NEAR(found.share_pct, 100 * (1024 / 10.0) / 507, 1e-6);
  EXPECT_NEAR(found.latency, 500, 1e-6);
  ASSERT_FALSE(found.idle.empty());
  EXPECT_EQ(found.idle[0].line, "copy.cu:4");
  EXPECT_EQ(found.idle[0].waits, "loaded data");
  EXPECT_EQ(found.idle[0].from_line, "copy.cu:3");
}

TEST(Pace, ManyWarpsGetWhatThereIsAndNoMore) {
  const Pace found = pace(kernel_of_lines(kCopies, 256, 64));
  EXPECT_NEAR(found.share_pct, 100, 3);
  EXPECT_LE(found.share_pct, 100);
  EXPECT_GT(found.latency, 2000) << "32 KiB under way, 10 bytes a clock";
}

TEST(Pace, ProductsByTheirMatrixUnits) {
  // 4,096 operations, 512 a clock: 8 of the 20 clocks of a pass.
  const Pace found = pace(kernel_of_lines(
      {".L_1:", "S15 Y HMMA.16816.F32.BF16 R0, R4, R6, R0", "S05 @P0 BRA `(.L_1)", "EXIT"}, 128,
      4));
  EXPECT_EQ(found.clocks, 20);
  EXPECT_NEAR(found.share_pct, 40, 1e-6);
  EXPECT_NEAR(found.idle_pct, 60, 1e-6);
}

// One group a pass, which is waited for before the next (0x0) or a pass later (0x1).
std::vector<std::string> warpgroup_loop(const std::string& left, const std::string& wait = "") {
  std::vector<std::string> lines = {".L_1:",
                                    "WARPGROUP.ARRIVE",
                                    "HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24, gsb0",
                                    "WARPGROUP.DEPBAR.LE gsb0, " + left,
                                    "S05 @P0 BRA `(.L_1)",
                                    "EXIT"};
  if (!wait.empty()) lines.insert(lines.begin() + 1, wait);
  return lines;
}

TEST(Pace, AWarpgroupThatWaitsForEachGroupLeavesItsMatrixUnitsIdle) {
  // 128 clocks of the unit from the second on; the wait, then the branch's five, then the fence.
  const Pace alone = pace(kernel_of_lines(warpgroup_loop("0x0"), 128, 4));
  EXPECT_EQ(alone.clocks, 128 + 1 + 5 + 1);
  EXPECT_NEAR(alone.share_pct, 100 * 128.0 / alone.clocks, 1e-6);
  ASSERT_FALSE(alone.idle.empty());
  EXPECT_EQ(pace(kernel_of_lines(warpgroup_loop("0x1"), 128, 4)).clocks, 128) << "one ahead";
  EXPECT_EQ(pace(kernel_of_lines(warpgroup_loop("0x0"), 256, 8)).clocks, 256) << "two take turns";
}

TEST(Pace, BarriersOfCopiesAreTakenToHaveCompletedBesideProducts) {
  const std::string wait = "S02 W0 SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R4";
  EXPECT_EQ(pace(kernel_of_lines(warpgroup_loop("0x1", wait), 128, 4)).clocks, 128);
  std::vector<std::string> copies = kCopies;
  copies.insert(copies.begin() + 1, wait);
  EXPECT_EQ(pace(kernel_of_lines(copies, 32, 1)).clocks, 0) << "how many bytes?";
}

// 24 and 240 registers of 168 a thread: one of three warpgroups gives, two multiply.
TEST(Pace, WarpsThatGiveTheirRegistersDoNotMultiply) {
  std::vector<std::string> lines = warpgroup_loop("0x0");
  lines.insert(lines.begin(),
               {"USETMAXREG.DEALLOC.CTAPOOL 0x18", "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0"});
  Kernel kernel = kernel_of_lines(lines, 384, 12);
  kernel.registers = 168;
  EXPECT_EQ(pace(kernel).clocks, 2 * 128);
}

TEST(Pace, ProductsAreInTheTable) {
  const model::Gpu gpu = round_gpu();
  const std::vector<Judged> one = judged({kernel_of_lines(warpgroup_loop("0x0"), 128, 4)}, &gpu);
  EXPECT_THAT(plain_text(one), HasSubstr("100 % wgmma"));
  EXPECT_THAT(plain_text(one), HasSubstr("wgmma of made: 1 HGMMA.64x256x16.F32.BF16 a pass, in "
                                         "groups: 1; 524288 flops of a warpgroup in 128 cycles"));
  const nlohmann::json part = json(one).at(0).at("parts").at(1);
  EXPECT_EQ(part.at("wgmma").at("flops_per_warp"), 524288 / 4);
  EXPECT_EQ(plain_text(one).find("special functions run"), std::string::npos);
  const std::vector<Judged> none = judged({kernel_of_lines(kCopies, 32, 1)}, &gpu);
  EXPECT_EQ(plain_text(none).find("wgmma"), std::string::npos);
  EXPECT_FALSE(json(none).at(0).at("parts").at(0).contains("wgmma"));
}

TEST(Pace, IsInTheTable) {
  const model::Gpu gpu = round_gpu();
  const std::vector<Judged> one = judged({kernel_of_lines(kCopies, 32, 1)}, &gpu);
  EXPECT_THAT(plain_text(one), HasSubstr("expected"));
  EXPECT_THAT(plain_text(one), HasSubstr("20 %"));
  EXPECT_THAT(plain_text(one), HasSubstr("copy.cu:4 (STG) loaded data of copy.cu:3 (LDG)"));
  const nlohmann::json expected = json(one).at(0).at("expected");
  EXPECT_EQ(expected.at("clocks"), 507);
  EXPECT_EQ(expected.at("idle").at(0).at("from_opcode"), "LDG");
}

TEST(Pace, NothingWhereTheModelLacksAnInstruction) {
  std::vector<std::string> lines = kCopies;
  lines.insert(lines.begin() + 1, "UBLKCP [UR4], [UR6], UR8");
  EXPECT_EQ(pace(kernel_of_lines(lines, 32, 1)).clocks, 0);
}

} // namespace
} // namespace kg::sass
