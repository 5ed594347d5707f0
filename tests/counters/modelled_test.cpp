// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the model is told of counted launches; its own arithmetic is tests/model/.
#include "perf/cost/modelled.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  shared.memory = Memory::shared;
  shared.wavefronts = 132'000'000;
  launch.sites = {global, shared};
  launch.unique_read = launch.unique_written = 32768;
  return launch;
}

TEST(Modelled, PartsAreThoseOfTheCounts) {
  const model::Gpu gpu = h200();
  const auto all = modelled({launch()}, {.bytes = 0, .flops = 132e9}, gpu, {});
  ASSERT_EQ(all.size(), 1u);
  const auto& parts = all[0].modelled.parts;
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::memory), 65536 * 32 / gpu.copy_bytes_per_s);
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::l2), 4000 * 32 / gpu.l2_bytes_per_s);
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::shared), 1e6 / gpu.clock_hz); // of one multiprocessor
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::issue), 1e9 / gpu.f32_flops_per_s);
}

TEST(Modelled, MatrixInstructionsAreNotF32Arithmetic) {
  Launch multiplies = launch();
  multiplies.collectives = {{"mma_m16n8k16<bf16>", 132'000'000}, {"ldmatrix", 1}};
  const model::Gpu gpu = h200();
  const auto parts = modelled({multiplies}, {.bytes = 0, .flops = 1e9}, gpu, {})[0].modelled.parts;
  EXPECT_EQ(parts.at(model::Bound::issue), 0);
  EXPECT_DOUBLE_EQ(parts.at(model::Bound::matrix),
                   4096e6 / (gpu.mma_share * gpu.matrix_flops_per_s.at("bf16"))); // of one
}

TEST(Modelled, ArithmeticOfSeveralLaunchesIsLeftOut) {
  const Work work{.bytes = 0, .flops = 1e9};
  for (const ModelledLaunch& one : modelled({launch(), launch()}, work, h200(), {}))
    EXPECT_EQ(one.modelled.parts.at(model::Bound::issue), 0);
  EXPECT_THAT(modelled_text({launch(), launch()}, work, h200(), {}),
              HasSubstr("arithmetic is left out"));
  EXPECT_THAT(modelled_text({launch()}, work, h200(), {}), Not(HasSubstr("left out")));
}

// A kernel that takes all registers waits longer: 1 block of 256 threads where 8 would be.
TEST(Modelled, RegistersLimitOccupancy) {
  Launch many = launch();
  many.grid = {132'000, 1, 1};
  many.round_trips = 132'000;
  many.sites[0].sectors = many.unique_read = 132'000;
  const auto waiting = [&](const TakenByKernel& taken) {
    return modelled({many}, {}, h200(), taken)[0].modelled.parts.at(model::Bound::loads);
  };
  EXPECT_DOUBLE_EQ(waiting({{"k", {255, 0}}}), 8 * waiting({}));
  EXPECT_DOUBLE_EQ(waiting({{"k", {32, 200 * 1024}}}), 8 * waiting({})); // shared memory does, too
  EXPECT_THAT(modelled_text({many}, {}, h200(), {}), HasSubstr("dynamic shared memory alone"));
  EXPECT_THAT(modelled_text({many}, {}, h200(), {{"k", {32, 0}}}),
              AllOf(HasSubstr("registers, threads and shared memory"),
                    HasSubstr("model, not measured: nvidia-h200")));
}

TEST(Modelled, WhatDoesNotFitHasNoTime) {
  Launch large = launch();
  large.shared_bytes = 300 * 1024;
  EXPECT_FALSE(modelled({large}, {}, h200(), {})[0].fits);
  EXPECT_THAT(modelled_text({large}, {}, h200(), {}), HasSubstr("does not fit"));
}

} // namespace
} // namespace kg::cost
