// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

TEST(Sums, OfBlocks) {
  constexpr int kCount = STRANGER_COUNT;
  float* data = nullptr;
  ASSERT_EQ(cudaMallocManaged(&data, kCount * sizeof(float)), cudaSuccess);
  for (int i = 0; i < kCount; ++i) data[i] = 1;
  sums_of_blocks(data, kCount);
#ifndef STRANGER_RACE // with it any sum may come out
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(data[i], 64);
#endif
  cudaFree(data);
}
