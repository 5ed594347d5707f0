// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The classical stages of a block reduction in shared memory, each faster than the one before, and
// the forms that end it within a warp. Sums of integers as floats: exact in every order, since they
// stay below 2^24.
#include "runtime/cooperative_groups.h"
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <numeric>

namespace kg::idioms {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBlock = 256;

// Interleaved addresses with a modulo: lanes of every warp diverge.
__global__ void interleaved_modulo(const float* in, float* out, unsigned n) {
  float* values = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  values[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    if (t % (2 * step) == 0) values[t] += values[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = values[0];
}

// Interleaved addresses, neighbouring threads: bank conflicts, but whole warps.
__global__ void interleaved_strided(const float* in, float* out, unsigned n) {
  float* values = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  values[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const unsigned index = 2 * step * t;
    if (index < blockDim.x) values[index] += values[index + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = values[0];
}

// Sequential addresses.
__global__ void sequential(const float* in, float* out, unsigned n) {
  float* values = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  values[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step) values[t] += values[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = values[0];
}

// The first addition happens while loading: half as many blocks.
__global__ void first_add_on_load(const float* in, float* out, unsigned n) {
  float* values = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x * 2 + t;
  float sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  values[t] = sum;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step) values[t] = sum = sum + values[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum;
}

// The last warp goes on alone, with a read, a __syncwarp and a write per step.
__device__ float last_warp(volatile float* values, unsigned t) {
  float sum = values[t];
  for (unsigned step = 32; step > 0; step >>= 1) {
    sum += values[t + step];
    __syncwarp();
    values[t] = sum;
    __syncwarp();
  }
  return sum;
}

__global__ void unrolled_last_warp(const float* in, float* out, unsigned n) {
  float* values = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x * 2 + t;
  values[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 32; step >>= 1) {
    if (t < step) values[t] += values[t + step];
    __syncthreads();
  }
  if (t < 32) {
    const float sum = last_warp(values, t);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// Everything unrolled by the block's size, and a grid-stride loop in front.
template <unsigned Block, bool PowerOfTwo>
__global__ void unrolled_completely(const float* __restrict__ in, float* __restrict__ out,
                                    unsigned n) {
  float* values = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (unsigned i = blockIdx.x * Block * 2 + t; i < n; i += Block * 2 * gridDim.x) {
    sum += in[i];
    if (PowerOfTwo || i + Block < n) sum += in[i + Block];
  }
  values[t] = sum;
  __syncthreads();
  if (Block >= 512 && t < 256) values[t] = sum = sum + values[t + 256];
  __syncthreads();
  if (Block >= 256 && t < 128) values[t] = sum = sum + values[t + 128];
  __syncthreads();
  if (Block >= 128 && t < 64) values[t] = sum = sum + values[t + 64];
  __syncthreads();
  if (t < 32) {
    if (Block >= 64) sum += values[t + 32];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  }
  if (t == 0) out[blockIdx.x] = sum;
}

// A tile ends it.
__global__ void tile_at_the_end(const float* in, float* out, unsigned n) {
  float* values = dynamic_shared<float>();
  const cg::thread_block block = cg::this_thread_block();
  const unsigned t = block.thread_rank();
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  values[t] = sum;
  cg::sync(block);
  for (unsigned step = blockDim.x / 2; step > 16; step >>= 1) {
    if (t < step) values[t] = sum = sum + values[t + step];
    cg::sync(block);
  }
  const auto tile = cg::tiled_partition<32>(block);
  if (block.thread_rank() < 32) {
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
  }
  if (t == 0) out[blockIdx.x] = sum;
}

using Kernel = void (*)(const float*, float*, unsigned);

struct Stage {
  const char* name;
  Kernel kernel;
  unsigned per_block; // elements; the grid covers the input once
};

const Stage kStages[] = {
    {"interleaved_modulo", interleaved_modulo, kBlock},
    {"interleaved_strided", interleaved_strided, kBlock},
    {"sequential", sequential, kBlock},
    {"first_add_on_load", first_add_on_load, 2 * kBlock},
    {"unrolled_last_warp", unrolled_last_warp, 2 * kBlock},
    {"unrolled_completely", unrolled_completely<kBlock, false>, 5 * kBlock},
    {"tile_at_the_end", tile_at_the_end, 3 * kBlock},
};

TEST(ReductionStages, SumExactly) {
  under_thread_orders([](Stream& stream) {
    for (unsigned n : {1u, 31u, 256u, 1000u, 8191u}) {
      const auto values = integers<float>(n, -100, 100, n);
      const float expected = std::accumulate(values.begin(), values.end(), 0.0f);
      const auto in = on_device(values, stream);
      for (const Stage& stage : kStages) {
        const unsigned blocks = blocks_for(n, stage.per_block);
        DeviceBuffer<float> out(blocks);
        launch(stage.kernel,
               {.grid = blocks,
                .block = kBlock,
                .shared_bytes = kBlock * sizeof(float),
                .stream = &stream},
               in.data(), out.data(), n);
        const auto partial = on_host(out, stream);
        EXPECT_EQ(std::accumulate(partial.begin(), partial.end(), 0.0f), expected)
            << stage.name << ", n = " << n;
      }
    }
  });
}

TEST(ReductionStages, ForBlocksOfEverySize) {
  under_thread_orders([](Stream& stream) {
    constexpr unsigned kN = 4096;
    const auto values = integers<float>(kN, -100, 100);
    const float expected = std::accumulate(values.begin(), values.end(), 0.0f);
    const auto in = on_device(values, stream);
    const auto sum = [&](Kernel kernel, unsigned block) {
      DeviceBuffer<float> out(1);
      launch(kernel, {.grid = 1, .block = block, .shared_bytes = 4 * block, .stream = &stream},
             in.data(), out.data(), kN);
      return on_host(out, stream)[0];
    };
    EXPECT_EQ(sum(unrolled_completely<512, true>, 512), expected);
    EXPECT_EQ(sum(unrolled_completely<128, true>, 128), expected);
    EXPECT_EQ(sum(unrolled_completely<64, true>, 64), expected);
  });
}

} // namespace
} // namespace kg::idioms
