// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuda::barrier and cuda::memcpy_async: tiles come by asynchronous copies, two in flight, and each
// thread sums what another one's copies have brought. With -DRACE nobody waits for them.
#include <cstdio>
#include <cuda/barrier>
#include <utility>
#include <vector>

constexpr int kTile = 64, kTiles = 5;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void sums(const float* in, float* out) {
  __shared__ alignas(16) float stages[2][kTile];
  __shared__ alignas(Barrier) unsigned char memory[3 * sizeof(Barrier)];
  Barrier* const full = reinterpret_cast<Barrier*>(memory);
  Barrier* const read = full + 2;
  if (threadIdx.x == 0)
    for (int i = 0; i < 3; ++i) init(full + i, kTile);
  __syncthreads();
  const int i = static_cast<int>(threadIdx.x);
  const auto fetch = [&](int tile) {
    cuda::memcpy_async(&stages[tile % 2][i], in + tile * kTile + i,
                       cuda::aligned_size_t<4>(sizeof(float)), full[tile % 2]);
  };
  fetch(0);
  float sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) fetch(tile + 1);
    Barrier::arrival_token token = full[tile % 2].arrive();
#ifndef RACE
    full[tile % 2].wait(std::move(token));
#endif
    sum += static_cast<float>(tile + 1) * stages[tile % 2][kTile - 1 - i];
    read->arrive_and_wait(); // before the next copies overwrite it
  }
  out[i] = sum;
}

int main() {
  std::vector<float> values(kTile * kTiles), expected(kTile), got(kTile);
  for (int i = 0; i < kTile * kTiles; ++i) values[i] = static_cast<float>(i * i % 89);
  for (int tile = 0; tile < kTiles; ++tile)
    for (int i = 0; i < kTile; ++i)
      expected[i] += static_cast<float>(tile + 1) * values[tile * kTile + kTile - 1 - i];
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, values.size() * sizeof(float));
  cudaMalloc(&out, got.size() * sizeof(float));
  cudaMemcpy(in, values.data(), values.size() * sizeof(float), cudaMemcpyDefault);
  sums<<<1, kTile>>>(in, out);
  cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDefault);
  const cudaError_t error = cudaGetLastError();
  std::printf("%s, %s\n", got == expected ? "right" : "WRONG", cudaGetErrorName(error));
  return got == expected && error == cudaSuccess ? 0 : 1;
}
