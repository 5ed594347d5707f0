// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The model against times computed by hand, on a GPU with round figures.
#include "perf/model/model.h"

#include "runtime/error.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace kg::model {
namespace {

// 10 multiprocessors at 1 GHz; 100 GB/s of memory, 1000 GB/s of L2; a load takes 1 us, a launch 2.
Gpu gpu() {
  Gpu gpu;
  gpu.name = "round";
  gpu.sms = 10;
  gpu.clock_hz = 1e9;
  gpu.memory_bytes_per_s = 100e9;
  gpu.l2_bytes_per_s = 1000e9;
  gpu.latency_s = 1e-6;
  gpu.launch_s = 2e-6;
  gpu.f32_flops_per_s = 256e9;
  gpu.matrix_flops_per_s = {{"f16", 4096e9}};
  return gpu;
}

// A copy of 32 MB by 10,000 blocks of 8 warps, all resident places taken: 1 M sectors in requests
// of four.
Costs copy() {
  Costs costs;
  costs.blocks = 10000;
  costs.warps_per_block = 8;
  costs.resident_blocks = 8;
  costs.requests = 250e3;
  costs.sectors = 1e6;
  costs.unique_sectors = 1e6;
  return costs;
}

TEST(Model, ACopyIsBoundByMemory) {
  const Modelled found = modelled(copy(), gpu());
  EXPECT_EQ(found.bound, Bound::memory);
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::memory), 320e-6); // 32 MB at 100 GB/s
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::l2), 32e-6);
  // 80 blocks of 8 warps with 4 requests of 128 bytes: 327,680 bytes under way each microsecond.
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::latency), 32e6 / 327680 * 1e-6);
  EXPECT_DOUBLE_EQ(found.seconds, 322e-6);
  EXPECT_DOUBLE_EQ(found.share_of_roof, 320.0 / 322.0);
}

TEST(Model, UncoalescedRequestsAreBoundByL2) {
  Costs costs = copy();
  costs.sectors = 32e6; // each sector touched 32 times
  costs.requests = 1e6;
  const Modelled found = modelled(costs, gpu());
  EXPECT_EQ(found.bound, Bound::l2);
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::l2), 1024e-6);
  EXPECT_NEAR(found.share_of_roof, 320.0 / 1026.0, 1e-12);
}

TEST(Model, FewResidentWarpsAreBoundByLatency) {
  Costs costs = copy();
  costs.resident_blocks = 1;
  costs.warps_per_block = 1;
  const Modelled found = modelled(costs, gpu());
  EXPECT_EQ(found.bound, Bound::latency);
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::latency), 32e6 / (10 * 4 * 128) * 1e-6);
}

TEST(Model, BankConflictsAreBoundBySharedMemory) {
  Costs costs = copy();
  costs.wavefronts = 32e6; // 3.2 M per multiprocessor, one per clock
  const Modelled found = modelled(costs, gpu());
  EXPECT_EQ(found.bound, Bound::shared);
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::shared), 3.2e-3);
}

TEST(Model, OneBlockTooManyTakesAnotherRound) {
  Costs costs;
  costs.blocks = 10;
  costs.warps_per_block = 1;
  costs.resident_blocks = 1;
  costs.f32_flops = 2560e6; // 1 ms on ten multiprocessors
  EXPECT_DOUBLE_EQ(modelled(costs, gpu()).parts.at(Bound::issue), 1e-3);
  costs.blocks = 11; // the same work, but one multiprocessor has two of eleven parts
  EXPECT_DOUBLE_EQ(modelled(costs, gpu()).parts.at(Bound::issue), 2e-3 * 10 / 11);
  EXPECT_EQ(modelled(costs, gpu()).bound, Bound::issue);
}

TEST(Model, MatrixInstructionsOfATypeThatThereIs) {
  Costs costs = copy();
  costs.matrix_flops = {{"f16", 4096e9}}; // 100 ms on ten multiprocessors
  const Modelled found = modelled(costs, gpu());
  EXPECT_EQ(found.bound, Bound::matrix);
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::matrix), 0.1);
  EXPECT_NEAR(found.share_of_roof, 0.1 / (0.1 + 2e-6), 1e-12);
  costs.matrix_flops = {{"tf32", 1}};
  EXPECT_THROW(modelled(costs, gpu()), Error);
}

TEST(Model, NothingToDoIsALaunch) {
  Costs costs;
  costs.blocks = costs.warps_per_block = costs.resident_blocks = 1;
  const Modelled found = modelled(costs, gpu());
  EXPECT_EQ(found.bound, Bound::launch);
  EXPECT_DOUBLE_EQ(found.seconds, 2e-6);
  EXPECT_EQ(found.parts.at(Bound::latency), 0) << "no request, nothing to wait for";
}

TEST(Model, FewBlocksDoNotFillTheGpu) {
  Costs costs = copy();
  costs.blocks = 5; // of 80 that could be resident
  EXPECT_DOUBLE_EQ(modelled(costs, gpu()).parts.at(Bound::latency),
                   32e6 / (5 * 8 * 4 * 128) * 1e-6);
}

TEST(Model, ALoneRequestWaitsForMemory) {
  Costs costs;
  costs.blocks = costs.warps_per_block = costs.resident_blocks = 1;
  costs.requests = costs.sectors = costs.unique_sectors = 1;
  EXPECT_DOUBLE_EQ(modelled(costs, gpu()).parts.at(Bound::latency), 1e-6);
}

TEST(Model, NoLaunchHasNoBlocks) {
  Costs costs = copy();
  costs.resident_blocks = 0;
  EXPECT_THROW(modelled(costs, gpu()), Error);
}

TEST(RankCorrelation, OfRanksNotOfValues) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {1, 10, 100, 1e9}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {9, 7, 5, 1}), -1);
  // 1 - 6 * (1 + 1) / (4 * 15) for one swap of neighbours.
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {2, 1, 3, 4}), 0.8);
}

TEST(RankCorrelation, TiesShareTheirMeanRank) {
  // Ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5.
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5));
  EXPECT_TRUE(std::isnan(rank_correlation({1, 1}, {1, 2})));
  EXPECT_THROW(rank_correlation({1}, {1}), Error);
  EXPECT_THROW(rank_correlation({1, 2}, {1, 2, 3}), Error);
}

// A copy of H200 figures by hand would prove nothing; that a file reads, and that its rates are
// those that datasheets print, does.
TEST(Gpus, RatesAreThoseOfTheDatasheets) {
  std::map<std::string, Gpu> gpus;
  for (const Gpu& gpu : load_gpus(KERNELGRADE_GPUS)) gpus[gpu.name] = gpu;
  const std::set<std::string> wanted = {"nvidia-h200", "nvidia-h100", "nvidia-a100",
                                        "nvidia-rtx-4090", "nvidia-t4"};
  for (const std::string& name : wanted) ASSERT_TRUE(gpus.contains(name)) << name;
  const auto tflops = [&](const char* name) {
    return gpus[name].sms * gpus[name].f32_flops_per_s / 1e12;
  };
  EXPECT_NEAR(tflops("nvidia-h200"), 67, 0.5);
  EXPECT_NEAR(tflops("nvidia-a100"), 19.5, 0.05);
  EXPECT_NEAR(tflops("nvidia-rtx-4090"), 82.6, 0.05);
  EXPECT_NEAR(tflops("nvidia-t4"), 8.1, 0.05);
  const auto matrix = [&](const char* name, const char* type) {
    return gpus[name].sms * gpus[name].matrix_flops_per_s.at(type) / 1e12;
  };
  EXPECT_NEAR(matrix("nvidia-a100", "f16"), 312, 1);
  EXPECT_NEAR(matrix("nvidia-a100", "tf32"), 156, 1);
  EXPECT_NEAR(matrix("nvidia-rtx-4090", "f16"), 165.2, 0.1);
  EXPECT_NEAR(matrix("nvidia-t4", "f16"), 65, 0.2);
}

TEST(Gpus, AMissingFileIsNamed) { EXPECT_THROW(load_gpus("/nonexistent/gpus.json"), Error); }

} // namespace
} // namespace kg::model
