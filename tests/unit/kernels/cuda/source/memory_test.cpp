// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory beyond cudaMalloc: the host's own, advice, pools; and what a program asks about the
// device.
#include <cuda_runtime.h>

#include <cstdint>
#include <gmock/gmock.h>
#include <vector>

namespace {

using testing::HasSubstr;

// Its errors, and nothing of what it says.
class Memory : public testing::Test {
 protected:
  Memory() { testing::internal::CaptureStderr(); }
  ~Memory() override {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "an error that the test did not fetch";
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    testing::internal::GetCapturedStderr();
  }
  static cudaError_t failed(cudaError_t error) {
    EXPECT_EQ(cudaGetLastError(), error);
    return error;
  }
};

TEST_F(Memory, OfTheHostIsRegistered) {
  std::vector<int> host(100);
  int *device, *target;
  EXPECT_EQ(failed(cudaHostGetDevicePointer(&device, host.data(), 0)), cudaErrorInvalidValue);
  ASSERT_EQ(cudaHostRegister(host.data(), 400, cudaHostRegisterMapped), cudaSuccess);
  EXPECT_EQ(cudaHostGetDevicePointer(&device, host.data(), 0), cudaSuccess);
  EXPECT_EQ(device, host.data());
  cudaPointerAttributes attributes;
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, host.data() + 50), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  ASSERT_EQ(cudaMalloc(&target, 400), cudaSuccess);
  EXPECT_EQ(failed(cudaMemcpy(target, host.data() + 1, 400, cudaMemcpyHostToDevice)),
            cudaErrorInvalidValue);
  EXPECT_EQ(failed(cudaHostRegister(host.data(), 8, 0)), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(failed(cudaHostRegister(nullptr, 8, 0)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaSuccess);
  EXPECT_EQ(failed(cudaHostUnregister(host.data())), cudaErrorHostMemoryNotRegistered);
  unsigned flags = 0;
  EXPECT_EQ(failed(cudaHostGetFlags(&flags, host.data())), cudaErrorInvalidValue);
}

TEST_F(Memory, AdviceIsForManagedMemory) {
  int *managed, *device;
  cudaStream_t stream;
  ASSERT_EQ(cudaMallocManaged(&managed, 400), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&device, 400), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0},
                        there = {cudaMemLocationTypeDevice, 1};
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 400, here, 0), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 400, host, 0, stream), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 400, 0), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 400, cudaCpuDeviceId, stream), cudaSuccess);
  EXPECT_EQ(failed(cudaMemPrefetchAsync(managed, 401, here, 0)), cudaErrorInvalidValue);
  EXPECT_EQ(failed(cudaMemPrefetchAsync(device, 400, here, 0)), cudaErrorInvalidValue);
  EXPECT_EQ(failed(cudaMemPrefetchAsync(managed, 400, there, 0)), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemAdvise(managed, 400, cudaMemAdviseSetReadMostly, 7), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(managed, 400, cudaMemAdviseSetPreferredLocation, host), cudaSuccess);
  EXPECT_EQ(failed(cudaMemAdvise(managed, 400, cudaMemAdviseSetAccessedBy, 7)),
            cudaErrorInvalidDevice);
  EXPECT_EQ(failed(cudaMemAdvise(managed, 400, static_cast<cudaMemoryAdvise>(9), 0)),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAttachMemAsync(stream, managed), cudaSuccess);
  EXPECT_EQ(failed(cudaStreamAttachMemAsync(stream, device)), cudaErrorInvalidValue);
}

TEST_F(Memory, Pools) {
  cudaMemPool_t standard, own, current;
  int* data;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&standard, 0), cudaSuccess);
  std::uint64_t threshold = UINT64_MAX, read = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &read), cudaSuccess);
  EXPECT_EQ(read, threshold);
  int flag = -1;
  EXPECT_EQ(cudaMemPoolGetAttribute(standard, cudaMemPoolReuseAllowOpportunistic, &flag),
            cudaSuccess);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(failed(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &read)),
            cudaErrorNotSupported);

  cudaMemPoolProps properties = {};
  EXPECT_EQ(failed(cudaMemPoolCreate(&own, &properties)), cudaErrorInvalidValue);
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  ASSERT_EQ(cudaMemPoolCreate(&own, &properties), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetMemPool(0, own), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
  EXPECT_EQ(current, own);
  EXPECT_EQ(cudaMallocFromPoolAsync(&data, 400, own, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemset(data, 0, 400), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(data, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(&data, 400, own, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(data, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolTrimTo(own, 0), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(own), cudaSuccess);
  EXPECT_EQ(failed(cudaMemPoolDestroy(own)), cudaErrorInvalidValue);
  EXPECT_EQ(failed(cudaMallocFromPoolAsync(&data, 400, own, nullptr)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
  EXPECT_EQ(current, standard);
}

TEST_F(Memory, PoolsOfTheHostAndManagedMemory) {
  const auto type_of = [](const void* pointer) {
    cudaPointerAttributes attributes;
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    return attributes.type;
  };
  cudaMemPool_t host, managed, own;
  cudaMemLocation location = {cudaMemLocationTypeHost, 0};
  void* data;
  ASSERT_EQ(cudaMemGetMemPool(&host, &location, cudaMemAllocationTypePinned), cudaSuccess);
  ASSERT_EQ(cudaMemGetMemPool(&managed, &location, cudaMemAllocationTypeManaged), cudaSuccess);
  ASSERT_EQ(cudaMallocFromPoolAsync(&data, 64, host, nullptr), cudaSuccess);
  EXPECT_EQ(type_of(data), cudaMemoryTypeHost);
  EXPECT_EQ(failed(cudaFreeHost(data)), cudaErrorInvalidValue) << "it is of a pool";
  EXPECT_EQ(cudaFreeAsync(data, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocFromPoolAsync(&data, 64, managed, nullptr), cudaSuccess);
  EXPECT_EQ(type_of(data), cudaMemoryTypeManaged);
  EXPECT_EQ(cudaFreeAsync(data, nullptr), cudaSuccess);
  EXPECT_EQ(failed(cudaDeviceSetMemPool(0, host)), cudaErrorInvalidValue);

  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = location;
  ASSERT_EQ(cudaMemPoolCreate(&own, &properties), cudaSuccess);
  ASSERT_EQ(cudaMallocFromPoolAsync(&data, 64, own, nullptr), cudaSuccess);
  EXPECT_EQ(type_of(data), cudaMemoryTypeHost);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(own), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&data, 64), cudaSuccess);
  EXPECT_EQ(failed(cudaFreeAsync(data, nullptr)), cudaErrorInvalidValue) << "it is of no pool";
  EXPECT_EQ(cudaFreeHost(data), cudaSuccess);
  location = {cudaMemLocationTypeDevice, 0};
  ASSERT_EQ(cudaMemGetDefaultMemPool(&own, &location, cudaMemAllocationTypePinned), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&host, 0), cudaSuccess);
  EXPECT_EQ(own, host);
}

TEST_F(Memory, CopiesBetweenPeersStayOnTheDevice) {
  int *a, *b, back = 0;
  ASSERT_EQ(cudaMalloc(&a, 4), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&b, 4), cudaSuccess);
  ASSERT_EQ(cudaMemset(a, 1, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeer(b, 0, a, 0, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&back, b, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, 0x01010101);
  EXPECT_EQ(failed(cudaDeviceEnablePeerAccess(1, 0)), cudaErrorInvalidDevice);
  EXPECT_EQ(failed(cudaDeviceDisablePeerAccess(1)), cudaErrorPeerAccessNotEnabled);
}

TEST_F(Memory, TheDeviceAsProgramsAskForIt) {
  int value = -1, device = -1;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0), cudaSuccess);
  EXPECT_NE(value, cudaComputeModeProhibited);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrGpuOverlap, 0), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrPageableMemoryAccess, 0), cudaSuccess);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(failed(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(1000), 0)),
            cudaErrorInvalidValue);
  cudaDeviceProp properties;
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(properties.computeMode, cudaComputeModeDefault);
  EXPECT_EQ(cudaChooseDevice(&device, &properties), cudaSuccess);
  EXPECT_EQ(device, 0);
  std::size_t limit = 0;
  EXPECT_EQ(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize), cudaSuccess);
  EXPECT_EQ(limit, std::size_t{8} << 20);
  EXPECT_EQ(failed(cudaDeviceGetLimit(&limit, cudaLimitMaxL2FetchGranularity)),
            cudaErrorNotSupported);
  char bus[16];
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), cudaSuccess);
  EXPECT_STREQ(bus, "0000:00:00.0");
  EXPECT_EQ(cudaThreadSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte), cudaSuccess);
}

TEST_F(Memory, AttributesOfStreams) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  int priority = -1;
  unsigned flags = 0;
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  EXPECT_EQ(priority, 0);
  int least = 1, greatest = 1;
  EXPECT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  cudaStream_t urgent;
  ASSERT_EQ(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault, -9), cudaSuccess);
  EXPECT_EQ(cudaStreamGetPriority(urgent, &priority), cudaSuccess);
  EXPECT_EQ(priority, greatest) << "as the greatest";
  EXPECT_EQ(cudaStreamDestroy(urgent), cudaSuccess);
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  cudaStreamAttrValue value = {};
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value),
            cudaSuccess);
  EXPECT_EQ(failed(cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value)),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaCtxResetPersistingL2Cache(), cudaSuccess);
}

// What programs ask the preprocessor for; a toolkit's own headers are empty then.
TEST_F(Memory, GuardsOfCudasHeaders) {
#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || !defined(__VECTOR_TYPES_H__)
  FAIL() << "helper_cuda.h leaves everything out without them";
#endif
}

} // namespace
