// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cuda backend's status texts and device queries, against the recording runtime.
#include "runtime/cuda/status.h"
#include "runtime/device.h"
#include "tests/unit/kernels/runtime/recording_cudart.h"

#include <gmock/gmock.h>

namespace kg {
namespace {

using recording::calls;
using recording::machine;
using recording::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

// Another library's status, whose describe() hides the global one from ordinary lookup inside this
// namespace.
enum class LibraryStatus { fine };
Status describe(LibraryStatus) { return {true, "fine"}; }

template <class StatusType>
void check_in_template(StatusType status) {
  KG_CHECK(status);
}

class CudaStatus : public recording::RecordingTest {};
class CudaDevice : public recording::RecordingTest {};

TEST_F(CudaStatus, NamesTheErrorItsTextAndItsNumber) {
  EXPECT_TRUE(::describe(cudaSuccess).ok);
  const Status failed = ::describe(cudaErrorMemoryAllocation);
  EXPECT_FALSE(failed.ok);
  EXPECT_EQ(failed.text, "cudaErrorMemoryAllocation: out of memory (error 2)");
}

TEST_F(CudaStatus, IsFoundByTheCheckMacroInTemplatesAndBesideOtherOverloads) {
  EXPECT_NO_THROW(check_in_template(LibraryStatus::fine));
  EXPECT_NO_THROW(check_in_template(cudaSuccess));
  EXPECT_THAT(message_of([] { check_in_template(cudaErrorNoDevice); }),
              HasSubstr("cuda_device_test.cpp"));
  EXPECT_THAT(message_of([] { KG_CHECK(cudaErrorNoDevice); }),
              HasSubstr("cudaErrorNoDevice failed: cudaErrorNoDevice: no CUDA-capable device is "
                        "detected (error 100)"));
}

TEST_F(CudaStatus, OfAFailureClearsTheThreadsLastError) {
  recording::fail_call("cudaDeviceSynchronize", cudaErrorLaunchFailure);
  EXPECT_THROW(synchronize_device(), Error);
  EXPECT_EQ(recording::last_error(), cudaSuccess);
}

TEST_F(CudaStatus, OfAReleaseIsPrintedUnlessTheProcessIsEnding) {
  testing::internal::CaptureStderr();
  cuda::check_release(cudaSuccess, "cudaFree");
  cuda::check_release(cudaErrorCudartUnloading, "cudaFree");
  cuda::check_release(cudaErrorContextIsDestroyed, "cudaFree");
  cuda::check_release(cudaErrorDeviceUninitialized, "cudaFree");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");

  testing::internal::CaptureStderr();
  cuda::check_release(cudaErrorIllegalAddress, "cudaFree");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "kernelgrade: cudaFree failed while releasing: cudaErrorIllegalAddress: an illegal "
            "memory access was encountered (error 700)\n");
}

// Each test that reads properties has a device number of its own: the backend keeps them for the
// life of the process.
TEST_F(CudaDevice, PropertiesAreTheVendorsUnderOurNames) {
  machine().device = 10;
  cudaDeviceProp& vendor = machine().properties;
  vendor.major = 8;
  vendor.minor = 6;
  vendor.multiProcessorCount = 84;
  vendor.warpSize = 31;
  vendor.maxThreadsPerBlock = 1001;
  vendor.maxThreadsPerMultiProcessor = 1536;
  vendor.sharedMemPerBlock = 49152;
  vendor.sharedMemPerBlockOptin = 101376;
  vendor.sharedMemPerMultiprocessor = 102400;
  vendor.l2CacheSize = 6291456;
  vendor.totalGlobalMem = 25429999616;
  vendor.maxGridSize[0] = 1234567;
  vendor.maxGridSize[1] = 4321;

  const DeviceProperties& ours = device_properties();
  EXPECT_EQ(ours.name, "Stand-In 90");
  EXPECT_EQ(ours.compute_major, 8);
  EXPECT_EQ(ours.compute_minor, 6);
  EXPECT_EQ(ours.sm_count, 84);
  EXPECT_EQ(ours.warp_size, 31);
  EXPECT_EQ(ours.max_threads_per_block, 1001);
  EXPECT_EQ(ours.max_threads_per_sm, 1536);
  EXPECT_EQ(ours.shared_bytes_per_block, 49152u);
  EXPECT_EQ(ours.shared_bytes_per_block_optin, 101376u);
  EXPECT_EQ(ours.shared_bytes_per_sm, 102400u);
  EXPECT_EQ(ours.l2_bytes, 6291456u);
  EXPECT_EQ(ours.global_bytes, 25429999616u);
  EXPECT_EQ(ours.max_grid_x, 1234567);
  EXPECT_EQ(ours.max_grid_yz, 4321);
}

TEST_F(CudaDevice, PropertiesAreReadOncePerDevice) {
  machine().device = 11;
  const DeviceProperties& first = device_properties();
  EXPECT_EQ(&device_properties(), &first);
  machine().device = 12;
  EXPECT_NE(&device_properties(), &first);
  EXPECT_THAT(calls(),
              ElementsAre("cudaGetDevice()", "cudaGetDeviceProperties(11)", "cudaGetDevice()",
                          "cudaGetDevice()", "cudaGetDeviceProperties(12)"));
}

TEST_F(CudaDevice, PropertiesThatCannotBeReadAreAskedForAgain) {
  machine().device = 13;
  recording::fail_call("cudaGetDeviceProperties", cudaErrorInitializationError);
  EXPECT_THAT(message_of([] { device_properties(); }),
              HasSubstr("cudaGetDeviceProperties(&vendor, device) failed: "
                        "cudaErrorInitializationError"));
  EXPECT_EQ(device_properties().sm_count, 132);
}

TEST_F(CudaDevice, IsAvailableWhenAContextCanBeCreated) {
  EXPECT_EQ(device_unavailable_reason(), "");
  EXPECT_THAT(calls(), ElementsAre("cudaGetDeviceCount()", "cudaFree(null)"));
}

TEST_F(CudaDevice, IsUnavailableWithoutADriver) {
  machine().driver_version = 0;
  recording::fail_call("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  EXPECT_EQ(device_unavailable_reason(),
            "no NVIDIA driver is installed (cudaErrorInsufficientDriver: CUDA driver version is "
            "insufficient for CUDA runtime version (error 35))");
}

TEST_F(CudaDevice, IsUnavailableWithADriverOlderThanTheToolkit) {
  machine().driver_version = 11080;
  recording::fail_call("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  const std::string reason = device_unavailable_reason();
  EXPECT_THAT(reason, HasSubstr("the NVIDIA driver is too old for CUDA " +
                                std::to_string(CUDART_VERSION / 1000) + "."));
  EXPECT_THAT(reason, HasSubstr("(it supports 11.8): cudaErrorInsufficientDriver"));
}

TEST_F(CudaDevice, IsUnavailableWhenNoneIsVisible) {
  recording::fail_call("cudaGetDeviceCount", cudaErrorNoDevice);
  EXPECT_EQ(device_unavailable_reason(), "no CUDA device can be used: cudaErrorNoDevice: no "
                                         "CUDA-capable device is detected (error 100)");
  machine().device_count = 0;
  EXPECT_THAT(device_unavailable_reason(), HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(CudaDevice, IsUnavailableWhenAnotherProcessHoldsIt) {
  recording::fail_call("cudaFree", cudaErrorDevicesUnavailable);
  EXPECT_THAT(device_unavailable_reason(),
              HasSubstr("the CUDA device cannot be used: cudaErrorDevicesUnavailable"));
}

TEST_F(CudaDevice, FreeBytesAreTheDriversFigure) {
  machine().memory_bytes = 123456;
  EXPECT_EQ(device_free_bytes(), 123456u);
  recording::fail_call("cudaMemGetInfo", cudaErrorInitializationError);
  EXPECT_THROW(device_free_bytes(), Error);
}

TEST_F(CudaDevice, SynchronisationReportsWhatFailedOnTheDevice) {
  synchronize_device();
  EXPECT_THAT(calls(), ElementsAre("cudaDeviceSynchronize()"));
  recording::fail_call("cudaDeviceSynchronize", cudaErrorIllegalAddress);
  EXPECT_THAT(message_of([] { synchronize_device(); }),
              HasSubstr("cudaDeviceSynchronize() failed: cudaErrorIllegalAddress: an illegal "
                        "memory access was encountered (error 700)"));
}

TEST(DeviceSlug, IsLowerCaseWordsJoinedByHyphens) {
  EXPECT_EQ(device_slug("NVIDIA H200"), "nvidia-h200");
  EXPECT_EQ(device_slug("NVIDIA GeForce RTX 4090"), "nvidia-geforce-rtx-4090");
  EXPECT_EQ(device_slug("  Quadro (TM)/RTX\t6000_Ada - "), "quadro-tm-rtx-6000-ada");
  EXPECT_EQ(device_slug("host"), "host");
  EXPECT_EQ(device_slug("\xC3\x84 9"), "9");
  EXPECT_EQ(device_slug("---"), "");
}

} // namespace
} // namespace kg
