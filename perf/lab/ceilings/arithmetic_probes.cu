// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "instructions/mma.h"
#include "perf/lab/ceilings/probes.h"
#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kg::perf {
namespace arithmetic {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
// Independent chains per thread: with the resident warps, enough to hide an instruction's latency:
// 4 cycles for an FMA and about 33 for an MMA instruction on Hopper.
constexpr int kChains = 8;

// Every chain converges to the fixed point 2 of x/2 + 1: all numbers stay normal.
__global__ void multiply_add(int rounds, float* out) {
  float chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = static_cast<float>(threadIdx.x + c);
  for (int i = 0; i < rounds; ++i) {
    for (int c = 0; c < kChains; ++c) chain[c] = chain[c] * 0.5f + 1.0f;
  }
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += chain[c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Represents tf32, whose elements are floats in memory.
struct Tf32 {};

// The instruction's K, and 1 in both halves of a register, or in the whole register.
template <class T>
inline constexpr int kDepth = std::is_same_v<T, Tf32> ? 8 : 16;
template <class T>
inline constexpr unsigned kOnes = std::is_same_v<T, f16>    ? 0x3c003c00u
                                  : std::is_same_v<T, bf16> ? 0x3f803f80u
                                                            : 0x3f800000u;

// Matrices of ones: every round adds K to every element.
template <class T>
__global__ void multiply_matrices(int rounds, float* out) {
  float sum[kChains][4] = {};
  const unsigned a[4] = {kOnes<T>, kOnes<T>, kOnes<T>, kOnes<T>}, b[2] = {kOnes<T>, kOnes<T>};
  for (int i = 0; i < rounds; ++i) {
    for (int c = 0; c < kChains; ++c) {
      if constexpr (std::is_same_v<T, Tf32>)
        ptx::mma_m16n8k8_tf32(sum[c], a, b);
      else
        ptx::mma_m16n8k16<T>(sum[c], a, b);
    }
  }
  float all = 0;
  for (int c = 0; c < kChains; ++c) all += (sum[c][0] + sum[c][1]) + (sum[c][2] + sum[c][3]);
  out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

} // namespace arithmetic
namespace {

// Iterations: about 1 ms on a GPU, and on two cores of a host. All sums stay integers below 2^24.
struct Amount {
  int blocks;
  int multiply_adds;
  int matrices;
};
Amount amount() {
  if constexpr (backend == Backend::host) return {16, 256, 8};
  return {8 * device_properties().sm_count, 8192, 4096};
}

struct Output {
  Output() : to(static_cast<std::size_t>(amount().blocks) * arithmetic::kThreads) {}
  DeviceBuffer<float> to;
};

std::string verify(const DeviceBuffer<float>& to, float expected, Stream& stream) {
  const std::vector<float> result = to.to_host(stream);
  for (std::size_t i = 0; i < result.size(); ++i)
    // Every chain is within one unit in the last place of its fixed point, whether or not the
    // compiler fused multiplication and addition.
    if (!(result[i] >= expected * (1 - 2e-6f) && result[i] <= expected * (1 + 2e-6f)))
      return "thread " + std::to_string(i) + " has " + std::to_string(result[i]) + " instead of " +
             std::to_string(expected);
  return "";
}

template <class Kernel>
Probe probe(std::string name, Kernel kernel, int rounds, double flops, float expected) {
  return {std::move(name), Bound::compute, flops, [=] {
            auto output = std::make_shared<Output>();
            const auto run = [=](Stream& stream) {
              launch(kernel,
                     {.grid = dim3(static_cast<unsigned>(amount().blocks)),
                      .block = dim3(arithmetic::kThreads),
                      .stream = &stream},
                     rounds, output->to.data());
            };
            return Workload{run, [=](Stream& s) { output->to.poison(s); },
                            [=](Stream& s) { return verify(output->to, expected, s); }, "probe"};
          }};
}

template <class T>
Probe matrix_probe(std::string name) {
  const Amount work = amount();
  constexpr double kFlops = 2.0 * 16 * 8 * arithmetic::kDepth<T>; // per instruction
  const double instructions =
      static_cast<double>(work.blocks) * arithmetic::kWarps * work.matrices * arithmetic::kChains;
  const auto sum =
      static_cast<float>(4 * arithmetic::kChains * work.matrices * arithmetic::kDepth<T>);
  return probe(std::move(name), arithmetic::multiply_matrices<T>, work.matrices,
               instructions * kFlops, sum);
}

} // namespace

std::vector<Probe> arithmetic_probes() {
  const Amount work = amount();
  const double multiply_adds = static_cast<double>(work.blocks) * arithmetic::kThreads *
                               work.multiply_adds * arithmetic::kChains;
  std::vector<Probe> probes = {probe("fma_f32_flops_per_s", arithmetic::multiply_add,
                                     work.multiply_adds, 2 * multiply_adds,
                                     2.0f * arithmetic::kChains)};
  const DeviceProperties& device = device_properties();
  if (device.compute_major * 10 + device.compute_minor >= 75)
    probes.push_back(matrix_probe<f16>("mma_f16_flops_per_s"));
  if (device.compute_major >= 8) {
    probes.push_back(matrix_probe<bf16>("mma_bf16_flops_per_s"));
    probes.push_back(matrix_probe<arithmetic::Tf32>("mma_tf32_flops_per_s"));
  }
  return probes;
}

} // namespace kg::perf
