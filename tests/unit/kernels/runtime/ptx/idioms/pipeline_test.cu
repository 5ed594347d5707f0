// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies that overlap with computing: cp.async in a ring of stages, the pipeline primitives,
// cooperative memcpy_async, and warps that specialise as producers and consumers, joined by named
// barriers and by mbarriers. The sums are of small integers: exact. Architecture 8.0 and above.
#include "runtime/cooperative_groups.h"
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include "instructions/cp_async.h"
#include "instructions/mbarrier.h"
#include "instructions/named_barrier.h"
#include "runtime/device.h"

namespace kg::idioms {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kTile = 128; // floats that a block reads at a time
constexpr unsigned kTiles = 9;

// Every kernel here computes, for each block and each i of a tile,
//   out[block][i] = sum over its tiles of (tile + 1) * in[block][tile][kTile - 1 - i]
// so that a thread needs what others have copied.
using Kernel = void (*)(const float* in, float* out);

class Pipeline : public testing::Test {
 protected:
  void SetUp() override {
    if (device_properties().compute_major < 8)
      GTEST_SKIP() << "asynchronous copies need compute capability 8.0";
  }

  static void check(Kernel kernel, unsigned threads, std::size_t shared_bytes) {
    under_thread_orders([&](Stream& stream) {
      constexpr unsigned kBlocks = 2;
      const auto values = integers<float>(kBlocks * kTiles * kTile, -99, 99);
      std::vector<float> expected(kBlocks * kTile);
      for (unsigned b = 0; b < kBlocks; ++b) {
        for (unsigned tile = 0; tile < kTiles; ++tile) {
          for (unsigned i = 0; i < kTile; ++i) {
            expected[b * kTile + i] +=
                static_cast<float>(tile + 1) * values[(b * kTiles + tile) * kTile + kTile - 1 - i];
          }
        }
      }
      const auto in = on_device(values, stream);
      DeviceBuffer<float> out(expected.size());
      launch(kernel,
             {.grid = kBlocks, .block = threads, .shared_bytes = shared_bytes, .stream = &stream},
             in.data(), out.data());
      EXPECT_EQ(on_host(out, stream), expected);
    });
  }
};

__device__ const float* tiles_of_block(const float* in) { return in + blockIdx.x * kTiles * kTile; }

// --- cp.async, four stages ---

__global__ void ring_of_stages(const float* in, float* out) {
  constexpr unsigned kStages = 4;
  float* stages = dynamic_shared<float>();
  const float* mine = tiles_of_block(in);
  const unsigned t = threadIdx.x;
  const auto fetch = [&](unsigned tile) {
    if (tile < kTiles && t < kTile / 4)
      ptx::cp_async_cg(stages + tile % kStages * kTile + 4 * t, mine + tile * kTile + 4 * t);
    ptx::cp_async_commit(); // empty at the end, so that the count of groups stays the same
  };
  for (unsigned tile = 0; tile < kStages - 1; ++tile) fetch(tile);
  float sum = 0;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    ptx::cp_async_wait_group<kStages - 2>();
    __syncthreads(); // everyone's part of the tile is there; the stage fetched next is free
    fetch(tile + kStages - 1);
    sum += static_cast<float>(tile + 1) * stages[tile % kStages * kTile + kTile - 1 - t];
  }
  out[blockIdx.x * kTile + t] = sum;
}

TEST_F(Pipeline, RingOfStages) { check(ring_of_stages, kTile, 4 * kTile * sizeof(float)); }

// --- The pipeline primitives, two stages ---

__global__ void primitives(const float* in, float* out) {
  __shared__ float stages[2][kTile];
  const float* mine = tiles_of_block(in);
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&stages[0][t], &mine[t], sizeof(float));
  __pipeline_commit();
  float sum = 0;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) {
      __pipeline_memcpy_async(&stages[(tile + 1) % 2][t], &mine[(tile + 1) * kTile + t],
                              sizeof(float));
      __pipeline_commit();
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    sum += static_cast<float>(tile + 1) * stages[tile % 2][kTile - 1 - t];
    __syncthreads();
  }
  out[blockIdx.x * kTile + t] = sum;
}

TEST_F(Pipeline, Primitives) { check(primitives, kTile, 0); }

// --- memcpy_async of the whole block, two stages ---

__global__ void cooperative_copies(const float* in, float* out) {
  alignas(16) __shared__ float stages[2][kTile];
  const cg::thread_block block = cg::this_thread_block();
  const float* mine = tiles_of_block(in);
  cg::memcpy_async(block, stages[0], mine, sizeof(float) * kTile);
  float sum = 0;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) {
      cg::memcpy_async(block, stages[(tile + 1) % 2], mine + (tile + 1) * kTile,
                       sizeof(float) * kTile);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    sum += static_cast<float>(tile + 1) * stages[tile % 2][kTile - 1 - threadIdx.x];
    block.sync();
  }
  out[blockIdx.x * kTile + threadIdx.x] = sum;
}

TEST_F(Pipeline, CooperativeCopies) { check(cooperative_copies, kTile, 0); }

// A tile of threads copies for itself.
__global__ void copies_of_a_tile(const float* in, float* out) {
  alignas(16) __shared__ float stages[kTile / 32][kTile];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  float* stage = stages[warp.meta_group_rank()];
  const float* mine = tiles_of_block(in);
  float sum = 0;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    cg::memcpy_async(warp, stage, mine + tile * kTile, sizeof(float) * kTile);
    cg::wait(warp);
    sum += static_cast<float>(tile + 1) * stage[kTile - 1 - threadIdx.x];
    warp.sync();
  }
  out[blockIdx.x * kTile + threadIdx.x] = sum;
}

TEST_F(Pipeline, CopiesOfATile) { check(copies_of_a_tile, kTile, 0); }

// --- A producer warp and consumers, joined by named barriers ---

// Barriers 1 and 2: stage 0 or 1 is full; 3 and 4: it is empty.
__global__ void named_barriers(const float* in, float* out) {
  __shared__ float stages[2][kTile];
  constexpr int kAll = kTile + 32;
  const float* mine = tiles_of_block(in);
  if (threadIdx.x >= kTile) {
    const unsigned lane = threadIdx.x - kTile;
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      const int s = static_cast<int>(tile % 2);
      if (tile >= 2) ptx::named_barrier_sync(3 + s, kAll);
      for (unsigned i = lane; i < kTile; i += 32) stages[s][i] = mine[tile * kTile + i];
      __threadfence_block();
      ptx::named_barrier_arrive(1 + s, kAll);
    }
  } else {
    float sum = 0;
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      const int s = static_cast<int>(tile % 2);
      ptx::named_barrier_sync(1 + s, kAll);
      sum += static_cast<float>(tile + 1) * stages[s][kTile - 1 - threadIdx.x];
      if (tile + 2 < kTiles) ptx::named_barrier_arrive(3 + s, kAll);
    }
    out[blockIdx.x * kTile + threadIdx.x] = sum;
  }
}

TEST_F(Pipeline, NamedBarriers) { check(named_barriers, kTile + 32, 0); }

// --- The same, joined by mbarriers; the producer's copies arrive by themselves ---

__global__ void mbarriers(const float* in, float* out) {
  constexpr unsigned kStages = 3;
  alignas(16) __shared__ float stages[kStages][kTile];
  __shared__ std::uint64_t full[kStages], empty[kStages];
  const float* mine = tiles_of_block(in);
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 32);
      ptx::mbarrier_init(&empty[s], kTile / 32);
    }
  }
  __syncthreads();
  unsigned s = 0;
  unsigned parity = 0;
  const auto next = [&] {
    if (++s == kStages) {
      s = 0;
      parity ^= 1;
    }
  };
  if (threadIdx.x >= kTile) {
    const unsigned lane = threadIdx.x - kTile;
    for (unsigned tile = 0; tile < kTiles; ++tile, next()) {
      ptx::mbarrier_wait_parity(&empty[s], parity ^ 1);
      ptx::cp_async_cg(&stages[s][4 * lane], &mine[tile * kTile + 4 * lane]);
      ptx::cp_async_mbarrier_arrive_noinc(&full[s]);
    }
    ptx::cp_async_wait_all();
  } else {
    float sum = 0;
    for (unsigned tile = 0; tile < kTiles; ++tile, next()) {
      ptx::mbarrier_wait_parity(&full[s], parity);
      sum += static_cast<float>(tile + 1) * stages[s][kTile - 1 - threadIdx.x];
      __syncwarp();
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(&empty[s]);
    }
    out[blockIdx.x * kTile + threadIdx.x] = sum;
  }
}

TEST_F(Pipeline, Mbarriers) { check(mbarriers, kTile + 32, 0); }

// --- An mbarrier in place of __syncthreads, by its token ---

__global__ void tokens(const float* in, float* out) {
  __shared__ float tile_values[kTile];
  __shared__ std::uint64_t barrier;
  if (threadIdx.x == 0) ptx::mbarrier_init(&barrier, kTile);
  __syncthreads();
  const auto sync = [&] {
    const ptx::MbarrierToken token = ptx::mbarrier_arrive(&barrier);
    ptx::mbarrier_wait(&barrier, token);
  };
  const float* mine = tiles_of_block(in);
  float sum = 0;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    tile_values[threadIdx.x] = mine[tile * kTile + threadIdx.x];
    sync();
    sum += static_cast<float>(tile + 1) * tile_values[kTile - 1 - threadIdx.x];
    sync();
  }
  out[blockIdx.x * kTile + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) ptx::mbarrier_inval(&barrier);
}

TEST_F(Pipeline, Tokens) { check(tokens, kTile, 0); }

} // namespace
} // namespace kg::idioms
