// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuda::barrier and cuda::pipeline as kernels use them.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <gtest/gtest.h>

namespace {

constexpr int kThreads = 64, kRounds = 3;

// Every thread passes on its neighbour's value, in two halves of a barrier.
__global__ void rotate(int* data) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[kThreads];
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, blockDim.x);
  __syncthreads();
  values[i] = data[i];
  for (int round = 0; round < kRounds; ++round) {
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    const int neighbour = values[(i + 1) % kThreads];
    barrier.arrive_and_wait();
    values[i] = neighbour;
  }
  data[i] = values[i];
}

__global__ void half_leaves(int* data) {
  __shared__ cuda::barrier<cuda::thread_scope::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  if (threadIdx.x % 2 == 1) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  barrier.arrive_and_wait(); // of those who stayed
  data[threadIdx.x] = -1;
}

__global__ void copy_by_barrier(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier, of_group;
  __shared__ alignas(16) float tile[kThreads], row[kThreads];
  auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    init(&of_group, blockDim.x);
  }
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x],
                     cuda::aligned_size_t<sizeof(float)>(sizeof(float)), barrier);
  cuda::memcpy_async(block, row, in, sizeof row, of_group);
  barrier.arrive_and_wait();
  of_group.arrive_and_wait();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x] + 100 * row[threadIdx.x];
}

__global__ void copy_by_pipeline(const float4* in, float4* out, int stages) {
  __shared__ float4 tile[2][kThreads];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const auto fetch = [&](int stage) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[stage % 2][threadIdx.x], &in[stage * kThreads + threadIdx.x],
                       cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (int stage = 0; stage < stages; ++stage) {
    if (stage + 1 < stages) fetch(stage + 1);
    pipe.consumer_wait();
    out[stage * kThreads + threadIdx.x] = tile[stage % 2][threadIdx.x];
    pipe.consumer_release();
  }
}

// One warp fetches, the others add up what it brings, in more rounds than there are stages.
__global__ void copy_by_roles(const int* in, int* out, int rounds) {
  constexpr int kStages = 2, kWarp = 32;
  __shared__ int tile[kStages][kWarp];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cooperative_groups::this_thread_block();
  const bool fetches = threadIdx.x < kWarp;
  auto pipe = cuda::make_pipeline(
      block, &state, fetches ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (fetches) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[round % kStages][threadIdx.x], &in[round * kWarp + threadIdx.x],
                         sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      for (int i = 0; i < kWarp; ++i) sum += tile[round % kStages][i];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

// All threads fetch, and all read what their neighbours fetched.
__global__ void copy_together(const int* in, int* out, int rounds) {
  constexpr int kStages = 3;
  __shared__ int tile[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const auto fetch = [&](int round) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile[round % kStages], in + round * kThreads, sizeof tile[0], pipe);
    pipe.producer_commit();
  };
  fetch(0);
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (round + 1 < rounds) fetch(round + 1);
    pipe.consumer_wait();
    sum += tile[round % kStages][(threadIdx.x + 1) % kThreads];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void wait_prior(const int* in, int* out) {
  __shared__ int a, b;
  auto pipe = cuda::make_pipeline();
  cuda::memcpy_async(&a, in, 4, pipe);
  pipe.producer_commit();
  cuda::memcpy_async(&b, in + 1, 4, pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<1>(pipe);
  out[0] = a;
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  out[1] = b;
}

template <class T>
T* managed(int n) {
  T* data = nullptr;
  EXPECT_EQ(cudaMallocManaged(&data, n * sizeof(T)), cudaSuccess);
  return data;
}

TEST(Barrier, PhasesFollowEachOther) {
  int* data = managed<int>(kThreads);
  for (int i = 0; i < kThreads; ++i) data[i] = i;
  rotate<<<1, kThreads>>>(data);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(data[i], (i + kRounds) % kThreads);
  half_leaves<<<1, kThreads>>>(data);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads; i += 2) EXPECT_EQ(data[i], -1);
  cudaFree(data);
}

TEST(Barrier, WaitsForCopies) {
  float *in = managed<float>(kThreads), *out = managed<float>(kThreads);
  for (int i = 0; i < kThreads; ++i) in[i] = i;
  copy_by_barrier<<<1, kThreads>>>(in, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(out[i], kThreads - 1 - i + 100 * i);
  cudaFree(in);
  cudaFree(out);
}

TEST(Pipeline, StagesOfCopies) {
  constexpr int kStages = 5;
  float4 *in = managed<float4>(kStages * kThreads), *out = managed<float4>(kStages * kThreads);
  for (int i = 0; i < kStages * kThreads; ++i) in[i] = make_float4(i, 1, 2, -i);
  copy_by_pipeline<<<1, kThreads>>>(in, out, kStages);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kStages * kThreads; ++i) EXPECT_EQ(out[i].w, -i);
  int *numbers = managed<int>(2), *copies = managed<int>(2);
  numbers[0] = 3;
  numbers[1] = 4;
  wait_prior<<<1, 1>>>(numbers, copies);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(copies[0], 3);
  EXPECT_EQ(copies[1], 4);
  for (void* data : {(void*)in, (void*)out, (void*)numbers, (void*)copies}) cudaFree(data);
}

TEST(Pipeline, OfABlock) {
  constexpr int kRoundsOfPipeline = 5;
  int *in = managed<int>(kRoundsOfPipeline * kThreads), *out = managed<int>(kThreads);
  for (int i = 0; i < kRoundsOfPipeline * kThreads; ++i) in[i] = i;
  copy_by_roles<<<1, kThreads>>>(in, out, kRoundsOfPipeline);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 32; i < kThreads; ++i) EXPECT_EQ(out[i], 160 * 159 / 2);
  copy_together<<<1, kThreads>>>(in, out, kRoundsOfPipeline);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kThreads; ++i)
    EXPECT_EQ(out[i], 10 * kThreads + kRoundsOfPipeline * ((i + 1) % kThreads));
  cudaFree(in);
  cudaFree(out);
}

} // namespace
