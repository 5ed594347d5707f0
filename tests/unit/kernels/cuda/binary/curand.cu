// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers from cuRAND's host API, and their mean by a kernel. With -DBEYOND more numbers are asked
// for than there is memory.
#include <cmath>
#include <cstdio>
#include <curand.h>

constexpr int kN = 65536;

__global__ void add(const float* numbers, float* sum) {
  float own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < kN; i += 256) own += numbers[i];
  atomicAdd(sum, own);
}

int main() {
  curandGenerator_t generator;
  float *numbers = nullptr, *sum = nullptr, total = 0;
  bool right =
      curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS;
  right &= curandSetPseudoRandomGeneratorSeed(generator, 1234) == CURAND_STATUS_SUCCESS;
  right &= cudaMalloc(&numbers, kN * sizeof(float)) == cudaSuccess;
  right &= cudaMallocManaged(&sum, sizeof(float)) == cudaSuccess;
#ifdef BEYOND
  right &= curandGenerateUniform(generator, numbers, kN + 1) == CURAND_STATUS_SUCCESS;
#else
  right &= curandGenerateUniform(generator, numbers, kN) == CURAND_STATUS_SUCCESS;
#endif
  add<<<1, 256>>>(numbers, sum);
  right &= cudaDeviceSynchronize() == cudaSuccess;
  total = *sum;
  // The mean of n uniform numbers has a deviation of sqrt(1 / (12 n)).
  right &= std::fabs(total / kN - 0.5) < 6 * std::sqrt(1.0 / 12 / kN);
  right &= curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS;
  right &= cudaFree(numbers) == cudaSuccess && cudaFree(sum) == cudaSuccess;
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
