// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/theory.h"

#include <array>
#include <cstdlib>
#include <string_view>

namespace kg::judge {
namespace {

// Multiply-adds that one multiprocessor starts per cycle. Scalar rates from the arithmetic
// throughput table in NVIDIA's CUDA C++ Programming Guide. Tensor Core rates (dense, accumulation
// in f32) from the peak rates in NVIDIA's architecture papers, divided by multiprocessors and
// clock.
struct PerCycle {
  std::string_view compute_capability;
  double f32;
  double f64;
  double half_matrix; // f16 and bf16
  double tf32_matrix;
};
constexpr std::array kPerCycle = {
    PerCycle{"7.5", 64, 2, 512, 0},       PerCycle{"8.0", 64, 32, 1024, 512},
    PerCycle{"8.6", 128, 2, 512, 256},    PerCycle{"8.9", 128, 2, 512, 256},
    PerCycle{"9.0", 128, 64, 2048, 1024}, PerCycle{"10.0", 128, 64, 4096, 2048},
    PerCycle{"12.0", 128, 2, 512, 256},
};

double number(const std::map<std::string, std::string>& environment, const char* key) {
  const auto found = environment.find(key);
  return found == environment.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

} // namespace

std::map<std::string, double>
theoretical_limits(const std::map<std::string, std::string>& environment) {
  std::map<std::string, double> limits;
  const auto add = [&](const char* name, double value) {
    if (value > 0) limits[name] = value;
  };
  constexpr double kTransfersPerCycle = 2; // double data rate
  constexpr double kBitsPerByte = 8, kHzPerMhz = 1e6, kFlopsPerMultiplyAdd = 2;
  add("dram_bytes_per_s", kTransfersPerCycle * kHzPerMhz * number(environment, "memory_max_mhz") *
                              number(environment, "memory_bus_bits") / kBitsPerByte);
  const auto capability = environment.find("compute_capability");
  const double cycles =
      kHzPerMhz * number(environment, "sm_max_mhz") * number(environment, "sm_count");
  if (capability == environment.end()) return limits;
  for (const PerCycle& each : kPerCycle) {
    if (each.compute_capability != capability->second) continue;
    add("f32_flops_per_s", kFlopsPerMultiplyAdd * cycles * each.f32);
    add("f64_flops_per_s", kFlopsPerMultiplyAdd * cycles * each.f64);
    add("f16_matrix_flops_per_s", kFlopsPerMultiplyAdd * cycles * each.half_matrix);
    // Turing's Tensor Cores do not support bf16.
    if (each.tf32_matrix > 0)
      add("bf16_matrix_flops_per_s", kFlopsPerMultiplyAdd * cycles * each.half_matrix);
    add("f32_matrix_flops_per_s", kFlopsPerMultiplyAdd * cycles * each.tf32_matrix);
  }
  return limits;
}

} // namespace kg::judge
