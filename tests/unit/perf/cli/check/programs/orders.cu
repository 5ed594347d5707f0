// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Message passing between blocks by cuda::atomic_ref. RELAXED: the flag says nothing of the data.
#include <cstdio>
#if !__has_include(<cuda/atomic>)
int main() { return 77; }
#else
#include <cuda/atomic>

#ifdef RELAXED
#define RELEASE cuda::memory_order_relaxed
#else
#define RELEASE cuda::memory_order_release
#endif

__global__ void pass(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    data[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) ready.store(1, RELEASE);
  } else {
    if (threadIdx.x == 0) {
      while (ready.load(cuda::memory_order_acquire) == 0) {
      }
    }
    __syncthreads();
    out[threadIdx.x] = data[63 - threadIdx.x];
  }
}

int main() {
  int *memory = nullptr, out[64];
  cudaMalloc(&memory, 129 * sizeof(int));
  cudaMemset(memory, 0, 129 * sizeof(int));
  pass<<<2, 64>>>(memory, memory + 128, memory + 64);
  cudaMemcpy(out, memory + 64, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(memory);
  std::printf("%d\n", out[0]);
  return out[0] != 63;
}
#endif
