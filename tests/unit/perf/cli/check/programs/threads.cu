// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Right: eight threads of the host begin at once, each with its own stream and memory. Nothing has
// called CUDA before them.
#include <cstdio>
#include <cuda_runtime.h>
#include <latch>
#include <thread>
#include <vector>

constexpr int kThreads = 8;
constexpr int kCount = 256;

__global__ void twice(int* data) { data[threadIdx.x] *= 2; }

static int run() {
  constexpr size_t bytes = kCount * sizeof(int);
  std::vector<int> host(kCount, 1);
  int* data = nullptr;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&data, bytes);
  for (int round = 0; round < 4; ++round) {
    cudaMemcpyAsync(data, host.data(), bytes, cudaMemcpyHostToDevice, stream);
    twice<<<1, kCount, 0, stream>>>(data);
    cudaMemcpyAsync(host.data(), data, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
  }
  cudaFree(data);
  cudaStreamDestroy(stream);
  return host[kCount - 1];
}

int main() {
  std::latch all(kThreads);
  int results[kThreads];
  std::vector<std::thread> threads;
  for (int& result : results)
    threads.emplace_back([&] {
      all.arrive_and_wait();
      result = run();
    });
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (const int result : results) sum += result;
  std::printf("%d\n", sum);
}
