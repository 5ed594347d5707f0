// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/nvml.h"

#include <gtest/gtest.h>

namespace kg::perf {
namespace {

constexpr const char* kBusId = "0000:3b:00.0";

TEST(Nvml, GivesWhatTheLibrarySays) {
  const auto nvml = Nvml::open(kBusId, FAKE_NVML);
  ASSERT_NE(nvml, nullptr);
  const GpuState state = nvml->state();
  EXPECT_EQ(state.sm_mhz, 1980u);
  EXPECT_EQ(state.memory_mhz, 2619u);
  EXPECT_EQ(state.power_w, 345.5);
  EXPECT_EQ(state.temperature_c, 41u);
  EXPECT_EQ(state.clock_reasons, 0x48u);
  EXPECT_EQ(state.compute_pids, (std::vector<unsigned>{11, 22}));
  EXPECT_EQ(nvml->clock_reasons(), 0x48u);
}

TEST(Nvml, WhatIsMissingOrFailsIsEmptyAndNotZero) {
  const auto nvml = Nvml::open(kBusId, FAKE_PARTIAL_NVML);
  ASSERT_NE(nvml, nullptr);
  const GpuState state = nvml->state();
  EXPECT_EQ(state.sm_mhz, 1980u);
  EXPECT_EQ(state.power_w, std::nullopt) << "it fails";
  EXPECT_EQ(state.temperature_c, std::nullopt) << "the library lacks it";
  EXPECT_EQ(state.clock_reasons, std::nullopt);
  EXPECT_EQ(state.compute_pids, std::nullopt);
}

TEST(Nvml, IsNoneWithoutTheLibraryOrTheGpu) {
  EXPECT_EQ(Nvml::open(kBusId, "/no/such/libnvidia-ml.so.1"), nullptr);
  EXPECT_EQ(Nvml::open("ffff:00:00.0", FAKE_NVML), nullptr);
}

using Tags = std::map<std::string, std::string>;

TEST(GpuTags, SayWhatIsKnown) {
  const GpuState before{.clock_reasons = 0x40};
  const GpuState after{1980, 2619, 345.5, 41, 0x4, std::vector<unsigned>{7, 8, 9}};
  EXPECT_EQ(gpu_tags(before, after, {8, 9}), (Tags{{"sm_mhz", "1980"},
                                                   {"mem_mhz", "2619"},
                                                   {"power_w", "346"},
                                                   {"temp_c", "41"},
                                                   {"throttle", "0x44"},
                                                   {"foreign_processes", "1"}}));
}

TEST(GpuTags, AreNoneOfWhatIsNotKnown) {
  EXPECT_EQ(gpu_tags({}, {}, {1}), Tags());
  EXPECT_EQ(gpu_tags({}, {.clock_reasons = 0x4}, {1}), (Tags{{"throttle", "0x4"}}));
}

TEST(GpuTags, OneOfTheListedProcessesIsThisOne) {
  const auto listed = [](std::vector<unsigned> pids) {
    return gpu_tags({}, {.compute_pids = std::move(pids)}, {7, 8});
  };
  EXPECT_EQ(listed({}), Tags());
  EXPECT_EQ(listed({7}), Tags());
  EXPECT_EQ(listed({7, 8}), Tags()) << "the process that started it";
  EXPECT_EQ(listed({4711}), Tags()) << "under another number";
  EXPECT_EQ(listed({4711, 4712}), (Tags{{"foreign_processes", "1"}}));
  EXPECT_EQ(listed({7, 9, 10}), (Tags{{"foreign_processes", "2"}}));
}

TEST(Nvml, PowerAndHeatThrottleWhetherInSoftwareOrHardware) {
  EXPECT_EQ(throttled_by(0), "");
  EXPECT_EQ(throttled_by(0x1 | 0x2 | 0x10 | 0x100), "") << "idle, and what a user asked for";
  EXPECT_EQ(throttled_by(0x4), "software power cap");
  EXPECT_EQ(throttled_by(0x1 | 0x8), "hardware slow-down");
  EXPECT_EQ(throttled_by(0x20), "software thermal slow-down");
  EXPECT_EQ(throttled_by(0x4 | 0x40), "software power cap, hardware thermal slow-down");
  EXPECT_EQ(throttled_by(0x80), "hardware power brake");
}

} // namespace
} // namespace kg::perf
