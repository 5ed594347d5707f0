// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

__global__ void scale(float* data, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

TEST(Scale, IsExact) {
  using namespace kg::test;
  constexpr int kSize = 1000;
  const Fill fill = normal(kg::Dtype::f32, kSize, Tensor::a);
  std::vector<float> data = elements<float>(fill.values);

  float* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, kSize * sizeof(float)), cudaSuccess);
  cudaMemcpy(device, data.data(), kSize * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<(kSize + 255) / 256, 256>>>(device, 2.0f, kSize);
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  cudaMemcpy(data.data(), device, kSize * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device);

  std::vector<double> expected;
  for (const double value : fill.values) expected.push_back(2 * value);
  const Comparison result = compare(observe(data), exactly(kg::Dtype::f32, {kSize}, expected));
  EXPECT_TRUE(result.passed()) << fill.description << "\n" << result.text();
}
