// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors as CUDA reports them: a launch that is refused is forgotten when asked for, a kernel's
// fault stays.
#include "tests/unit/kernels/cuda/source/faults.h"

#include <gmock/gmock.h>

namespace {

using testing::AllOf;
using testing::HasSubstr;

class Faults : public testing::Test {
 protected:
  Faults() {
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaMalloc(&count_, sizeof(int)), cudaSuccess);
    EXPECT_EQ(cudaMemset(count_, 0, sizeof(int)), cudaSuccess);
  }
  ~Faults() override {
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    testing::internal::GetCapturedStderr();
  }
  // What has been said on standard error so far.
  static std::string said() {
    const std::string text = testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    return text;
  }
  int counted() const {
    int count = -1;
    cudaMemcpy(&count, count_, sizeof(int), cudaMemcpyDeviceToHost);
    return count;
  }
  // The error of one launch, which must be forgotten afterwards.
  cudaError_t refused(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
    faults::launch_count(grid, block, shared, stream, count_);
    const cudaError_t error = cudaPeekAtLastError();
    EXPECT_EQ(cudaGetLastError(), error);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(counted(), 0);
    return error;
  }

  int* count_ = nullptr;
};

TEST_F(Faults, BadConfigurationsAreRefusedAndForgotten) {
  EXPECT_EQ(refused(0, 32), cudaErrorInvalidConfiguration);
  EXPECT_THAT(said(), AllOf(HasSubstr("cudaErrorInvalidConfiguration"),
                            HasSubstr("faults.cu:" + std::to_string(faults::launch_line)),
                            HasSubstr("launch of count_threads: a grid of (0,1,1) blocks")));
  EXPECT_EQ(refused({1, 70000, 1}, 32), cudaErrorInvalidConfiguration);
  EXPECT_EQ(refused(1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(refused(1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(refused(1, {1, 1, 65}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(refused(static_cast<unsigned>(-1), 32), cudaErrorInvalidConfiguration);
  EXPECT_EQ(refused(1, 32, 0, reinterpret_cast<cudaStream_t>(count_)),
            cudaErrorInvalidResourceHandle);
  faults::launch_count(2, 32, 0, nullptr, count_);
  EXPECT_EQ(counted(), 64);
}

TEST_F(Faults, DynamicSharedMemoryBeyond48KibMustBeAllowed) {
  EXPECT_EQ(refused(1, 32, 48 * 1024 + 1), cudaErrorInvalidValue);
  EXPECT_THAT(said(), HasSubstr("cudaFuncAttributeMaxDynamicSharedMemorySize"));
  EXPECT_EQ(cudaFuncSetAttribute(faults::launch_count, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 164 * 1024),
            cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(cudaFuncSetAttribute(faults::launch_count, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 100 * 1024),
            cudaSuccess);
  EXPECT_EQ(refused(1, 32, 100 * 1024 + 1), cudaErrorInvalidValue);
  faults::launch_count(1, 32, 100 * 1024, nullptr, count_);
  EXPECT_EQ(counted(), 32);
}

TEST_F(Faults, AFaultStays) {
  faults::launch_trap();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorLaunchFailure);
  int* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 4), cudaErrorLaunchFailure);
  faults::launch_count(1, 32, 0, nullptr, count_); // does not run
  EXPECT_EQ(counted(), -1);
  const auto whole_text =
      AllOf(HasSubstr("faults.cu:" + std::to_string(faults::trap_line)),
            HasSubstr("kernel trap, block (0,0,0), thread (3,0,0): __trap() was called"));
  EXPECT_THAT(said(), AllOf(HasSubstr("kernelgrade: cudaErrorLaunchFailure: "), whole_text));
  EXPECT_THAT(kg::foreign::report(), whole_text);
}

TEST_F(Faults, AssertionsNameConditionAndPlace) {
  faults::launch_assert(7);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  faults::launch_assert(8);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT_STREQ(cudaGetErrorName(cudaGetLastError()), "cudaErrorAssert");
  EXPECT_THAT(said(), AllOf(HasSubstr("faults.cu:" + std::to_string(faults::assert_line)),
                            HasSubstr("kernel asserts, block (0,0,0), thread (0,0,0)"),
                            HasSubstr("assertion failed: value == 7 && \"seven, please\"")));
}

TEST_F(Faults, ADeadlockIsATimeout) {
  faults::launch_deadlock();
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorLaunchTimeout);
  EXPECT_THAT(said(), HasSubstr("deadlock in kernel deadlock"));
}

TEST(FaultsAtExit, AProgramThatIgnoresAFaultFails) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        faults::launch_trap();
        std::exit(0);
      },
      testing::ExitedWithCode(1), "the program ends after a kernel's fault");
  EXPECT_EXIT(
      {
        faults::launch_trap();
        cudaDeviceReset();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

} // namespace
