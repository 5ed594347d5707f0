// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/theory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::judge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

// As an A100 of 40 GB says of itself; NVIDIA's data sheet gives the rates that are expected here.
std::map<std::string, std::string> a100() {
  return {{"backend", "cuda"},    {"compute_capability", "8.0"}, {"sm_count", "108"},
          {"sm_max_mhz", "1410"}, {"memory_max_mhz", "1215"},    {"memory_bus_bits", "5120"}};
}

TEST(Theory, AgreesWithADataSheet) {
  const auto limits = theoretical_limits(a100());
  EXPECT_NEAR(limits.at("dram_bytes_per_s"), 1555e9, 1e9);
  EXPECT_NEAR(limits.at("f32_flops_per_s"), 19.5e12, 0.05e12);
  EXPECT_NEAR(limits.at("f64_flops_per_s"), 9.7e12, 0.05e12);
  EXPECT_NEAR(limits.at("f16_matrix_flops_per_s"), 312e12, 0.5e12);
  EXPECT_NEAR(limits.at("bf16_matrix_flops_per_s"), 312e12, 0.5e12);
  EXPECT_NEAR(limits.at("f32_matrix_flops_per_s"), 156e12, 0.5e12);
}

TEST(Theory, SaysNothingOfWhatIsNotKnown) {
  EXPECT_THAT(theoretical_limits({{"device", "host"}, {"compute_capability", "9.0"}}), IsEmpty());
  auto gpu = a100();
  gpu["compute_capability"] = "99.0";
  EXPECT_THAT(theoretical_limits(gpu), ElementsAre(Key("dram_bytes_per_s")));
  gpu.erase("memory_bus_bits");
  EXPECT_THAT(theoretical_limits(gpu), IsEmpty());
}

} // namespace
} // namespace kg::judge
