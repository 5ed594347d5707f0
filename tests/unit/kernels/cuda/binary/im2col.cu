// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A convolution by an im2col tensor map, for `kernelgrade emulate`: 3 x 3, stride 2, padding 1,
// each filter of equal weights, and multicast in clusters. Says "right". With an argument its
// kernel expects no bytes, and so reads before they have come.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kImages = 3, kHeight = 9, kWidth = 7, kChannels = 32; // floats
constexpr int kOutHeight = 5, kOutWidth = 4, kPixels = 16;
constexpr int kOutputs = kImages * kOutHeight * kOutWidth; // not a multiple of kPixels

__device__ unsigned shared_address(const void* address) {
  return static_cast<unsigned>(__cvta_generic_to_shared(address));
}

// The barrier of the cluster.
__device__ void meet() {
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
}

// Both blocks of a cluster read the same kPixels output pixels, and load them for each other in
// turn. Thread c adds the taps of channel c, and stores every other pixel.
__global__ void __cluster_dims__(2)
    convolve(const __grid_constant__ CUtensorMap in, float* out, unsigned bytes) {
  alignas(1024) __shared__ float column[kPixels * kChannels];
  __shared__ std::uint64_t full;
  const unsigned c = threadIdx.x, rank = blockIdx.x % 2;
  if (c == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  meet();
  float sum[kPixels] = {};
  const int first = static_cast<int>(blockIdx.x / 2) * kPixels;
  const int w = first % kOutWidth * 2 - 1, h = first / kOutWidth % kOutHeight * 2 - 1;
  const int n = first / (kOutWidth * kOutHeight);
  for (unsigned tap = 0; tap < 9; ++tap) {
    if (c == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&full)),
                   "r"(bytes)
                   : "memory");
    if (c == 0 && tap % 2 == rank)
      asm volatile(
          "cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
          ".mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;" ::"r"(shared_address(column)),
          "l"(&in), "r"(0), "r"(w), "r"(h), "r"(n), "r"(shared_address(&full)),
          "h"(static_cast<std::uint16_t>(tap % 3)), "h"(static_cast<std::uint16_t>(tap / 3)),
          "h"(std::uint16_t{3})
          : "memory");
    asm volatile("{\n .reg .pred p;\nWAIT:\n mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n "
                 "@!p bra WAIT;\n}" ::"r"(shared_address(&full)),
                 "r"(tap & 1)
                 : "memory");
    for (unsigned i = 0; i < kPixels; ++i) {
      const unsigned unit = c / 4 ^ i % 8; // the swizzle of 128 bytes
      sum[i] += column[i * kChannels + unit * 4 + c % 4];
    }
    meet();
  }
  for (unsigned i = 0; i < kPixels; ++i)
    if (i % 2 == rank && first + static_cast<int>(i) < kOutputs)
      out[(first + static_cast<int>(i)) * kChannels + static_cast<int>(c)] = sum[i];
}

int main(int count, char**) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &entry, 12000, cudaEnableDefault,
                                       &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess)
    return std::puts("no cuTensorMapEncodeIm2col"), 1;
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(entry);

  std::vector<float> values(kImages * kHeight * kWidth * kChannels), got(kOutputs * kChannels);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, values.size() * sizeof(float));
  cudaMalloc(&out, got.size() * sizeof(float));
  cudaMemcpy(in, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  const auto make = [&](CUtensorMap* map, cuuint32_t channels, cuuint32_t pixels, int corner,
                        cuuint32_t rank = 4) {
    const cuuint64_t extents[] = {kChannels, kWidth, kHeight, kImages, 1};
    const cuuint64_t strides[] = {kChannels * 4, kChannels * kWidth * 4,
                                  kChannels * kWidth * kHeight * 4,
                                  kChannels * kWidth * kHeight * kImages * 4};
    const int lower[] = {corner, -1, 0}, upper[] = {-1, -1, 0};
    const cuuint32_t steps[] = {1, 2, 2, 1, 1};
    return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, in, extents, strides, lower, upper,
                  channels, pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CUtensorMap map;
  if (make(&map, kChannels, kPixels, -129) != CUDA_ERROR_INVALID_VALUE ||
      make(&map, kChannels, 1025, -1) != CUDA_ERROR_INVALID_VALUE ||
      make(&map, 2 * kChannels, kPixels, -1) != CUDA_ERROR_INVALID_VALUE ||
      make(&map, kChannels, kPixels, -1, 2) != CUDA_ERROR_INVALID_VALUE ||
      make(&map, kChannels, kPixels, 7) != CUDA_ERROR_INVALID_VALUE) // an empty bounding box
    return std::puts("accepted what a driver refuses"), 1;
  if (make(&map, kChannels, kPixels, -1) != CUDA_SUCCESS) return std::puts("not encoded"), 1;
  convolve<<<(kOutputs + kPixels - 1) / kPixels * 2, kChannels>>>(
      map, out, count > 1 ? 0 : kPixels * kChannels * sizeof(float));
  if (cudaDeviceSynchronize() != cudaSuccess) return std::puts("the kernel failed"), 1;
  cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int n = 0; n < kImages; ++n)
    for (int p = 0; p < kOutHeight; ++p)
      for (int q = 0; q < kOutWidth; ++q)
        for (int c = 0; c < kChannels; ++c) {
          float wanted = 0; // whole numbers below 2^24: exact in any order
          for (int h = 2 * p - 1; h <= 2 * p + 1; ++h)
            for (int w = 2 * q - 1; w <= 2 * q + 1; ++w)
              if (h >= 0 && h < kHeight && w >= 0 && w < kWidth)
                wanted += values[((n * kHeight + h) * kWidth + w) * kChannels + c];
          const float sum = got[((n * kOutHeight + p) * kOutWidth + q) * kChannels + c];
          if (sum != wanted)
            return std::printf("[%d][%d][%d][%d] is %g, not %g\n", n, p, q, c, sum, wanted), 1;
        }
  cudaFree(in);
  cudaFree(out);
  std::puts("right");
  return 0;
}
