// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over a whole grid: shuffles and then one atomic per block, cooperative groups, the
// block that finishes last, and any operation on any type.
#include "runtime/cooperative_groups.h"
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kg::idioms {
namespace {

namespace cg = cooperative_groups;

// --- Shuffles, shared memory between warps, one atomic per block ---

template <class T>
__device__ T warp_sum(T value) {
  for (int offset = warpSize / 2; offset > 0; offset >>= 1)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

template <class T>
__device__ T block_sum(T value) {
  __shared__ T by_warp[32];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0) by_warp[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? by_warp[lane] : T{};
  return warp == 0 ? warp_sum(value) : value;
}

template <class T>
__global__ void __launch_bounds__(512) atomic_sum(const T* __restrict__ in, T* out, unsigned n) {
  T sum{};
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

template <class T>
class GridReduction : public testing::Test {};
using Summed = testing::Types<int, unsigned, unsigned long long, float, double>;
TYPED_TEST_SUITE(GridReduction, Summed);

TYPED_TEST(GridReduction, ByShufflesAndAtomics) {
  using T = TypeParam;
  under_thread_orders([](Stream& stream) {
    const auto values = integers<T>(10'007, 0, 1000);
    const T expected = std::accumulate(values.begin(), values.end(), T{});
    const auto in = on_device(values, stream);
    for (unsigned block : {32u, 96u, 512u}) {
      const auto out = zeros<T>(1, stream);
      launch(atomic_sum<T>, {.grid = 5, .block = block, .stream = &stream}, in.data(), out.data(),
             10'007u);
      EXPECT_EQ(on_host(out, stream)[0], expected) << block << " threads";
    }
  });
}

// --- Cooperative groups ---

__global__ void group_sum(const int* in, int* out, unsigned n) {
  __shared__ int by_warp[32];
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int sum = 0;
  for (unsigned i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().num_threads())
    sum += in[i];
  sum = cg::reduce(warp, sum, cg::plus<int>());
  if (warp.thread_rank() == 0) by_warp[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    sum = warp.thread_rank() < warp.meta_group_size() ? by_warp[warp.thread_rank()] : 0;
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(out, sum);
  }
}

// The least value of each group of eight, and the place of the first that has it.
__global__ void least_of_eight(const int* in, int* least, int* place) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = in[i];
  const int smallest = cg::reduce(tile, value, cg::less<int>());
  const unsigned holders = tile.ballot(value == smallest);
  if (tile.thread_rank() == 0) {
    least[i / 8] = smallest;
    place[i / 8] = __ffs(static_cast<int>(holders)) - 1;
  }
}

// One function for groups of any kind and size, in shared memory.
__device__ int sum_of_group(cg::thread_group group, int* memory, int value) {
  const unsigned rank = group.thread_rank();
  for (unsigned step = group.size() / 2; step > 0; step /= 2) {
    memory[rank] = value;
    group.sync();
    if (rank < step) value += memory[rank + step];
    group.sync();
  }
  return value; // of rank 0
}

__global__ void sums_of_groups(const int* in, int* of_block, int* of_fours) {
  __shared__ int memory[256];
  const cg::thread_block block = cg::this_thread_block();
  const int value = in[block.thread_rank()];
  const int total = sum_of_group(block, memory, value);
  const cg::thread_group four = cg::tiled_partition(block, 4);
  block.sync();
  const int sum = sum_of_group(four, memory + threadIdx.x / 4 * 4, value);
  if (block.thread_rank() == 0) *of_block = total;
  if (four.thread_rank() == 0) of_fours[threadIdx.x / 4] = sum;
}

TEST(GroupReduction, OfAnyGroup) {
  under_thread_orders([](Stream& stream) {
    const auto values = integers<int>(256, -1000, 1000);
    const auto in = on_device(values, stream);
    DeviceBuffer<int> of_block(1), of_fours(64);
    launch(sums_of_groups, {.grid = 1, .block = 256, .stream = &stream}, in.data(), of_block.data(),
           of_fours.data());
    EXPECT_EQ(on_host(of_block, stream)[0], std::accumulate(values.begin(), values.end(), 0));
    const auto fours = on_host(of_fours, stream);
    for (std::size_t i = 0; i < 64; ++i)
      EXPECT_EQ(fours[i],
                values[4 * i] + values[4 * i + 1] + values[4 * i + 2] + values[4 * i + 3]);
  });
}

TEST(GroupReduction, SumsTheGrid) {
  under_thread_orders([](Stream& stream) {
    const auto values = integers<int>(5000, -1000, 1000);
    const auto in = on_device(values, stream);
    const auto out = zeros<int>(1, stream);
    launch(group_sum, {.grid = 3, .block = 192, .stream = &stream}, in.data(), out.data(), 5000u);
    EXPECT_EQ(on_host(out, stream)[0], std::accumulate(values.begin(), values.end(), 0));
  });
}

TEST(GroupReduction, FindsTheLeastAndItsPlace) {
  under_thread_orders([](Stream& stream) {
    const auto values = integers<int>(512, -5, 5);
    const auto in = on_device(values, stream);
    DeviceBuffer<int> least(64), place(64);
    launch(least_of_eight, {.grid = 4, .block = 128, .stream = &stream}, in.data(), least.data(),
           place.data());
    const auto got = on_host(least, stream);
    const auto at = on_host(place, stream);
    for (std::size_t g = 0; g < 64; ++g) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(8 * g);
      const auto expected = std::min_element(first, first + 8);
      EXPECT_EQ(got[g], *expected);
      EXPECT_EQ(at[g], expected - first);
    }
  });
}

// --- The block that finishes last adds the blocks' sums ---

__device__ unsigned finished_blocks = 0;

__global__ void last_block_sums(const float* in, unsigned n, volatile float* partial, float* out) {
  __shared__ bool is_last;
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence(); // the sum before the ticket
    const unsigned ticket = atomicInc(&finished_blocks, gridDim.x);
    is_last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    *out = sum;
    finished_blocks = 0; // for the next launch
  }
}

TEST(LastBlock, AddsWhatTheOthersLeft) {
  under_thread_orders([](Stream& stream) {
    const auto values = integers<float>(20'000, -100, 100);
    const auto in = on_device(values, stream);
    for (unsigned blocks : {1u, 7u, 70u}) {
      DeviceBuffer<float> partial(blocks), out(1);
      launch(last_block_sums, {.grid = blocks, .block = 64, .stream = &stream}, in.data(), 20'000u,
             partial.data(), out.data());
      EXPECT_EQ(on_host(out, stream)[0], std::accumulate(values.begin(), values.end(), 0.0f))
          << blocks << " blocks";
    }
  });
}

// --- Any operation: a functor with a neutral element ---

struct Largest {
  using Value = float;
  static constexpr float kNeutral = -std::numeric_limits<float>::infinity();
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Product {
  using Value = int;
  static constexpr int kNeutral = 1;
  __device__ int operator()(int a, int b) const { return a * b; }
};
struct Bits {
  using Value = unsigned;
  static constexpr unsigned kNeutral = 0;
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};

template <class Operation>
__global__ void reduce_by(const typename Operation::Value* in, unsigned n, Operation operation,
                          typename Operation::Value* out) {
  using Value = typename Operation::Value;
  auto* values = dynamic_shared<Value>();
  Value result = Operation::kNeutral;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) result = operation(result, in[i]);
  values[threadIdx.x] = result;
  for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
    __syncthreads();
    if (threadIdx.x < step)
      values[threadIdx.x] = operation(values[threadIdx.x], values[threadIdx.x + step]);
  }
  if (threadIdx.x == 0) *out = values[0];
}

template <class Operation>
typename Operation::Value reduced(const std::vector<typename Operation::Value>& values,
                                  Stream& stream) {
  const auto in = on_device(values, stream);
  DeviceBuffer<typename Operation::Value> out(1);
  launch(reduce_by<Operation>,
         {.grid = 1, .block = 128, .shared_bytes = 128 * 4, .stream = &stream}, in.data(),
         static_cast<unsigned>(values.size()), Operation{}, out.data());
  return on_host(out, stream)[0];
}

TEST(AnyReduction, TakesAFunctor) {
  under_thread_orders([](Stream& stream) {
    auto values = integers<float>(777, -1000, -1);
    EXPECT_EQ(reduced<Largest>(values, stream), *std::max_element(values.begin(), values.end()));
    std::vector<int> factors(300, 1);
    factors[3] = -3;
    factors[299] = 7;
    factors[128] = 11;
    EXPECT_EQ(reduced<Product>(factors, stream), -231);
    std::vector<unsigned> bits(65);
    for (unsigned i = 0; i < 65; ++i) bits[i] = i == 64 ? 0x80000000u : 1u << i % 20;
    EXPECT_EQ(reduced<Bits>(bits, stream), 0x800fffffu);
  });
}

} // namespace
} // namespace kg::idioms
