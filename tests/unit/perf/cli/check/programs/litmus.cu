// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Litmus tests of the memory model that the checkers implement (docs/explanation/memory_model.md),
// one per word. Thread A runs in block 0, thread B in block 1, or in another warp of block 0.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>

enum class Fence { none, block, device };
enum class Flag { is_volatile, is_atomic };

__device__ void fence(Fence scope) {
  if (scope == Fence::block) __threadfence_block();
  if (scope == Fence::device) __threadfence();
}

__device__ void set(int* flag, Flag kind) {
  if (kind == Flag::is_volatile)
    *static_cast<volatile int*>(flag) = 1;
  else
    atomicExch(flag, 1);
}

__device__ int read(int* flag, Flag kind) {
  return kind == Flag::is_volatile ? *static_cast<volatile int*>(flag) : atomicAdd(flag, 0);
}

// Message passing: A writes data, then a flag; B waits for the flag, then reads the data.
__global__ void message(int* memory, bool same_block, Flag kind, Fence scope) {
  int *data = memory, *flag = memory + 1, *out = memory + 2;
  const bool is_a = blockIdx.x == 0 && threadIdx.x == 0;
  const bool is_b = same_block ? threadIdx.x == 32 : blockIdx.x == 1 && threadIdx.x == 0;
  if (is_a) {
    *data = 9;
    fence(scope);
    set(flag, kind);
  } else if (is_b) {
    while (read(flag, kind) == 0) {
    }
    fence(scope);
    *out = *data;
  }
}

// The last block adds what all blocks have written.
__global__ void last_block(int* memory, Fence scope) {
  int *parts = memory + 8, *count = memory, *out = memory + 2;
  __shared__ bool is_last;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  fence(scope);
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(count, 1) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  fence(scope);
  for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) *out += parts[i];
}

// Store buffering and independent reads of independent writes: all accesses are atomic.
__global__ void store_buffering(int* memory) {
  if (threadIdx.x != 0) return;
  int *mine = memory + blockIdx.x, *others = memory + (1 - blockIdx.x);
  atomicExch(mine, 1);
  memory[4 + blockIdx.x] = atomicAdd(others, 0);
}

__global__ void independent_reads(int* memory) {
  if (threadIdx.x != 0) return;
  const unsigned block = blockIdx.x;
  if (block < 2) {
    atomicExch(memory + block, 1);
  } else {
    memory[4 + 2 * block] = atomicAdd(memory + (block - 2), 0);
    memory[5 + 2 * block] = atomicAdd(memory + (3 - block), 0);
  }
}

enum class Between { nothing, block_barrier, warp_barrier, shuffle };

// Each thread reads what its neighbour in the warp wrote.
__global__ void neighbours(int* memory, Between between) {
  int* data = memory + 8;
  data[threadIdx.x] = 9;
  int passed = 0;
  if (between == Between::block_barrier) __syncthreads();
  if (between == Between::warp_barrier) __syncwarp();
  if (between == Between::shuffle) passed = __shfl_xor_sync(0xFFFFFFFF, 0, 1);
  const int value = data[threadIdx.x ^ 1] + passed;
  if (threadIdx.x == 0) memory[2] = value;
}

__global__ void grid_barrier(int* memory) {
  if (blockIdx.x == 0 && threadIdx.x == 0) memory[0] = 9;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 1 && threadIdx.x == 0) memory[2] = memory[0];
}

int main(int argc, char** argv) {
  const auto is = [&](const char* word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  int* memory = nullptr;
  cudaMalloc(&memory, 256 * sizeof(int));
  cudaMemset(memory, 0, 256 * sizeof(int));
  const auto pass = [&](bool same_block, Flag kind, Fence scope) {
    message<<<same_block ? 1 : 2, 64>>>(memory, same_block, kind, scope);
  };
  if (is("message, volatile flag"))
    pass(false, Flag::is_volatile, Fence::device);
  else if (is("message, atomic flag"))
    pass(false, Flag::is_atomic, Fence::device);
  else if (is("message within a block, block fence"))
    pass(true, Flag::is_atomic, Fence::block);
  else if (is("message, no fence"))
    pass(false, Flag::is_atomic, Fence::none);
  else if (is("message, block fence"))
    pass(false, Flag::is_atomic, Fence::block);
  else if (is("last block"))
    last_block<<<3, 64>>>(memory, Fence::device);
  else if (is("last block, no fence"))
    last_block<<<3, 64>>>(memory, Fence::none);
  else if (is("last block, block fence"))
    last_block<<<3, 64>>>(memory, Fence::block);
  else if (is("store buffering"))
    store_buffering<<<2, 32>>>(memory);
  else if (is("independent reads"))
    independent_reads<<<4, 32>>>(memory);
  else if (is("block barrier"))
    neighbours<<<1, 32>>>(memory, Between::block_barrier);
  else if (is("warp barrier"))
    neighbours<<<1, 32>>>(memory, Between::warp_barrier);
  else if (is("shuffle"))
    neighbours<<<1, 32>>>(memory, Between::shuffle);
  else if (is("no barrier"))
    neighbours<<<1, 32>>>(memory, Between::nothing);
  else if (is("grid barrier")) {
    void* arguments[] = {&memory};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_barrier), 2, 32, arguments, 0,
                                nullptr);
  } else
    return 2;
  int out = 0;
  cudaMemcpy(&out, memory + 2, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(memory);
  std::printf("%d\n", out);
}
