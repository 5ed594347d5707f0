// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
// A driver of HazyResearch/ThunderKittens' bf16 matrix product for the H100 at any size. Compile
// with -std=c++20 -D KITTENS_HOPPER -I CLONE/include -I CLONE/prototype
// -I CLONE/kernels/gemm/bf16_h100. Arguments: m n k, multiples of 128, 256 and 64.
#define main main_of_the_benchmark
#include "bf16_h100_gemm.cu"
#undef main

#include "product.h"

int main(int argc, char** argv) {
  using Template = matmul_template<2, 4, 8>;
  const auto [m, n, k] = sizes(argc, argv);
  const std::vector<float> a = small_integers(m * k, 1), b = small_integers(n * k, 2);
  std::vector<float> rows_of_b(b.size()); // row-major k x n
  for (int j = 0; j < n; ++j)
    for (int l = 0; l < k; ++l) rows_of_b[l * n + j] = b[j * k + l];
  DeviceArray<__nv_bfloat16> device_a(a), device_b(rows_of_b), c(std::vector<float>(m * n, -1));
  CHECK(cudaFuncSetAttribute(prototype::lcf::kernel<Template>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             MAX_SHARED_MEMORY - 1024));
  inner_run<Template>(device_a.data, device_b.data, c.data, m, n, k, Template::grid(m, n, k),
                      kittens::prototype::detail::NUM_THREADS_v<Template>);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return compare(product(a, b, m, n, k), c.host(), m, n, Major::kRow);
}
