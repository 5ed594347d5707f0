// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The model against times computed by hand, on a GPU with round figures.
#include "perf/code/timing_model/model.h"

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
  gpu.copy_bytes_per_s = 100e9;
  gpu.l2_bytes_per_s = 1000e9;
  gpu.port_bytes_per_s = 128e9;
  gpu.latency_s = 1e-6;
  gpu.l2_latency_s = 0.25e-6;
  gpu.l1_latency_s = 0.0625e-6;
  gpu.launch_s = 2e-6;
  gpu.f32_flops_per_s = 256e9;
  gpu.matrix_flops_per_s = {{"f16", 4096e9}};
  return gpu;
}

// A copy of 32 MB by 10,000 blocks, all of whose places are taken in 125 waves: 1 M sectors, half
// of them read in two round trips a block, each of 800 bytes.
Costs copy() {
  Costs costs;
  costs.blocks = 10000;
  costs.resident_blocks = 8;
  costs.round_trips = 2;
  costs.load_bytes = costs.block_read_bytes = costs.read_bytes = 16e6;
  costs.sectors = 1e6;
  costs.unique_sectors = 1e6;
  return costs;
}

// Loads of 16 KiB in all.
Costs few_loads(double blocks) {
  Costs costs;
  costs.blocks = blocks;
  costs.resident_blocks = 1;
  costs.round_trips = 1;
  costs.load_bytes = costs.block_read_bytes = costs.read_bytes = 16384;
  costs.sectors = costs.unique_sectors = 512;
  return costs;
}

double of_loads(const Costs& costs) { return modelled(costs, gpu()).parts.at(Bound::loads); }

TEST(Model, ACopyIsBoundByMemory) {
  const Modelled found = modelled(copy(), gpu());
  EXPECT_EQ(found.bound, Bound::memory);
  EXPECT_DOUBLE_EQ(found.waves, 125);
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::memory), 320e-6); // 32 MB at 100 GB/s
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::l2), 32e-6);
  // 80 blocks with 800 bytes each under way ask for less than a microsecond's worth: 250 latencies.
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::loads), 250e-6);
  EXPECT_DOUBLE_EQ(found.seconds, 322e-6);
  EXPECT_DOUBLE_EQ(found.share_of_roof, 320.0 / 322.0);
}

TEST(Model, UncoalescedRequestsAreBoundByL2) {
  Costs costs = copy();
  costs.sectors = 32e6; // each sector touched 32 times
  const Modelled found = modelled(costs, gpu());
  EXPECT_EQ(found.bound, Bound::l2);
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::l2), 1024e-6);
  EXPECT_NEAR(found.share_of_roof, 320.0 / 1026.0, 1e-12);
}

TEST(Model, FewResidentBlocksAreBoundByLoadsInFlight) {
  Costs costs = copy();
  costs.resident_blocks = 1;
  const Modelled found = modelled(costs, gpu());
  EXPECT_EQ(found.bound, Bound::loads);
  EXPECT_DOUBLE_EQ(found.parts.at(Bound::loads), 2000e-6); // 1,000 waves
}

TEST(Model, HalfOfTheLoadsInFlightTakeTwiceTheRoundTrips) {
  Costs costs = copy();
  costs.round_trips = 4;
  EXPECT_DOUBLE_EQ(of_loads(costs), 500e-6);
  costs.round_trips = 0;
  EXPECT_EQ(of_loads(costs), 0) << "it loads nothing, or by asynchronous copies";
}

TEST(Model, WhatIsReadAgainComesFromL2OrL1) {
  Costs costs = copy();
  costs.read_bytes = 4e6; // each sector four times
  EXPECT_DOUBLE_EQ(of_loads(costs), 250 * (0.25e-6 + 0.75 * 0.25e-6));
  costs.block_read_bytes = 8e6; // twice by a block, and by two
  EXPECT_DOUBLE_EQ(of_loads(costs), 250 * (0.25e-6 + 0.25 * 0.25e-6 + 0.5 * 0.0625e-6));
}

TEST(Model, WhatIsWrittenTakesItsTimeBesideTheLoads) {
  Costs costs = copy();
  costs.written_bytes = 16e6; // 160 us of a copy's rate
  EXPECT_DOUBLE_EQ(of_loads(costs), 250e-6 + 160e-6);
}

// Multiprocessors that have 4 KiB under way get 4 GB/s each here, and 16 KiB 12.
TEST(Model, LoadsTakeAsLongAsOthersHaveMeasured) {
  Gpu measured = gpu();
  measured.loads = {{4096, 40e9}, {16384, 120e9}};
  EXPECT_DOUBLE_EQ(measured.loads_at(2048), 20e9);
  EXPECT_DOUBLE_EQ(measured.loads_at(8192), 40e9 + 80e9 / 3);
  EXPECT_DOUBLE_EQ(measured.loads_at(1e6), 100e9) << "what a copy reaches";
  EXPECT_NEAR(measured.loads_at(measured.bytes_for_a_copy()), 100e9, 1);
  EXPECT_NEAR(gpu().loads_at(gpu().bytes_for_a_copy()), 100e9, 1);
  EXPECT_DOUBLE_EQ(gpu().loads_at(5000), 50e9) << "where nobody has: bytes over the latency";
  const auto time = [&](const Costs& costs) {
    return modelled(costs, measured).parts.at(Bound::loads);
  };
  EXPECT_DOUBLE_EQ(time(few_loads(10)), 16384 / 16e9);
  // As many under way on the one that is busy, of whose rate the others have none.
  EXPECT_DOUBLE_EQ(time(few_loads(1)), 16384 / 10e9);
}

TEST(Model, OneBlockBehindAFullWaveTakesAsLongAsTheWave) {
  EXPECT_DOUBLE_EQ(of_loads(few_loads(10)), 1e-6);
  EXPECT_DOUBLE_EQ(of_loads(few_loads(11)), 2e-6);
  EXPECT_DOUBLE_EQ(of_loads(few_loads(20)), 2e-6);
}

TEST(Model, OneBlockTakesL2ThroughOnePort) {
  Costs costs;
  costs.blocks = costs.resident_blocks = 1;
  costs.sectors = costs.unique_sectors = 1e6; // stored
  EXPECT_EQ(modelled(costs, gpu()).bound, Bound::memory);
  EXPECT_DOUBLE_EQ(modelled(costs, gpu()).parts.at(Bound::l2), 250e-6); // 32 MB at 128 GB/s
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
  costs.resident_blocks = 1;
  costs.f32_flops = 2560e6; // 1 ms on ten multiprocessors
  EXPECT_DOUBLE_EQ(modelled(costs, gpu()).parts.at(Bound::arithmetic), 1e-3);
  costs.blocks = 11; // the same work, but one multiprocessor has two of eleven parts
  EXPECT_DOUBLE_EQ(modelled(costs, gpu()).parts.at(Bound::arithmetic), 2e-3 * 10 / 11);
  EXPECT_EQ(modelled(costs, gpu()).bound, Bound::arithmetic);
}

TEST(Model, InstructionsAreSharedByFourSchedulers) {
  Costs costs = copy();
  costs.issue_clocks = 40e6; // 4 M a multiprocessor, 1 M a scheduler
  EXPECT_DOUBLE_EQ(modelled(costs, gpu()).parts.at(Bound::issue), 1e-3);
  EXPECT_EQ(modelled(costs, gpu()).limiter, Bound::issue);
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
  costs.blocks = costs.resident_blocks = 1;
  const Modelled found = modelled(costs, gpu());
  EXPECT_EQ(found.bound, Bound::launch);
  EXPECT_DOUBLE_EQ(found.seconds, 2e-6);
  EXPECT_EQ(found.parts.at(Bound::loads), 0) << "no request, nothing to wait for";
  EXPECT_EQ(found.limiter, Bound::launch);
  // So is little, but what would have to be less is something else.
  EXPECT_EQ(modelled(few_loads(1), gpu()).bound, Bound::launch);
  EXPECT_EQ(modelled(few_loads(1), gpu()).limiter, Bound::loads);
}

TEST(Model, MatrixInstructionsReachAShareOfThePeak) {
  Gpu hopper = gpu();
  hopper.mma_share = 0.5;
  Costs costs = copy();
  costs.matrix_flops = {{"f16", 4096e9}};
  EXPECT_DOUBLE_EQ(modelled(costs, hopper).parts.at(Bound::matrix), 0.2);
  EXPECT_NEAR(modelled(costs, hopper).share_of_roof, 0.5, 1e-4);
}

TEST(Model, APartOfAGpuHasItsShareOfWhatAllShare) {
  Gpu measured = gpu();
  measured.loads = {{4096, 40e9}};
  const Gpu part = part_of(measured, 2);
  EXPECT_EQ(part.sms, 2);
  EXPECT_DOUBLE_EQ(part.copy_bytes_per_s, 20e9);
  EXPECT_DOUBLE_EQ(part.l2_bytes_per_s, 200e9);
  EXPECT_DOUBLE_EQ(part.loads_at(4096), 8e9);
  EXPECT_EQ(part.f32_flops_per_s, measured.f32_flops_per_s) << "of one";
  // A fifth of the work takes a fifth of the GPU as long.
  Costs fifth = copy();
  for (double* each : {&fifth.blocks, &fifth.load_bytes, &fifth.block_read_bytes, &fifth.read_bytes,
                       &fifth.sectors, &fifth.unique_sectors})
    *each /= 5;
  EXPECT_DOUBLE_EQ(modelled(fifth, part).seconds, modelled(copy(), measured).seconds);
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
  const std::set<std::string> wanted = {
      "nvidia-h200", "nvidia-h100", "nvidia-a100",      "nvidia-rtx-4090", "nvidia-t4",
      "nvidia-l40s", "nvidia-b200", "nvidia-rtx-a6000", "nvidia-rtx-3090", "nvidia-a100-pcie-40gb"};
  for (const std::string& name : wanted) ASSERT_TRUE(gpus.contains(name)) << name;
  const auto tflops = [&](const char* name) {
    return gpus[name].sms * gpus[name].f32_flops_per_s / 1e12;
  };
  EXPECT_NEAR(tflops("nvidia-h200"), 67, 0.5);
  EXPECT_NEAR(tflops("nvidia-a100"), 19.5, 0.05);
  EXPECT_NEAR(tflops("nvidia-rtx-4090"), 82.6, 0.05);
  EXPECT_NEAR(tflops("nvidia-t4"), 8.1, 0.05);
  EXPECT_NEAR(tflops("nvidia-l40s"), 91.6, 0.05);
  EXPECT_NEAR(tflops("nvidia-rtx-a6000"), 38.7, 0.05);
  EXPECT_NEAR(tflops("nvidia-rtx-3090"), 35.6, 0.05);
  const auto matrix = [&](const char* name, const char* type) {
    return gpus[name].sms * gpus[name].matrix_flops_per_s.at(type) / 1e12;
  };
  EXPECT_NEAR(matrix("nvidia-a100", "f16"), 312, 1);
  EXPECT_NEAR(matrix("nvidia-a100", "tf32"), 156, 1);
  EXPECT_NEAR(matrix("nvidia-rtx-4090", "f16"), 165.2, 0.1);
  EXPECT_NEAR(matrix("nvidia-t4", "f16"), 65, 0.2);
  EXPECT_NEAR(matrix("nvidia-l40s", "f16"), 362, 5);
  EXPECT_NEAR(matrix("nvidia-b200", "f16"), 2250, 140) << "at the boost clock";
  const auto f64 = [&](const char* name) {
    return gpus[name].sms * gpus[name].f64_flops_per_s / 1e12;
  };
  EXPECT_NEAR(f64("nvidia-h200"), 34, 0.6);
  EXPECT_NEAR(f64("nvidia-a100"), 9.7, 0.1);
  // A copy reaches a part of the data sheet's rate.
  EXPECT_DOUBLE_EQ(gpus["nvidia-h200"].copy_bytes_per_s, 4.255e12);
}

TEST(Gpus, AMissingFileIsNamed) { EXPECT_THROW(load_gpus("/nonexistent/gpus.json"), Error); }

} // namespace
} // namespace kg::model
