// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/given_gpu.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

TEST(GivenGpu, is_read_as_ctest_writes_it) {
  EXPECT_EQ(gpu_in("id:3,slots:1"), "3");
  EXPECT_EQ(gpu_in("id:12,slots:1;id:0,slots:1"), "12");
  EXPECT_EQ(gpu_in(""), "");
  EXPECT_EQ(gpu_in("slots:1"), "");
}

TEST(GivenGpu, alone_is_seen) {
  setenv("CTEST_RESOURCE_GROUP_0_GPUS", "id:1,slots:1", 1);
  take_given_gpu();
  unsetenv("CTEST_RESOURCE_GROUP_0_GPUS");
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "1");
  EXPECT_STREQ(std::getenv("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
  unsetenv("CUDA_VISIBLE_DEVICES");
  unsetenv("CUDA_DEVICE_ORDER");
}

} // namespace
} // namespace kg::test
