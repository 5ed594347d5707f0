// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
// A driver of pranjalssh/fast.cu's matrix products for .ci/public-programs, without cuBLAS and at
// any size. Compile with -I CLONE/examples/matmul -D STEP=2 ... -D STEP=12.
// Arguments: m n k, with C = A B, where A is row-major and B and C are column-major.
#include <cuda.h>
#include <cuda/barrier>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "product.h"

// What the headers expect of the program that includes them.
using bf16 = __nv_bfloat16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define cudaCheck(call) CHECK(call)

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define JOINED_OF(a, b) a##b
#define JOINED(a, b) JOINED_OF(a, b)
#define HEADER JOINED(matmul_, STEP)
#include TEXT(HEADER.cuh)

int main(int argc, char** argv) {
  const auto [m, n, k] = sizes(argc, argv);
  const std::vector<float> a = small_integers(m * k, 1), b = small_integers(n * k, 2);
  DeviceArray<bf16> device_a(a), device_b(b), device_c(std::vector<float>(m * n, -1));
#if STEP == 2
  JOINED(runKernel, STEP)(m, n, k, device_a.data, device_b.data, device_c.data);
#else
  JOINED(runKernel, STEP)(m, n, k, device_a.data, device_b.data, device_c.data, nullptr);
#endif
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return compare(product(a, b, m, n, k), device_c.host(), m, n, Major::kColumn);
}
