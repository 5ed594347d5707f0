// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Histograms: atomics on shared memory, a private histogram for each warp, and warps that gather
// their equal keys before they add.
#include "runtime/cooperative_groups.h"
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <algorithm>
#include <cstdint>

namespace kg::idioms {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBins = 64;

__global__ void in_shared_memory(const unsigned char* keys, unsigned n, unsigned* bins) {
  __shared__ unsigned local[kBins];
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[keys[i] % kBins], 1u);
  __syncthreads();
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

// Four keys per load, one histogram per warp, merged at the end.
__global__ void private_to_warps(const unsigned char* keys, unsigned n, unsigned* bins) {
  unsigned* local = dynamic_shared<unsigned>();
  const unsigned warps = blockDim.x / 32;
  for (unsigned b = threadIdx.x; b < warps * kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  unsigned* mine = local + threadIdx.x / 32 * kBins;
  const auto* words = reinterpret_cast<const std::uint32_t*>(keys);
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    const std::uint32_t four = words[i];
    atomicAdd(mine + (four >> 0 & 0xff) % kBins, 1u);
    atomicAdd(mine + (four >> 8 & 0xff) % kBins, 1u);
    atomicAdd(mine + (four >> 16 & 0xff) % kBins, 1u);
    atomicAdd(mine + (four >> 24 & 0xff) % kBins, 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) {
    unsigned sum = 0;
    for (unsigned w = 0; w < warps; ++w) sum += local[w * kBins + b];
    if (sum != 0) atomicAdd(&bins[b], sum);
  }
}

// The lanes with one key elect a leader, which adds for all of them.
__global__ void matched_in_warps(const unsigned char* keys, unsigned n, unsigned* bins) {
  const unsigned stride = gridDim.x * blockDim.x;
  const unsigned lane = threadIdx.x % 32;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (n + 31) / 32 * 32; i += stride) {
    const unsigned here = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) continue;
    const unsigned key = keys[i] % kBins;
    const unsigned peers = __match_any_sync(here, key);
    const unsigned leader = static_cast<unsigned>(__ffs(static_cast<int>(peers))) - 1;
    if (lane == leader) atomicAdd(&bins[key], static_cast<unsigned>(__popc(peers)));
  }
}

// The same by coalesced groups.
__global__ void matched_in_groups(const unsigned char* keys, unsigned n, unsigned* bins) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i] % kBins;
  const cg::coalesced_group active = cg::coalesced_threads();
  const cg::coalesced_group peers = cg::labeled_partition(active, key);
  if (peers.thread_rank() == 0) atomicAdd(&bins[key], static_cast<unsigned>(peers.num_threads()));
}

using Kernel = void (*)(const unsigned char*, unsigned, unsigned*);

TEST(Histogram, CountsEveryKey) {
  under_thread_orders([](Stream& stream) {
    constexpr unsigned kN = 5020; // a multiple of 4, not of 32
    for (int range : {3, 255}) {  // much and little contention
      const auto keys = integers<unsigned char>(kN, 0, range);
      std::vector<unsigned> expected(kBins);
      for (unsigned char key : keys) ++expected[key % kBins];
      const auto in = on_device(keys, stream);
      const auto run = [&](Kernel kernel, unsigned blocks) {
        const auto bins = zeros<unsigned>(kBins, stream);
        launch(kernel,
               {.grid = blocks, .block = 128, .shared_bytes = 4 * kBins * 4, .stream = &stream},
               in.data(), kN, bins.data());
        return on_host(bins, stream);
      };
      EXPECT_EQ(run(in_shared_memory, 3), expected);
      EXPECT_EQ(run(private_to_warps, 3), expected);
      EXPECT_EQ(run(matched_in_warps, 3), expected);
      EXPECT_EQ(run(matched_in_groups, blocks_for(kN, 128)), expected);
    }
  });
}

// One counter for all: the warp reserves a range at once, each lane takes its place in it.
__global__ void append_odd(const int* in, unsigned n, int* out, unsigned* size) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 2 != 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    unsigned first = 0;
    if (active.thread_rank() == 0)
      first = atomicAdd(size, static_cast<unsigned>(active.num_threads()));
    out[active.shfl(first, 0) + active.thread_rank()] = in[i];
  }
}

TEST(WarpAggregation, AppendsEachElementOnce) {
  under_thread_orders([](Stream& stream) {
    const auto values = integers<int>(1000, 0, 1 << 20);
    std::vector<int> expected;
    for (int v : values) {
      if (v % 2 != 0) expected.push_back(v);
    }
    const auto in = on_device(values, stream);
    DeviceBuffer<int> out(expected.size());
    const auto size = zeros<unsigned>(1, stream);
    launch(append_odd, {.grid = 8, .block = 128, .stream = &stream}, in.data(), 1000u, out.data(),
           size.data());
    EXPECT_EQ(on_host(size, stream)[0], expected.size());
    std::vector<int> got = on_host(out, stream);
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(got, expected);
  });
}

} // namespace
} // namespace kg::idioms
