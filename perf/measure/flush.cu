// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/flush.h"

#include "instructions/discard.h"
#include "perf/judge/statistics.h"
#include "runtime/device.h"
#include "runtime/launch.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#if KG_BACKEND_CUDA
#include "runtime/cuda/status.h"
#endif

namespace kg::perf {
namespace flush {

constexpr int kThreads = 256;
constexpr int kBlocks = 1024;

// One line of the L2 in ints: 128 bytes.
constexpr std::int64_t kLine = 32;

__global__ void sweep(std::int64_t quads, float value, float4* to) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < quads;
       i += stride)
    to[i] = make_float4(value, value, value, value);
}

// Discards the lines that sweep wrote. Their contents are not read afterwards.
__global__ void drop(std::int64_t lines, unsigned char* from) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < lines;
       i += stride)
    ptx::discard_l2(from + i * ptx::kDiscardBytes);
}

// Each thread visits `steps` lines, `stride` lines apart. The loaded values are zeros, but the
// hardware does not know this: every address depends on the previous load.
__global__ void chase(int steps, std::int64_t stride, const int* from, int* sink) {
  std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int i = 0; i < steps; ++i) line += stride + from[line * kLine];
  if (line < 0) *sink = 1;
}

#if KG_BACKEND_CUDA
__global__ void wait(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
#endif

} // namespace flush
namespace {

// Few threads per multiprocessor, so that latency and not bandwidth limits the chase.
constexpr int kChaseBlocks = 64;
constexpr int kRepeats = 9; // odd, so that the median is an observed value

} // namespace

Flush::Flush(std::size_t l2_bytes, Stream& stream)
    : swept_(2 * l2_bytes / sizeof(float)), probed_(l2_bytes / 2 / sizeof(int)), sink_(1) {
  require(l2_bytes > 0, "Flush: l2_bytes is 0; give the size of the device's L2 cache");
  fill_bytes(probed_.data(), 0, probed_.bytes(), stream);
}

void Flush::run(Stream& stream) {
  launch(flush::sweep,
         {.grid = dim3(flush::kBlocks), .block = dim3(flush::kThreads), .stream = &stream},
         static_cast<std::int64_t>(swept_.size() / 4), 0.0f,
         reinterpret_cast<float4*>(swept_.data()));
  launch(flush::drop,
         {.grid = dim3(flush::kBlocks), .block = dim3(flush::kThreads), .stream = &stream},
         static_cast<std::int64_t>(swept_.bytes()) / ptx::kDiscardBytes,
         reinterpret_cast<unsigned char*>(swept_.data()));
}

Flush::Proof Flush::prove(Stream& stream) {
  const auto threads = static_cast<std::int64_t>(kChaseBlocks) * flush::kThreads;
  const std::int64_t lines = static_cast<std::int64_t>(probed_.size()) / flush::kLine;
  const auto steps = static_cast<int>(std::max<std::int64_t>(1, lines / threads));
  require(lines >= threads, "Flush: the L2 cache is smaller than this kernel probes; cold timings "
                            "are not available on this device");
  const auto chase = [&] {
    launch(flush::chase,
           {.grid = dim3(kChaseBlocks), .block = dim3(flush::kThreads), .stream = &stream}, steps,
           threads, static_cast<const int*>(probed_.data()), sink_.data());
  };
  Event start, stop;
  const auto timed = [&] {
    start.record(stream);
    chase();
    stop.record(stream);
    stop.synchronize();
    return elapsed_ns(start, stop);
  };
  std::vector<double> cold, hot;
  for (int i = 0; i < kRepeats; ++i) {
    run(stream);
    cold.push_back(timed());
    chase();
    hot.push_back(timed());
  }
  return {judge::median(cold), judge::median(hot)};
}

void reset_persisting_l2() {
#if KG_BACKEND_CUDA
  // A device that cannot set aside a part of its L2 has nothing to reset.
  int most = 0, device = 0;
  KG_CHECK(cudaGetDevice(&device));
  KG_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device));
  if (most > 0) KG_CHECK(cudaCtxResetPersistingL2Cache());
#endif
}

void delay([[maybe_unused]] double ns, [[maybe_unused]] Stream& stream) {
#if KG_BACKEND_CUDA
  // GPUs run at 1 to 2.5 cycles per ns; an approximate duration suffices.
  constexpr double kCyclesPerNs = 2;
  launch(flush::wait, {.grid = dim3(1), .block = dim3(1), .stream = &stream},
         static_cast<long long>(ns * kCyclesPerNs));
#endif
}

} // namespace kg::perf
