// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/occupancy.h"

#include "runtime/error.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace kg::resources {
namespace {

constexpr int kWarp = 32;
constexpr int kRegisters = 65536; // 32-bit, per multiprocessor since 3.0
constexpr int kRegisterUnit = 256;
constexpr int kParts = 4;

constexpr SmLimits kLimits[] = {{75, 16, 32, 64, 0},      {80, 32, 64, 164, 1024},
                                {86, 16, 48, 100, 1024},  {87, 16, 48, 164, 1024},
                                {89, 24, 48, 100, 1024},  {90, 32, 64, 228, 1024},
                                {100, 32, 64, 228, 1024}, {120, 24, 48, 100, 1024}};

constexpr int div_up(int a, int b) { return (a + b - 1) / b; }

} // namespace

const SmLimits& sm_limits(std::string_view arch) {
  constexpr std::string_view kPrefix = "sm_";
  int number = 0;
  if (arch.starts_with(kPrefix))
    std::from_chars(arch.data() + kPrefix.size(), arch.data() + arch.size(), number);
  const auto at = std::find_if(std::begin(kLimits), std::end(kLimits),
                               [&](const SmLimits& limits) { return limits.arch == number; });
  if (at != std::end(kLimits)) return *at;
  std::string known;
  for (const SmLimits& limits : kLimits) known += " sm_" + std::to_string(limits.arch);
  throw Error("architecture '" + std::string(arch) + "' is not known; known are" + known);
}

int resident_blocks(const LaunchResources& launch, const SmLimits& limits) {
  const int warps = div_up(std::max(launch.threads, 1), kWarp);
  int blocks = std::min(limits.blocks, limits.warps / warps);
  if (launch.registers > 0) {
    const int per_warp = div_up(launch.registers * kWarp, kRegisterUnit) * kRegisterUnit;
    const int warps_of_a_part = kRegisters / kParts / per_warp;
    blocks = std::min(blocks, warps_of_a_part * kParts / warps);
  }
  const int unit = limits.arch < 80 ? 256 : 128;
  const int shared = div_up(launch.shared_bytes + limits.reserved_shared, unit) * unit;
  if (shared > 0) blocks = std::min(blocks, limits.shared_kib * 1024 / shared);
  return blocks;
}

double occupancy_pct(const LaunchResources& launch, const SmLimits& limits) {
  const int warps = div_up(std::max(launch.threads, 1), kWarp);
  return 100.0 * resident_blocks(launch, limits) * warps / limits.warps;
}

} // namespace kg::resources
