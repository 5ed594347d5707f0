// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/canary.h"

#include "runtime/device.h"
#include "runtime/launch.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace kg::perf {
namespace canary {

constexpr int kThreads = 256;
constexpr unsigned kFullWarp = 0xffffffffu;

// Copies kTile float4 per thread. A block's range is contiguous: a power-of-two stride would
// measure the associativity of a CPU's caches instead of its memory bandwidth.
constexpr int kTile = 8;

__global__ void copy(std::int64_t quads, const float4* from, float4* to) {
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * (kThreads * kTile) + threadIdx.x;
  for (int k = 0; k < kTile; ++k) {
    const std::int64_t i = first + static_cast<std::int64_t>(k) * kThreads;
    if (i < quads) to[i] = from[i];
  }
}

// Four independent FMA chains per thread hide the latency of one chain. Every chain converges to
// the fixed point 2 of x/2 + 1, so all values are normal numbers.
__global__ void multiply_add(int rounds, float* out) {
  const float start = static_cast<float>(threadIdx.x);
  float a = start, b = start + 1, c = start + 2, d = start + 3;
  for (int i = 0; i < rounds; ++i) {
    a = a * 0.5f + 1.0f;
    b = b * 0.5f + 1.0f;
    c = c * 0.5f + 1.0f;
    d = d * 0.5f + 1.0f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = (a + b) + (c + d);
}

// Sums over the warp with five shuffles and hands the sum to the next warp through shared memory,
// `rounds` times. Starting from ones, each round multiplies by 32 and scales back.
__global__ void exchange(int rounds, float* out) {
  __shared__ float handed[kThreads];
  float value = 1.0f;
  for (int i = 0; i < rounds; ++i) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kFullWarp, value, step);
    handed[threadIdx.x] = value * 0.03125f;
    __syncthreads();
    value = handed[(threadIdx.x + 32) % kThreads];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void nothing() {}

} // namespace canary
namespace {

// Amounts of work. Host: about 1 ms on two cores of a 2023 server. GPU: enough blocks for every
// multiprocessor, and copies far larger than the L2.
struct Amount {
  std::size_t copy_floats; // per direction
  int blocks;
  int multiply_add_rounds;
  int exchange_rounds;
  int empty_launches;
};

Amount amount() {
  if constexpr (backend == Backend::host) return {1 << 21, 16, 128, 2, 1024};
  const DeviceProperties& device = device_properties();
  constexpr std::size_t kLeastCopyBytes = std::size_t{64} << 20;
  return {std::max(kLeastCopyBytes, 4 * device.l2_bytes) / sizeof(float), 8 * device.sm_count, 4096,
          256, 64};
}

std::size_t input_size(Bound kind) { return kind == Bound::memory ? amount().copy_floats : 0; }

std::size_t output_size(Bound kind) {
  switch (kind) {
  case Bound::memory: return amount().copy_floats;
  case Bound::compute:
  case Bound::sync: return static_cast<std::size_t>(amount().blocks) * canary::kThreads;
  case Bound::launch: return 0;
  }
  return 0;
}

// The expected value of every output element. The copied value is arbitrary.
constexpr float kCopied = 0.75f;
float expected(Bound kind) {
  switch (kind) {
  case Bound::memory: return kCopied;
  case Bound::compute: return 8.0f; // four chains at their fixed point 2
  case Bound::sync: return 1.0f;
  case Bound::launch: break;
  }
  return 0.0f;
}

} // namespace

Canary::Canary(Bound kind, Stream& stream)
    : kind_(kind), input_(input_size(kind)), output_(output_size(kind)) {
  if (kind == Bound::memory) input_.copy_from(std::vector<float>(input_.size(), kCopied), stream);
}

void Canary::run(Stream& stream) {
  const Amount work = amount();
  const auto blocks = static_cast<unsigned>(work.blocks);
  LaunchConfig config{.grid = dim3(blocks), .block = dim3(canary::kThreads), .stream = &stream};
  switch (kind_) {
  case Bound::memory: {
    const auto quads = static_cast<std::int64_t>(work.copy_floats / 4);
    constexpr std::int64_t kPerBlock = canary::kThreads * canary::kTile;
    config.grid = dim3(static_cast<unsigned>((quads + kPerBlock - 1) / kPerBlock));
    launch(canary::copy, config, quads, reinterpret_cast<const float4*>(input_.data()),
           reinterpret_cast<float4*>(output_.data()));
    break;
  }
  case Bound::compute:
    launch(canary::multiply_add, config, work.multiply_add_rounds, output_.data());
    break;
  case Bound::sync: launch(canary::exchange, config, work.exchange_rounds, output_.data()); break;
  case Bound::launch:
    config.grid = dim3(1);
    config.block = dim3(32);
    for (int i = 0; i < work.empty_launches; ++i) launch(canary::nothing, config);
    break;
  }
}

void Canary::check(Stream& stream) const {
  const std::vector<float> result = output_.to_host(stream);
  for (std::size_t i = 0; i < result.size(); ++i)
    // Within two units in the last place, since a compiler may fuse the multiplication and the
    // addition.
    if (!(std::abs(result[i] - expected(kind_)) <= 2e-6f * expected(kind_)))
      fail("the " + std::string(name(kind_)) + " canary left " + std::to_string(result[i]) +
           " at element " + std::to_string(i) + " instead of " + std::to_string(expected(kind_)) +
           "; the kernel did not run, or the device computes wrongly");
}

int Canary::launches() const { return kind_ == Bound::launch ? amount().empty_launches : 1; }

} // namespace kg::perf
