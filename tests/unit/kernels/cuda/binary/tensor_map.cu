// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A program with a tensor map, for `kernelgrade emulate`: a matrix is loaded in swizzled boxes and
// stored shifted by a row and a column. Says "right". With an argument its kernel expects no
// bytes, and so reads before they have come.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kRows = 70, kColumns = 96, kBox = 32; // floats; a box is kBox x kBox

__device__ unsigned shared_address(const void* address) {
  return static_cast<unsigned>(__cvta_generic_to_shared(address));
}

__global__ void shift(const __grid_constant__ CUtensorMap in,
                      const __grid_constant__ CUtensorMap out, unsigned bytes) {
  alignas(1024) __shared__ float box[kBox * kBox];
  __shared__ std::uint64_t full;
  const int x = static_cast<int>(blockIdx.x) * kBox, y = static_cast<int>(blockIdx.y) * kBox;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&full)),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(box)),
                 "l"(&in), "r"(x), "r"(y), "r"(shared_address(&full))
                 : "memory");
  }
  asm volatile("{\n .reg .pred p;\nWAIT:\n mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n @!p "
               "bra WAIT;\n}" ::"r"(shared_address(&full))
               : "memory");
  for (int i = static_cast<int>(threadIdx.x); i < kBox * kBox; i += 32) box[i] += 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], "
                 "[%3];" ::"l"(&out),
                 "r"(x + 1), "r"(y + 1), "r"(shared_address(box))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

int main(int count, char**) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                       &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess)
    return std::puts("no cuTensorMapEncodeTiled"), 1;
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  void* missing = nullptr;
  cudaGetDriverEntryPointByVersion("cuFrobnicate", &missing, 12000, cudaEnableDefault, &found);
  if (found != cudaDriverEntryPointSymbolNotFound) return std::puts("cuFrobnicate is found"), 1;

  std::vector<float> values(kRows * kColumns), got(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  float *in = nullptr, *out = nullptr;
  const std::size_t bytes = values.size() * sizeof(float);
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, bytes);
  const auto make = [&](CUtensorMap* map, float* base, cuuint64_t stride,
                        CUtensorMapSwizzle swizzle, cuuint32_t rank = 2) {
    const cuuint64_t extents[] = {kColumns, kRows}, strides[] = {stride};
    const cuuint32_t box[] = {kBox, kBox}, steps[] = {1, 1};
    return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, base, extents, strides, box, steps,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  constexpr cuuint64_t kStride = kColumns * sizeof(float);
  CUtensorMap from, to;
  // Rows of 128 bytes are too long for a swizzle of 64; strides are multiples of 16.
  if (make(&from, in, kStride, CU_TENSOR_MAP_SWIZZLE_64B) != CUDA_ERROR_INVALID_VALUE ||
      make(&from, in, kStride + 4, CU_TENSOR_MAP_SWIZZLE_128B) != CUDA_ERROR_INVALID_VALUE ||
      make(&from, in + 1, kStride, CU_TENSOR_MAP_SWIZZLE_128B) != CUDA_ERROR_INVALID_VALUE ||
      make(&from, in, kStride, CU_TENSOR_MAP_SWIZZLE_128B, 6) != CUDA_ERROR_INVALID_VALUE)
    return std::puts("accepted what a driver refuses"), 1;
  if (make(&from, in, kStride, CU_TENSOR_MAP_SWIZZLE_128B) != CUDA_SUCCESS ||
      make(&to, out, kStride, CU_TENSOR_MAP_SWIZZLE_128B) != CUDA_SUCCESS)
    return std::puts("not encoded"), 1;
  const dim3 grid(kColumns / kBox, (kRows + kBox - 1) / kBox);
  shift<<<grid, 32>>>(from, to, count > 1 ? 0 : kBox * kBox * sizeof(float));
  if (cudaDeviceSynchronize() != cudaSuccess) return std::puts("the kernel failed"), 1;
  cudaMemcpy(got.data(), out, bytes, cudaMemcpyDeviceToHost);
  for (int y = 0; y < kRows; ++y)
    for (int x = 0; x < kColumns; ++x) {
      const float wanted = y == 0 || x == 0 ? 0 : values[(y - 1) * kColumns + x - 1] + 1;
      if (got[y * kColumns + x] != wanted)
        return std::printf("[%d][%d] is %g, not %g\n", y, x, got[y * kColumns + x], wanted), 1;
    }
  cudaFree(in);
  cudaFree(out);
  std::puts("right");
  return 0;
}
