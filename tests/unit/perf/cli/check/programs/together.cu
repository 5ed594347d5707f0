// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Right: blocks of a cooperative launch that meet again and again. The host's own shared pointers
// are here because the checkers use some, too: whichever copy of a function of the standard library
// is linked, what the checkers do with it is not the kernel's.
#include <cooperative_groups.h>
#include <cstdio>
#include <memory>

namespace cg = cooperative_groups;

constexpr int kThreads = 64, kBlocks = 4, kSize = kThreads * kBlocks;

__global__ void prefix_sums(const int* in, int* sums, int* out) {
  __shared__ int part[kThreads];
  const cg::grid_group grid = cg::this_grid();
  const auto block = cg::this_thread_block();
  const unsigned t = block.thread_rank(), i = kThreads * block.group_index().x + t;
  int sum = in[i];
  part[t] = sum;
  for (unsigned step = 1; step < block.size(); step *= 2) {
    block.sync();
    if (step <= t) sum += part[t - step];
    block.sync();
    part[t] = sum;
  }
  sums[i] = sum;
  grid.sync();
  for (unsigned before = 0; before < block.group_index().x; ++before)
    sum += sums[kThreads * (before + 1) - 1];
  out[i] = sum;
}

int main() {
  const auto host = std::make_shared<int[]>(kSize);
  for (int i = 0; i < kSize; ++i) host[i] = i;
  int *in = nullptr, *sums = nullptr, *out = nullptr;
  for (int** each : {&in, &sums, &out}) cudaMalloc(each, kSize * sizeof(int));
  for (int launch = 0; launch < 8; ++launch) {
    cudaMemcpy(in, host.get(), kSize * sizeof(int), cudaMemcpyHostToDevice);
    void* arguments[] = {&in, &sums, &out};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(prefix_sums), kBlocks, kThreads, arguments);
    cudaMemcpy(host.get(), out, kSize * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < kSize; ++i)
      if (host[i] != i * (i + 1) / 2) return 1;
    for (int i = 0; i < kSize; ++i) host[i] = i;
  }
  for (int* each : {in, sums, out}) cudaFree(each);
  std::puts("right");
}
