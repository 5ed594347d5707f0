// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that work together: a cooperative grid that synchronises between the steps of an
// iteration, and clusters that read each other's shared memory.
#include "runtime/cooperative_groups.h"
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include "runtime/device.h"

#include <utility>

namespace kg::idioms {
namespace {

namespace cg = cooperative_groups;

// --- A grid that iterates ---

// Jacobi on a ring: each step replaces a value by the sum of its neighbours.
__global__ void iterate(int* a, int* b, int n, int steps) {
  const cg::grid_group grid = cg::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (int i = static_cast<int>(grid.thread_rank()); i < n;
         i += static_cast<int>(grid.num_threads()))
      b[i] = a[(i + n - 1) % n] + a[(i + 1) % n];
    grid.sync();
    int* const t = a;
    a = b;
    b = t;
  }
}

TEST(CooperativeGrid, Iterates) {
  under_thread_orders([](Stream& stream) {
    constexpr int kN = 500, kSteps = 6;
    auto values = integers<int>(kN, -9, 9);
    const auto a = on_device(values, stream);
    DeviceBuffer<int> b(kN);
    launch(iterate, {.grid = 6, .block = 64, .stream = &stream, .cooperative = true}, a.data(),
           b.data(), kN, kSteps);
    for (int step = 0; step < kSteps; ++step) {
      auto next = values;
      for (int i = 0; i < kN; ++i)
        next[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>((i + kN - 1) % kN)] +
                                            values[static_cast<std::size_t>((i + 1) % kN)];
      values = next;
    }
    EXPECT_EQ(on_host(a, stream), values);
  });
}

// A whole reduction in one launch: partial sums, a barrier, then block 0.
__global__ void sum_in_one_launch(const int* in, int n, int* partial, int* out) {
  __shared__ int by_warp[32];
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  int sum = 0;
  for (int i = static_cast<int>(grid.thread_rank()); i < n;
       i += static_cast<int>(grid.num_threads()))
    sum += in[i];
  sum = cg::reduce(warp, sum, cg::plus<int>());
  if (warp.thread_rank() == 0) by_warp[warp.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    for (unsigned w = 1; w < warp.meta_group_size(); ++w) sum += by_warp[w];
    partial[blockIdx.x] = sum;
  }
  grid.sync();
  if (grid.thread_rank() == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}

TEST(CooperativeGrid, Reduces) {
  under_thread_orders([](Stream& stream) {
    const auto values = integers<int>(5000, -99, 99);
    int expected = 0;
    for (int v : values) expected += v;
    const auto in = on_device(values, stream);
    DeviceBuffer<int> partial(5), out(1);
    launch(sum_in_one_launch, {.grid = 5, .block = 96, .stream = &stream, .cooperative = true},
           in.data(), 5000, partial.data(), out.data());
    EXPECT_EQ(on_host(out, stream)[0], expected);
  });
}

// --- Clusters ---

class Cluster : public testing::Test {
 protected:
  void SetUp() override {
    if (backend == Backend::cuda && device_properties().compute_major < 9)
      GTEST_SKIP() << "clusters need compute capability 9.0";
  }
};

#if !KG_BACKEND_CUDA || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// A histogram spread over the shared memory of a cluster: each block keeps its part of the bins.
__device__ void count_in_cluster(const int* keys, int n, int bins_per_block, int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  int* mine = dynamic_shared<int>();
  for (int b = static_cast<int>(threadIdx.x); b < bins_per_block; b += static_cast<int>(blockDim.x))
    mine[b] = 0;
  cluster.sync(); // all bins are zero
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    const int owner = keys[i] / bins_per_block;
    int* bins = cluster.map_shared_rank(mine, static_cast<unsigned>(owner));
    atomicAdd(bins + keys[i] % bins_per_block, 1);
  }
  cluster.sync(); // nobody adds any more, and nobody has left
  const int first = static_cast<int>(cluster.block_rank()) * bins_per_block;
  for (int b = static_cast<int>(threadIdx.x); b < bins_per_block; b += static_cast<int>(blockDim.x))
    atomicAdd(&out[first + b], mine[b]);
}

// Each block passes its sum to the next one of the cluster.
__device__ void pass_around(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  int* box = dynamic_shared<int>();
  const unsigned rank = cluster.block_rank();
  const unsigned size = cluster.num_blocks();
  int value = static_cast<int>(10 + blockIdx.x);
  cluster.sync(); // all blocks have begun
  for (unsigned step = 0; step + 1 < size; ++step) {
    if (threadIdx.x == 0) cluster.map_shared_rank(box, (rank + 1) % size)[step % 2] = value;
    cluster.sync();
    value = box[step % 2] + 1;
  }
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

#else

__device__ void count_in_cluster(const int*, int, int, int*) { __trap(); }
__device__ void pass_around(int*) { __trap(); }

#endif

__global__ void cluster_histogram(const int* keys, int n, int bins_per_block, int* out) {
  count_in_cluster(keys, n, bins_per_block, out);
}
__global__ void cluster_ring(int* out) { pass_around(out); }

TEST_F(Cluster, HistogramInDistributedSharedMemory) {
  under_thread_orders([](Stream& stream) {
    constexpr int kBins = 40, kN = 3000;
    const auto keys = integers<int>(kN, 0, 4 * kBins - 1);
    std::vector<int> expected(4 * kBins);
    for (int key : keys) ++expected[static_cast<std::size_t>(key)];
    const auto in = on_device(keys, stream);
    const auto out = zeros<int>(4 * kBins, stream);
    launch(cluster_histogram,
           {.grid = 8,
            .block = 64,
            .shared_bytes = kBins * sizeof(int),
            .stream = &stream,
            .cluster = {4, 1, 1}},
           in.data(), kN, kBins, out.data());
    EXPECT_EQ(on_host(out, stream), expected);
  });
}

TEST_F(Cluster, PassesValuesAround) {
  under_thread_orders([](Stream& stream) {
    DeviceBuffer<int> out(6);
    launch(cluster_ring,
           {.grid = 6,
            .block = 32,
            .shared_bytes = 2 * sizeof(int),
            .stream = &stream,
            .cluster = {3, 1, 1}},
           out.data());
    // Two steps around three blocks: the value of the next block, plus 2.
    EXPECT_EQ(on_host(out, stream), (std::vector<int>{13, 14, 12, 16, 17, 15}));
  });
}

} // namespace
} // namespace kg::idioms
