// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cuda backend's allocations, guards, copies and fills, against the recording runtime.
#include "runtime/buffer.h"
#include "runtime/memory.h"
#include "tests/unit/kernels/runtime/recording_cudart.h"

#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <limits>
#include <numeric>

namespace kg {
namespace {

using recording::calls;
using recording::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

unsigned char* bytes_of(const Allocation& allocation) {
  return static_cast<unsigned char*>(allocation.data());
}

// The stand-in's device memory is the host's, so a test can be the faulty kernel and the reader of
// what was filled.
class CudaMemory : public recording::RecordingTest {
 protected:
  void SetUp() override {
    RecordingTest::SetUp();
    reset_peak_allocated_bytes();
  }
  void TearDown() override {
    RecordingTest::TearDown();
    EXPECT_EQ(allocated_bytes(), 0u);
  }
};

TEST_F(CudaMemory, AllocationIsGuardedPoisonedAndReadyForAnyStream) {
  {
    Allocation allocation(100);
    EXPECT_EQ(allocation.bytes(), 100u);
  }
  EXPECT_THAT(calls(), ElementsAre("cudaMalloc(8292) = memory0",
                                   "cudaMemsetAsync(memory0, 0xa5, 8292, default)",
                                   "cudaMemsetAsync(memory0+4096, 0xff, 100, default)",
                                   "cudaStreamSynchronize(default)", "cudaFree(memory0)"));
}

TEST_F(CudaMemory, LargeAllocationIsWrittenOnce) {
  const Allocation allocation(100'000);
  EXPECT_THAT(calls(), ElementsAre("cudaMalloc(108192) = memory0",
                                   "cudaMemsetAsync(memory0, 0xa5, 4096, default)",
                                   "cudaMemsetAsync(memory0+104096, 0xa5, 4096, default)",
                                   "cudaMemsetAsync(memory0+4096, 0xff, 100000, default)",
                                   "cudaStreamSynchronize(default)"));
  EXPECT_NO_THROW(allocation.check_guards());
  bytes_of(allocation)[100'000] = 0;
  EXPECT_THAT(message_of([&] { allocation.check_guards(); }),
              HasSubstr("byte 1 behind a device buffer of 100000 bytes"));
}

// Read once in a process, hence each in one of its own.
class CudaMemoryUnguarded : public CudaMemory {
 protected:
  CudaMemoryUnguarded() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CudaMemoryUnguarded, TheAllocationIsWhatWasAskedForAndNothingInitialisesIt) {
  const auto as_asked = [] {
    setenv("KERNELGRADE_UNGUARDED", "1", 1);
    {
      Stream stream;
      recording::clear_calls();
      const Allocation allocation(100), nothing(0);
      poison(allocation.data(), 100, stream);
      allocation.check_guards();
      if (allocated_bytes() != 101 || nothing.data() == nullptr) std::exit(2);
      const std::vector<std::string> expected = {
          "cudaMalloc(100) = memory0", "cudaMalloc(1) = memory1", "cudaDeviceSynchronize()"};
      if (calls() != expected) std::exit(3);
    }
    std::exit(allocated_bytes() == 0 ? 0 : 4);
  };
  EXPECT_EXIT(as_asked(), testing::ExitedWithCode(0), "");
}

TEST_F(CudaMemoryUnguarded, AnythingButOneAndZeroIsRefused) {
  const auto refused = [] {
    setenv("KERNELGRADE_UNGUARDED", "yes", 1);
    const std::string message = message_of([] { Allocation allocation(100); });
    std::exit(
        message.find("KERNELGRADE_UNGUARDED is \"yes\"; set it to 1 or 0") != message.npos ? 0 : 2);
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(0), "");
}

TEST_F(CudaMemory, AllocationIsAlignedAndEveryByteOfItIsPoisonBetweenGuards) {
  const Allocation allocation(1001);
  const unsigned char* data = bytes_of(allocation);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u);
  for (std::size_t i = 0; i < 1001; ++i) ASSERT_EQ(data[i], 0xFF) << i;
  for (std::size_t i = 1; i <= kGuardBytes; ++i) {
    ASSERT_EQ(*(data - i), 0xA5) << i;
    ASSERT_EQ(data[1000 + i], 0xA5) << i;
  }
}

TEST_F(CudaMemory, AllocationOfNothingStillHasGuards) {
  const Allocation allocation(0);
  EXPECT_NE(allocation.data(), nullptr);
  EXPECT_THAT(calls(), ElementsAre("cudaMalloc(8192) = memory0",
                                   "cudaMemsetAsync(memory0, 0xa5, 8192, default)",
                                   "cudaStreamSynchronize(default)"));
  EXPECT_NO_THROW(allocation.check_guards());
  *bytes_of(allocation) = 0;
  EXPECT_THROW(allocation.check_guards(), Error);
}

TEST_F(CudaMemory, GuardCheckWaitsForTheDeviceAndReadsBothSides) {
  const Allocation small(100), large(100'000);
  recording::clear_calls();
  small.check_guards();
  EXPECT_THAT(calls(), ElementsAre("cudaDeviceSynchronize()",
                                   "cudaMemcpy(host, memory0, 8292, DeviceToHost)"));
  recording::clear_calls();
  large.check_guards();
  EXPECT_THAT(calls(), ElementsAre("cudaDeviceSynchronize()",
                                   "cudaMemcpy(host, memory1, 4096, DeviceToHost)",
                                   "cudaMemcpy(host, memory1+104096, 4096, DeviceToHost)"));
}

TEST_F(CudaMemory, GuardCheckSeesDamageThatIsStillQueued) {
  Stream stream;
  const Allocation allocation(100);
  fill_bytes(bytes_of(allocation) + 99, 0, 2, stream); // one byte too far
  EXPECT_THROW(allocation.check_guards(), Error);
}

TEST_F(CudaMemory, GuardDamageBeforeTheStartIsReportedWithItsDistance) {
  const Allocation allocation(100);
  bytes_of(allocation)[-7] = 0;
  bytes_of(allocation)[-4096] = 0;
  EXPECT_THAT(message_of([&] { allocation.check_guards(); }),
              HasSubstr("out-of-bounds write: byte 7 before a device buffer of 100 bytes was "
                        "changed; 2 bytes of that guard in all"));
}

TEST_F(CudaMemory, GuardDamageBehindTheEndIsReportedWithItsDistance) {
  const Allocation allocation(100);
  bytes_of(allocation)[99] = 0; // the last byte is the owner's
  EXPECT_NO_THROW(allocation.check_guards());
  bytes_of(allocation)[100] = 0;
  EXPECT_THAT(message_of([&] { allocation.check_guards(); }),
              HasSubstr("out-of-bounds write: byte 1 behind a device buffer of 100 bytes was "
                        "changed; 1 bytes of that guard in all"));
  bytes_of(allocation)[100] = kGuardByte;
  bytes_of(allocation)[100 + 4095] = 0;
  EXPECT_THAT(message_of([&] { allocation.check_guards(); }), HasSubstr("byte 4096 behind"));
}

TEST_F(CudaMemory, GuardCheckOfAnEmptyAllocationDoesNothing) {
  Allocation().check_guards();
  EXPECT_THAT(calls(), ElementsAre());
}

TEST_F(CudaMemory, AllocationThatDoesNotFitNamesSizesAndFreeBytes) {
  recording::machine().memory_bytes = 20000;
  const Allocation first(1000);
  EXPECT_THAT(message_of([] { Allocation second(5000); }),
              AllOf(HasSubstr("cudaMalloc of 13192 bytes (5000 asked for, 8192 of guards) failed: "
                              "cudaErrorMemoryAllocation: out of memory (error 2)"),
                    HasSubstr("10808 bytes of device memory are free, 9192 are held")));
  EXPECT_EQ(allocated_bytes(), 9192u);
}

TEST_F(CudaMemory, AllocationFailsCleanlyWhenFreeBytesAreUnknown) {
  recording::fail_call("cudaMalloc", cudaErrorInitializationError);
  recording::fail_call("cudaMemGetInfo", cudaErrorInitializationError);
  EXPECT_THAT(message_of([] { Allocation allocation(1); }),
              HasSubstr("unknown bytes of device memory are free"));
}

TEST_F(CudaMemory, AllocationWhoseSizeOverflowsIsRefused) {
  EXPECT_THAT(message_of([] { Allocation all(std::numeric_limits<std::size_t>::max() - 8191); }),
              HasSubstr("exceed the address space"));
  EXPECT_THAT(calls(), ElementsAre());
}

TEST_F(CudaMemory, AllocationThatCannotBeFilledIsFreed) {
  for (int nth = 1; nth <= 3; ++nth) {
    recording::fail_call("cudaMemsetAsync", cudaErrorLaunchFailure, nth);
    EXPECT_THROW(Allocation(100'000), Error) << "fill " << nth;
    EXPECT_EQ(calls().back(), "cudaFree(memory" + std::to_string(nth - 1) + ")");
    EXPECT_EQ(allocated_bytes(), 0u);
    EXPECT_THAT(recording::leaks(), ElementsAre());
  }
  recording::fail_call("cudaStreamSynchronize", cudaErrorLaunchFailure);
  EXPECT_THROW(Allocation(10), Error);
  EXPECT_EQ(calls().back(), "cudaFree(memory3)");
}

TEST_F(CudaMemory, AllocationMovesAndIsFreedOnce) {
  Allocation a(10);
  Allocation b(20);
  recording::clear_calls();
  Allocation moved(std::move(a));
  EXPECT_EQ(a.data(), nullptr); // NOLINT(bugprone-use-after-move): what a move leaves is under test
  EXPECT_EQ(a.bytes(), 0u);
  EXPECT_EQ(moved.bytes(), 10u);
  b = std::move(moved);
  EXPECT_EQ(b.bytes(), 10u);
  EXPECT_THAT(calls(), ElementsAre("cudaFree(memory1)"));
  EXPECT_EQ(allocated_bytes(), 10 + 2 * kGuardBytes);
  Allocation& itself = b;
  b = std::move(itself);
  EXPECT_EQ(b.bytes(), 10u);
  b = Allocation();
  EXPECT_THAT(calls(), ElementsAre("cudaFree(memory1)", "cudaFree(memory0)"));
}

TEST_F(CudaMemory, CountersKnowWhatIsHeldAndTheMostThatWas) {
  const Allocation kept(1000);
  { const Allocation passing(2000); }
  EXPECT_EQ(allocated_bytes(), 1000 + 2 * kGuardBytes);
  EXPECT_EQ(peak_allocated_bytes(), 3000 + 4 * kGuardBytes);
  reset_peak_allocated_bytes();
  EXPECT_EQ(peak_allocated_bytes(), 1000 + 2 * kGuardBytes);
}

TEST_F(CudaMemory, FreeAfterTheDriverHasShutDownIsSilent) {
  testing::internal::CaptureStderr();
  {
    const Allocation allocation(10);
    recording::fail_call("cudaFree", cudaErrorCudartUnloading);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(calls().back(), "cudaFree(memory0) -> cudaErrorCudartUnloading");
}

TEST_F(CudaMemory, FreeOnABrokenDeviceIsReportedAndDoesNotThrow) {
  testing::internal::CaptureStderr();
  {
    const Allocation allocation(10);
    recording::break_device(cudaErrorIllegalAddress);
    EXPECT_THAT(message_of([&] { allocation.check_guards(); }),
                HasSubstr("cudaErrorIllegalAddress"));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cudaFree failed while releasing"));
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress) << "a sticky error cannot be cleared";
  EXPECT_THAT(recording::leaks(), ElementsAre());
  recording::reset();
}

TEST_F(CudaMemory, CopiesNameTheirDirectionAndStream) {
  Stream stream;
  const Allocation a(64);
  const Allocation b(64);
  unsigned char host[16] = {};
  recording::clear_calls();
  copy_to_device(a.data(), host, 16, stream);
  copy_on_device(b.data(), bytes_of(a) + 8, 24, stream);
  copy_to_host(host, bytes_of(b) + 4, 16, stream);
  EXPECT_THAT(
      calls(),
      ElementsAre("cudaStreamIsCapturing(stream0)",
                  "cudaMemcpyAsync(memory0+4096, host, 16, HostToDevice, stream0)",
                  "cudaStreamSynchronize(stream0)",
                  "cudaMemcpyAsync(memory1+4096, memory0+4104, 24, DeviceToDevice, stream0)",
                  "cudaStreamIsCapturing(stream0)",
                  "cudaMemcpyAsync(host, memory1+4100, 16, DeviceToHost, stream0)",
                  "cudaStreamSynchronize(stream0)"));
}

TEST_F(CudaMemory, FillsNameTheirValueAndStream) {
  Stream stream;
  const Allocation a(64);
  recording::clear_calls();
  fill_bytes(bytes_of(a) + 1, 0x3C, 5, stream);
  EXPECT_THAT(calls(), ElementsAre("cudaMemsetAsync(memory0+4097, 0x3c, 5, stream0)"));
  stream.synchronize();
  EXPECT_EQ(bytes_of(a)[0], 0xFF);
  EXPECT_EQ(bytes_of(a)[1], 0x3C);
  EXPECT_EQ(bytes_of(a)[5], 0x3C);
  EXPECT_EQ(bytes_of(a)[6], 0xFF);
}

TEST_F(CudaMemory, CopiesAndFillsOfNothingMakeNoCall) {
  Stream stream;
  recording::clear_calls();
  copy_to_device(nullptr, nullptr, 0, stream);
  copy_to_host(nullptr, nullptr, 0, stream);
  copy_on_device(nullptr, nullptr, 0, stream);
  fill_bytes(nullptr, 1, 0, stream);
  EXPECT_THAT(calls(), ElementsAre());
}

TEST_F(CudaMemory, HostMemoryMayBeReusedWhenACopyReturns) {
  Stream stream;
  const Allocation a(4);
  int value = 42;
  copy_to_device(a.data(), &value, 4, stream);
  value = 0;
  stream.synchronize();
  int back = 0;
  copy_to_host(&back, a.data(), 4, stream);
  EXPECT_EQ(back, 42);
}

TEST_F(CudaMemory, CopyThatFailsSaysSo) {
  Stream stream;
  const Allocation a(4);
  int value = 1;
  recording::fail_call("cudaMemcpyAsync", cudaErrorIllegalAddress);
  EXPECT_THAT(message_of([&] { copy_to_device(a.data(), &value, 4, stream); }),
              HasSubstr("cudaMemcpyHostToDevice, cuda::native(stream)) failed: "
                        "cudaErrorIllegalAddress"));
  recording::fail_call("cudaStreamSynchronize", cudaErrorLaunchFailure);
  EXPECT_THAT(message_of([&] { copy_to_host(&value, a.data(), 4, stream); }),
              HasSubstr("cudaErrorLaunchFailure"));
  recording::fail_call("cudaMemcpyAsync", cudaErrorIllegalAddress);
  EXPECT_THROW(copy_on_device(a.data(), a.data(), 4, stream), Error);
  recording::fail_call("cudaMemsetAsync", cudaErrorIllegalAddress);
  EXPECT_THROW(fill_bytes(a.data(), 0, 4, stream), Error);
}

TEST_F(CudaMemory, BufferCarriesValuesThereAndBack) {
  Stream stream;
  std::vector<float> values(777);
  std::iota(values.begin(), values.end(), 0.5f);
  DeviceBuffer<float> buffer = DeviceBuffer<float>::from_host(values, stream);
  EXPECT_EQ(buffer.bytes(), 777 * sizeof(float));
  EXPECT_EQ(buffer.to_host(stream), values);
  buffer.poison(stream);
  for (float value : buffer.to_host(stream)) ASSERT_TRUE(value != value);
  EXPECT_THROW(buffer.copy_from(std::span(values).first(776), stream), Error);
  buffer.check_guards();
  stream.synchronize();
  *(buffer.data() + 777) = 0;
  EXPECT_THROW(buffer.check_guards(), Error);
}

} // namespace
} // namespace kg
