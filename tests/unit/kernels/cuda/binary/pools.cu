// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A pool of memory that the program creates, and copies of boxes and between devices. With -DBEYOND
// the kernel writes behind what came from the pool.
#include <cstdio>

__global__ void fill(int* data, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += 32) data[i] = i;
}

int main() {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr, before = nullptr, now = nullptr;
  bool right = cudaMemPoolCreate(&pool, &properties) == cudaSuccess;
  right &= cudaDeviceGetMemPool(&before, 0) == cudaSuccess && before != pool;
  right &= cudaDeviceSetMemPool(0, pool) == cudaSuccess;
  right &= cudaDeviceGetMemPool(&now, 0) == cudaSuccess && now == pool;

  int *first = nullptr, *second = nullptr;
  right &= cudaMallocFromPoolAsync(reinterpret_cast<void**>(&first), 64 * sizeof(int), pool,
                                   nullptr) == cudaSuccess;
  right &= cudaMalloc(&second, 64 * sizeof(int)) == cudaSuccess;
#ifdef BEYOND
  fill<<<1, 32>>>(first, 65);
#else
  fill<<<1, 32>>>(first, 64);
#endif
  right &= cudaMemcpyPeerAsync(second, 0, first, 0, 64 * sizeof(int), nullptr) == cudaSuccess;
  // Columns 2 to 5 of rows 1 and 2, of rows of 8.
  int box[2][4] = {};
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(second, 8 * sizeof(int), 8, 8);
  copy.srcPos = make_cudaPos(2 * sizeof(int), 1, 0);
  copy.dstPtr = make_cudaPitchedPtr(box, sizeof box[0], 4, 2);
  copy.extent = make_cudaExtent(4 * sizeof(int), 2, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  right &= cudaMemcpy3DAsync(&copy, nullptr) == cudaSuccess;
  right &= cudaDeviceSynchronize() == cudaSuccess;
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 4; ++column)
      right &= box[row][column] == 8 * (row + 1) + column + 2;

  right &= cudaFreeAsync(first, nullptr) == cudaSuccess && cudaFree(second) == cudaSuccess;
  right &= cudaDeviceSetMemPool(0, before) == cudaSuccess;
  right &= cudaMemPoolDestroy(pool) == cudaSuccess;
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}
