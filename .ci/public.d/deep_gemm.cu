// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
// A driver of deepseek-ai/DeepGEMM's kernels for compute capability 9.0, which its Python package
// compiles at run time. Compile with -std=c++20 -I CLONE/deep_gemm/include -I CUTLASS/include,
// -D FP8 for e4m3 instead of bf16. -D MULTICAST=2 launches clusters of two blocks that share tiles
// of B. Arguments: m n k, multiples of 128; with MULTICAST=2, m of 256.
#include <cuda.h>
#ifdef FP8
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
#else
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#endif

#include <cuda_fp8.h>

#include "product.h"
#include "tensor_map.h"

#ifndef MULTICAST
#define MULTICAST 1
#endif

namespace {

constexpr int kTile = 128, kStages = 4, kBlocks = 16, kLoaders = 128, kMultipliers = 256;
constexpr int kSwizzle = 128; // bytes
constexpr auto kNormal = deep_gemm::GemmType::Normal;
constexpr auto kMajor = cute::UMMA::Major::K;

template <class Kernel, class... Arguments>
void run(Kernel* kernel, std::size_t shared_bytes, Arguments... arguments) {
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes)));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {MULTICAST, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = kBlocks;
  config.blockDim = kLoaders + kMultipliers;
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
  CHECK(cudaDeviceSynchronize());
}

} // namespace

int main(int argc, char** argv) {
  const auto [m, n, k] = sizes(argc, argv);
  const std::vector<float> a = small_integers(m * k, 1), b = small_integers(n * k, 2);
  DeviceArray<__nv_bfloat16> c(std::vector<float>(m * n, -1));
  const CUtensorMap map_c = tensor_map(c.data, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, n, m, 64, kTile);
  constexpr std::size_t kBarrierBytes = 2 * 8 * kStages, kSums = kTile * kTile * 2;
#ifdef FP8
  using Type = __nv_fp8_e4m3;
  constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr int kDepth = 128;
  // Powers of two, so that the scaled sums stay exact: one per row of A and 128 columns, and one
  // per 128 x 128 elements of B.
  const int scales = k / 128;
  std::vector<float> scale_a(m * scales), scale_b(n / 128 * scales);
  for (int l = 0; l < scales; ++l) {
    for (int i = 0; i < m; ++i) scale_a[l * m + i] = 1.0f / (1 << (i + l) % 3);
    for (int j = 0; j < n / 128; ++j) scale_b[j * scales + l] = 1.0f / (1 << (2 * j + l) % 3);
  }
  DeviceArray<float> device_scale_a(scale_a), device_scale_b(scale_b);
  const CUtensorMap map_scale_a =
      tensor_map(device_scale_a.data, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, m, scales, kTile, 1, false);
#else
  using Type = __nv_bfloat16;
  constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  constexpr int kDepth = 64;
#endif
  DeviceArray<Type> device_a(a), device_b(b);
  const CUtensorMap map_a = tensor_map(device_a.data, kType, k, m, kDepth, kTile);
  const CUtensorMap map_b = tensor_map(device_b.data, kType, k, n, kDepth, kTile);
  constexpr std::size_t kTiles = kStages * 2 * kTile * kDepth * sizeof(Type);
#ifdef FP8
  run(deep_gemm::sm90_fp8_gemm_1d2d_impl<kMajor, 0, 0, 0, 1, kTile, kTile, kDepth, kSwizzle,
                                         kSwizzle, kSwizzle, kStages, kLoaders, kMultipliers,
                                         MULTICAST, false, kBlocks, kNormal, cutlass::bfloat16_t,
                                         deep_gemm::epilogue::transform::EpilogueIdentity>,
      kSums + kTiles + kStages * kTile * sizeof(float) + scales * sizeof(float) + 8 + kBarrierBytes,
      device_scale_b.data, static_cast<int*>(nullptr), static_cast<uint32_t>(m),
      static_cast<uint32_t>(n), static_cast<uint32_t>(k), map_a, map_b, map_c, map_scale_a);
  std::vector<float> expected(m * n);
  for (int l = 0; l < scales; ++l) {
    const auto slice = [&](const std::vector<float>& all, int rows) {
      std::vector<float> some;
      for (int i = 0; i < rows; ++i)
        some.insert(some.end(), all.begin() + i * k + l * 128, all.begin() + i * k + l * 128 + 128);
      return some;
    };
    const std::vector<float> part = product(slice(a, m), slice(b, n), m, n, 128);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        expected[i * n + j] += part[i * n + j] * scale_a[l * m + i] * scale_b[j / 128 * scales + l];
  }
#else
  run(deep_gemm::sm90_bf16_gemm_impl<kMajor, kMajor, 0, 0, 0, 1, kTile, kTile, kDepth, kSwizzle,
                                     kSwizzle, kSwizzle, kStages, kLoaders, kMultipliers, MULTICAST,
                                     false, kBlocks, kNormal, false, cutlass::bfloat16_t>,
      kSums + kTiles + kBarrierBytes, static_cast<int*>(nullptr), static_cast<uint32_t>(m),
      static_cast<uint32_t>(n), static_cast<uint32_t>(k), map_a, map_b, map_c);
  const std::vector<float> expected = product(a, b, m, n, k);
#endif
  return compare(expected, c.host(), m, n, Major::kRow);
}
