// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the model is told of counted launches; its own arithmetic is
// tests/unit/perf/code/timing_model/.
#include "perf/code/cost/modelled.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kg::cost {
namespace {

using count::Launch;
using count::Memory;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

model::Gpu h200() {
  const std::vector<model::Gpu> gpus = model::load_gpus(KERNELGRADE_GPUS);
  return *std::find_if(gpus.begin(), gpus.end(),
                       [](const model::Gpu& gpu) { return gpu.name == "nvidia-h200"; });
}

// As many blocks as the GPU has multiprocessors; 1 MiB read and written; bank conflicts.
Launch launch() {
  Launch launch;
  launch.kernel = "k";
  launch.grid = {66, 2, 1};
  launch.block = {32, 8, 1};
  count::Site global, shared;
  global.requests = 1000;
  global.sectors = 4000;
  global.width = 16;
  shared.memory = Memory::shared;
  shared.wavefronts = 132'000'000;
  launch.sites = {global, shared};
  launch.unique_read = launch.unique_written = 32768;
  launch.block_read = 3000;
  return launch;
}

TEST(Modelled, PartsAreThoseOfTheCounts) {
  const model::Gpu gpu = h200();
  const auto all = modelled({launch()}, {.bytes = 0, .flops = 132e9}, gpu, {});
  ASSERT_EQ(all.size(), 1u);
  const auto& parts = all[0].modelled.parts;
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::memory), 65536 * 32 / gpu.copy_bytes_per_s);
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::l2), 3000 * 32 / gpu.l2_bytes_per_s);
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::shared),
                   (1e6 + 1000. / 132) / gpu.clock_hz); // of one multiprocessor, and the requests
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::arithmetic), 1e9 / gpu.f32_flops_per_s);
}

// 1,000 requests of 32 lanes and 16 bytes are 500 KiB, and ten instructions each.
TEST(Modelled, InstructionsAreThoseOfTheBlessedMachineCode) {
  const model::Gpu gpu = h200();
  const auto issue = [&](const Launch& one, double slots) {
    return modelled({one}, {}, gpu, {{"k", {.registers = 32, .issue_slots = slots}}})[0]
        .costs.issue_clocks;
  };
  EXPECT_DOUBLE_EQ(issue(launch(), 10), 5000);
  Launch multiplies = launch();
  multiplies.collectives = {{"mma_m16n8k16<bf16>", 700}};
  EXPECT_DOUBLE_EQ(issue(multiplies, 10), 7000) << "for each matrix instruction";
  Launch shared = launch();
  shared.sites.erase(shared.sites.begin());
  EXPECT_DOUBLE_EQ(issue(shared, 10), 132 * 8 * 10) << "for each warp";
  EXPECT_EQ(issue(launch(), std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(Modelled, ARequestTakesTheUnitsThatTakeItsAddresses) {
  model::Gpu gpu = h200();
  Launch loads = launch();
  loads.sites.resize(1);
  loads.sites[0].l1_passes = 1000;
  EXPECT_DOUBLE_EQ(costs_of(loads, 1, 0, gpu).wavefronts, 1000);
  gpu.lsu_lanes = 16;
  EXPECT_DOUBLE_EQ(costs_of(loads, 1, 0, gpu).wavefronts, 2000);
  loads.sites[0].l1_passes = 32000;
  EXPECT_DOUBLE_EQ(costs_of(loads, 1, 0, gpu).wavefronts, 32000);
}

TEST(Modelled, MatrixInstructionsAreNotF32Arithmetic) {
  Launch multiplies = launch();
  multiplies.collectives = {{"mma_m16n8k16<bf16>", 132'000'000}, {"ldmatrix", 1}};
  const model::Gpu gpu = h200();
  const auto parts = modelled({multiplies}, {.bytes = 0, .flops = 1e9}, gpu, {})[0].modelled.parts;
  EXPECT_EQ(parts.at(model::Bound::arithmetic), 0);
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::matrix),
                   4096e6 / (gpu.mma_share * gpu.matrix_flops_per_s.at("bf16"))); // of one
}

TEST(Modelled, ProductsOfWarpgroupsTakeThePeak) {
  Launch multiplies = launch();
  multiplies.wgmma = {{"m64n256k16<bf16>", 132'000}, {"m64n256k32<e4m3>", 132'000}};
  const model::Gpu gpu = h200();
  const auto parts = modelled({multiplies}, {.bytes = 0, .flops = 1e9}, gpu, {})[0].modelled.parts;
  EXPECT_EQ(parts.at(model::Bound::arithmetic), 0);
  EXPECT_NEAR(parts.at(model::Bound::matrix), 1000 * 2 * 128 / gpu.clock_hz, 1e-9); // of one
}

TEST(Modelled, ArithmeticOfSeveralLaunchesIsLeftOut) {
  const Work work{.bytes = 0, .flops = 1e9};
  for (const ModelledLaunch& one : modelled({launch(), launch()}, work, h200(), {}))
    EXPECT_EQ(one.modelled.parts.at(model::Bound::arithmetic), 0);
  EXPECT_THAT(modelled_text({launch(), launch()}, work, h200(), {}),
              HasSubstr("arithmetic is left out"));
  EXPECT_THAT(modelled_text({launch()}, work, h200(), {}), Not(HasSubstr("left out")));
}

// A kernel that takes all registers waits longer: 1 block of 256 threads where 8 would be.
TEST(Modelled, RegistersLimitOccupancy) {
  Launch many = launch();
  many.grid = {132'000, 1, 1};
  many.unique_written = 0;
  many.round_trips = 132'000;
  many.sites[0].sectors = many.block_read = many.unique_read = 132'000;
  const auto waiting = [&](const TakenByKernel& taken) {
    return modelled({many}, {}, h200(), taken)[0].modelled.parts.at(model::Bound::loads);
  };
  EXPECT_DOUBLE_EQ(waiting({{"k", {.registers = 255}}}), 8 * waiting({}));
  EXPECT_DOUBLE_EQ(waiting({{"k", {.registers = 32, .static_shared = 200 * 1024}}}),
                   8 * waiting({})); // shared memory does, too
  EXPECT_THAT(modelled_text({many}, {}, h200(), {}), HasSubstr("dynamic shared memory alone"));
  EXPECT_THAT(modelled_text({many}, {}, h200(), {{"k", {.registers = 32}}}),
              HasSubstr("registers, threads and shared memory"));
}

TEST(Modelled, WhatDoesNotFitHasNoTime) {
  Launch large = launch();
  large.shared_bytes = 300 * 1024;
  EXPECT_FALSE(modelled({large}, {}, h200(), {})[0].fits);
  EXPECT_THAT(modelled_text({large}, {}, h200(), {}), HasSubstr("does not fit"));
}

} // namespace
} // namespace kg::cost
