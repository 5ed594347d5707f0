// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Thrust by its host back end, on memory that kernels and the runtime API share.
#include <gtest/gtest.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

namespace {

struct Twice {
  __host__ __device__ int operator()(int value) const { return 2 * value; }
};

__global__ void add_one(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

TEST(Thrust, VectorsAreTheDevices) {
  thrust::host_vector<int> host(100);
  for (int i = 0; i < 100; ++i) host[i] = 99 - i;
  thrust::device_vector<int> device = host;
  thrust::sort(device.begin(), device.end());
  add_one<<<4, 32>>>(thrust::raw_pointer_cast(device.data()), 100);
  int back[100];
  ASSERT_EQ(cudaMemcpy(back, thrust::raw_pointer_cast(device.data()), sizeof back,
                       cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(back[i], i + 1);
  EXPECT_EQ(thrust::reduce(device.begin(), device.end()), 5050);
}

TEST(Thrust, PointersOfCudaMalloc) {
  int* data;
  ASSERT_EQ(cudaMalloc(&data, 100 * sizeof(int)), cudaSuccess);
  thrust::device_ptr<int> first(data);
  thrust::sequence(first, first + 100);
  thrust::transform(thrust::device, data, data + 100, data, Twice());
  thrust::inclusive_scan(thrust::device, data, data + 100, data);
  EXPECT_EQ(first[99], 99 * 100);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

// Which header brings the error is Thrust's.
TEST(Thrust, ItsErrors) {
  EXPECT_THROW(throw thrust::system_error(thrust::error_code(), "a call"), thrust::system_error);
}

TEST(Thrust, ItsOwnAllocations) {
  const thrust::device_ptr<int> data = thrust::device_malloc<int>(100);
  EXPECT_EQ(cudaMemset(data.get(), 0, 100 * sizeof(int)), cudaSuccess) << "the device's memory";
  add_one<<<4, 32>>>(data.get(), 100);
  EXPECT_EQ(thrust::reduce(data, data + 100), 100);
  thrust::device_free(data);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_NE(cudaFree(data.get()), cudaSuccess) << "it has been freed";
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

} // namespace
