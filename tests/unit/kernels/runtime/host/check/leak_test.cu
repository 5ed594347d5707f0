// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is still allocated when a program ends.
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include <cstdlib>

namespace kg::test {
namespace {

// It is said, and alone fails nothing: the system frees what is left.
TEST(Leaks, AreReportedAtTheEnd) {
  EXPECT_EXIT(
      {
        new DeviceBuffer<float>(25);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "\\[leak\\] 1 allocation was never freed, of 100 bytes");
}

TEST(Leaks, NoneIsNone) {
  EXPECT_EXIT(
      {
        { const DeviceBuffer<float> buffer(25); }
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace kg::test
