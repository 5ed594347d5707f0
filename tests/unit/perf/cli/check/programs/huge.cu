// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 2^32 + 4096 bytes, counted by an int, by an unsigned, or by 64 bits (REPAIRED).
#include <cstdint>
#include <cstdio>

#if defined(REPAIRED)
using Index = int64_t;
#elif defined(UNSIGNED)
using Index = unsigned;
#else
using Index = int;
#endif

__global__ void increment(unsigned char* x, int64_t size) {
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) x[i] += 1;
}

int main() {
  constexpr int64_t kSize = (int64_t{1} << 32) + 4096;
  unsigned char *x, last = 0;
  if (cudaMalloc(&x, kSize) != cudaSuccess) return 2;
  cudaMemset(x, 1, kSize);
  increment<<<kSize / 256, 256>>>(x, kSize);
  cudaMemcpy(&last, x + kSize - 1, 1, cudaMemcpyDeviceToHost);
  std::printf("last %d\n", last);
  cudaFree(x);
  return last == 2 ? 0 : 1;
}
