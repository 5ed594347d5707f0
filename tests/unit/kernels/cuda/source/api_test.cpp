// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The runtime API as a program calls it; launches are in faults_test.cpp and samples_test.cpp.
#include <cuda_runtime.h>

#include <gmock/gmock.h>
#include <numeric>
#include <vector>

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

__constant__ int symbol[4];

// Its errors, and nothing of what it says.
class Api : public testing::Test {
 protected:
  Api() { testing::internal::CaptureStderr(); }
  ~Api() override {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "an error that the test did not fetch";
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    testing::internal::GetCapturedStderr();
  }
  // `error`, fetched also as the last one.
  static cudaError_t failed(cudaError_t error) {
    EXPECT_EQ(cudaGetLastError(), error);
    return error;
  }
};

TEST_F(Api, MemoryIsCopiedThereAndBack) {
  std::vector<int> values(100), back(100);
  std::iota(values.begin(), values.end(), 0);
  int *a, *b;
  ASSERT_EQ(cudaMalloc(&a, 400), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&b), 400), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(a, values.data(), 400, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(back.data(), b + 50, 200, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(back[0], 50);
  EXPECT_EQ(back[49], 99);
  EXPECT_EQ(cudaMemset(b, 1, 400), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(back.data(), b, 400, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(back, Each(0x01010101));
  EXPECT_EQ(cudaFree(a), cudaSuccess);
  EXPECT_EQ(cudaFree(b), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST_F(Api, CopiesThatDoNotFitAreRefused) {
  std::vector<int> host(200);
  int* device;
  ASSERT_EQ(cudaMalloc(&device, 400), cudaSuccess);
  const auto copy = [](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return failed(cudaMemcpy(to, from, bytes, kind));
  };
  EXPECT_EQ(copy(device, host.data(), 401, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_THAT(kg::foreign::report(), HasSubstr("400 bytes left of 400, and 401 are asked for"));
  EXPECT_EQ(copy(device + 1, host.data(), 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(host.data(), device + 99, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(device, host.data(), 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(host.data(), host.data() + 100, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(device, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(device, host.data(), 4, static_cast<cudaMemcpyKind>(9)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(failed(cudaMemset(device, 0, 401)), cudaErrorInvalidValue);
  EXPECT_EQ(failed(cudaMemset(host.data(), 0, 4)), cudaErrorInvalidValue);
}

TEST_F(Api, MemoryIsFreedOnceAndByItsOwnFunction) {
  int *device, *host;
  ASSERT_EQ(cudaMalloc(&device, 4), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&host, 4), cudaSuccess);
  EXPECT_EQ(failed(cudaFreeHost(device)), cudaErrorInvalidValue);
  EXPECT_EQ(failed(cudaFree(host)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(failed(cudaFree(device)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(failed(cudaFree(&device)), cudaErrorInvalidValue);
}

TEST_F(Api, AllocationsThatCannotBe) {
  int* pointer = reinterpret_cast<int*>(4);
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(failed(cudaMalloc(&pointer, static_cast<size_t>(-8))), cudaErrorMemoryAllocation);
  EXPECT_EQ(failed(cudaMalloc(static_cast<int**>(nullptr), 8)), cudaErrorInvalidValue);
}

TEST_F(Api, RowsWithPitches) {
  char* device;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, 3, 2), cudaSuccess);
  EXPECT_EQ(pitch, 512u);
  const char rows[2][4] = {{'a', 'b', 'c', '-'}, {'d', 'e', 'f', '-'}};
  EXPECT_EQ(cudaMemset2D(device, pitch, 'x', 3, 2), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(device, pitch, rows, 4, 2, 2, cudaMemcpyHostToDevice), cudaSuccess);
  char back[6];
  EXPECT_EQ(cudaMemcpy2D(back, 3, device, pitch, 3, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(back, ElementsAre('a', 'b', 'x', 'd', 'e', 'x'));
  EXPECT_EQ(failed(cudaMemcpy2D(back, 2, device, pitch, 3, 2, cudaMemcpyDeviceToHost)),
            cudaErrorInvalidPitchValue);
}

TEST_F(Api, Symbols) {
  const int values[4] = {1, 2, 3, 4};
  EXPECT_EQ(cudaMemcpyToSymbol(symbol, values, sizeof values), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(symbol, values, 4, 8), cudaSuccess);
  int back[2] = {};
  EXPECT_EQ(cudaMemcpyFromSymbol(back, symbol, 8, 8), cudaSuccess);
  EXPECT_THAT(back, ElementsAre(1, 4));
  EXPECT_EQ(failed(cudaMemcpyToSymbol(symbol, values, 16, 4)), cudaErrorInvalidValue);
  EXPECT_EQ(failed(cudaMemcpyFromSymbol(back, symbol, 8, 0, cudaMemcpyHostToDevice)),
            cudaErrorInvalidMemcpyDirection);
  int* address = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolAddress(&address, symbol), cudaSuccess);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, symbol), cudaSuccess);
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(cudaMemcpy(back, address + 1, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(back, ElementsAre(2, 1));
}

TEST_F(Api, PinnedAndManagedMemoryBeginAsZeros) {
  int *pinned, *managed, *device;
  ASSERT_EQ(cudaHostAlloc(&pinned, 8, cudaHostAllocMapped), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 8), cudaSuccess);
  EXPECT_EQ(pinned[1], 0);
  EXPECT_EQ(managed[1], 0);
  EXPECT_EQ(cudaHostGetDevicePointer(&device, pinned, 0), cudaSuccess);
  EXPECT_EQ(device, pinned);
  cudaPointerAttributes attributes;
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, managed + 1), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, &pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST_F(Api, StreamsAndEvents) {
  cudaStream_t stream;
  cudaEvent_t start, stop, untimed;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&stop), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(failed(cudaEventElapsedTime(&milliseconds, start, stop)),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, start), cudaSuccess);
  int called = 0;
  EXPECT_EQ(cudaLaunchHostFunc(
                stream, [](void* data) { ++*static_cast<int*>(data); }, &called),
            cudaSuccess);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(cudaEventRecord(stop, stream), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(untimed), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, stop), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(failed(cudaEventElapsedTime(&milliseconds, start, untimed)),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(failed(cudaStreamSynchronize(stream)), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(failed(cudaEventRecord(start)), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
}

TEST_F(Api, TheVirtualDevice) {
  int value = -1;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(failed(cudaSetDevice(1)), cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "Kernelgrade host");
  EXPECT_EQ(properties.major * 10 + properties.minor, 80);
  EXPECT_EQ(properties.maxThreadsDim[2], 64);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(value, properties.multiProcessorCount);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
            cudaSuccess);
  EXPECT_EQ(value, 163 * 1024);
  EXPECT_EQ(failed(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0)),
            cudaErrorInvalidValue);
}

__global__ void nothing() {}

TEST_F(Api, OccupancyByThreadsSharedMemoryAndBlocks) {
  const auto blocks = [](int threads, size_t shared) {
    int result = -1;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&result, nothing, threads, shared),
              cudaSuccess);
    return result;
  };
  EXPECT_EQ(blocks(1024, 0), 2);         // of 2048 threads
  EXPECT_EQ(blocks(33, 0), 4);           // of a cooperative grid's 64
  EXPECT_EQ(blocks(682, 0), 2);          // whole warps: 704 threads
  EXPECT_EQ(blocks(128, 54 * 1024), 2);  // 164 KiB / (54 + 1)
  EXPECT_EQ(blocks(128, 164 * 1024), 0); // more than a block may have
  int grid = 0, block = 0;
  EXPECT_EQ(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing), cudaSuccess);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 32);
}

TEST_F(Api, ErrorsHaveCudasNamesAndWords) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress),
               "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

} // namespace
