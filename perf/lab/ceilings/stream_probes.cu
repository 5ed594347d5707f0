// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/ceilings/probes.h"
#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kg::perf {
namespace streams {

constexpr int kThreads = 256;
// 16-byte accesses in flight per thread: with 2048 threads 256 KiB per multiprocessor, several
// times latency times bandwidth (32 to 48 KiB on an H100 and an H200).
constexpr int kTile = 8;

__device__ __forceinline__ std::int64_t index(int k) {
  return static_cast<std::int64_t>(blockIdx.x) * (kThreads * kTile) + k * kThreads + threadIdx.x;
}

// The sum is stored under a condition that is never true, unknown to the compiler, and by one
// thread per block for verification.
__global__ void read(std::int64_t quads, const float4* from, float* sums) {
  float4 value[kTile];
  for (int k = 0; k < kTile; ++k) {
    const std::int64_t i = index(k);
    value[k] = i < quads ? from[i] : float4{};
  }
  float sum = 0;
  for (int k = 0; k < kTile; ++k) sum += (value[k].x + value[k].y) + (value[k].z + value[k].w);
  if (sum < 0 || threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Reads the tiles of an array repeatedly, each block starting at its own tile: a tile has left the
// multiprocessor's L1 long before it is read again.
__global__ void read_again(int tiles, int rounds, const float4* from, float* sums) {
  float sum = 0;
  int tile = static_cast<int>(blockIdx.x) % tiles;
  for (int round = 0; round < rounds; ++round) {
    const float4* const at = from + tile * (kThreads * kTile) + threadIdx.x;
    float4 value[kTile];
    for (int k = 0; k < kTile; ++k) value[k] = at[k * kThreads];
    for (int k = 0; k < kTile; ++k) sum += (value[k].x + value[k].y) + (value[k].z + value[k].w);
    tile = tile + 1 < tiles ? tile + 1 : 0;
  }
  if (sum < 0 || threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void write(std::int64_t quads, float value, float4* to) {
  for (int k = 0; k < kTile; ++k) {
    const std::int64_t i = index(k);
    if (i < quads) to[i] = float4{value, value, value, value};
  }
}

__global__ void copy(std::int64_t quads, const float4* from, float4* to) {
  float4 value[kTile];
  for (int k = 0; k < kTile; ++k) {
    const std::int64_t i = index(k);
    if (i < quads) value[k] = from[i];
  }
  for (int k = 0; k < kTile; ++k) {
    const std::int64_t i = index(k);
    if (i < quads) to[i] = value[k];
  }
}

__global__ void add(std::int64_t quads, const float4* a, const float4* b, float4* to) {
  float4 sum[kTile];
  for (int k = 0; k < kTile; ++k) {
    const std::int64_t i = index(k);
    if (i >= quads) continue;
    const float4 x = a[i], y = b[i];
    sum[k] = float4{x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
  }
  for (int k = 0; k < kTile; ++k) {
    const std::int64_t i = index(k);
    if (i < quads) to[i] = sum[k];
  }
}

} // namespace streams
namespace {

// Size of one array. GPU: far larger than any L2, and about 0.25 ms at 4 TB/s. Host: larger than
// the caches of a few cores.
std::size_t array_bytes() {
  if constexpr (backend == Backend::host) return std::size_t{64} << 20;
  return std::max(std::size_t{1} << 30, 16 * device_properties().l2_bytes);
}

constexpr float kA = 0.75f, kB = 0.5f; // the sum of a thread's 32 elements is exact

struct Arrays {
  Arrays(Stream& stream, int inputs, bool output) {
    const std::size_t floats = array_bytes() / sizeof(float);
    quads = static_cast<std::int64_t>(floats / 4);
    constexpr std::int64_t kPerBlock = streams::kThreads * streams::kTile;
    blocks = static_cast<unsigned>((quads + kPerBlock - 1) / kPerBlock);
    if (inputs > 0) a = filled(floats, kA, stream);
    if (inputs > 1) b = filled(floats, kB, stream);
    to = DeviceBuffer<float>(output ? floats : blocks);
  }

  static DeviceBuffer<float> filled(std::size_t floats, float value, Stream& stream) {
    DeviceBuffer<float> buffer(floats);
    buffer.copy_from(std::vector<float>(floats, value), stream);
    return buffer;
  }

  LaunchConfig config(Stream& stream) const {
    return {.grid = dim3(blocks), .block = dim3(streams::kThreads), .stream = &stream};
  }

  std::int64_t quads = 0;
  unsigned blocks = 0;
  DeviceBuffer<float> a, b, to;
};

const float4* quads_of(const DeviceBuffer<float>& buffer) {
  return reinterpret_cast<const float4*>(buffer.data());
}
float4* quads_of(DeviceBuffer<float>& buffer) { return reinterpret_cast<float4*>(buffer.data()); }

// Every element of the output must equal `expected`.
std::string verify(const DeviceBuffer<float>& to, float expected, Stream& stream) {
  const std::vector<float> result = to.to_host(stream);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!(result[i] == expected))
      return "element " + std::to_string(i) + " is " + std::to_string(result[i]) + " instead of " +
             std::to_string(expected);
  return "";
}

template <class Run>
Probe probe(std::string name, int inputs, bool output, float expected, Run run) {
  const double bytes = static_cast<double>(array_bytes()) * (inputs + (output ? 1 : 0));
  return {std::move(name), Bound::memory, bytes, [=] {
            Stream stream;
            auto arrays = std::make_shared<Arrays>(stream, inputs, output);
            return Workload{[=](Stream& s) { run(*arrays, s); },
                            [=](Stream& s) { arrays->to.poison(s); },
                            [=](Stream& s) { return verify(arrays->to, expected, s); }, "probe"};
          }};
}

// A quarter of the L2, since each half of a large L2 may keep a copy of what its multiprocessors
// read. About 0.5 ms at 6 TB/s, in a dozen successive blocks per resident-block slot, so that the
// tail costs little.
Probe l2_probe() {
  constexpr std::size_t kTileBytes = sizeof(float4) * streams::kThreads * streams::kTile;
  const DeviceProperties& device = device_properties();
  const auto tiles = static_cast<int>(std::max<std::size_t>(device.l2_bytes / 4 / kTileBytes, 1));
  const int rounds = backend == Backend::host ? 2 : 12;
  const auto blocks = static_cast<unsigned>(64 * device.sm_count);
  const double bytes = static_cast<double>(kTileBytes) * blocks * rounds;
  const float sum = static_cast<float>(4 * streams::kTile * rounds) * kA; // exact
  return {"l2_read_bytes_per_s", Bound::memory, bytes, [=] {
            Stream stream;
            const auto from = std::make_shared<DeviceBuffer<float>>(Arrays::filled(
                static_cast<std::size_t>(tiles) * kTileBytes / sizeof(float), kA, stream));
            const auto to = std::make_shared<DeviceBuffer<float>>(blocks);
            const auto run = [=](Stream& s) {
              launch(streams::read_again,
                     {.grid = dim3(blocks), .block = dim3(streams::kThreads), .stream = &s}, tiles,
                     rounds, quads_of(std::as_const(*from)), to->data());
            };
            return Workload{run, [=](Stream& s) { to->poison(s); },
                            [=](Stream& s) { return verify(*to, sum, s); }, "probe"};
          }};
}

} // namespace

std::vector<Probe> stream_probes() {
  return {probe("read_bytes_per_s", 1, false, 4 * streams::kTile * kA,
                [](Arrays& m, Stream& stream) {
                  launch(streams::read, m.config(stream), m.quads, quads_of(std::as_const(m.a)),
                         m.to.data());
                }),
          probe("write_bytes_per_s", 0, true, kA,
                [](Arrays& m, Stream& stream) {
                  launch(streams::write, m.config(stream), m.quads, kA, quads_of(m.to));
                }),
          probe("copy_bytes_per_s", 1, true, kA,
                [](Arrays& m, Stream& stream) {
                  launch(streams::copy, m.config(stream), m.quads, quads_of(std::as_const(m.a)),
                         quads_of(m.to));
                }),
          probe("add_bytes_per_s", 2, true, kA + kB,
                [](Arrays& m, Stream& stream) {
                  launch(streams::add, m.config(stream), m.quads, quads_of(std::as_const(m.a)),
                         quads_of(std::as_const(m.b)), quads_of(m.to));
                }),
          l2_probe()};
}

} // namespace kg::perf
