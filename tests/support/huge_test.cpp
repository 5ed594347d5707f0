// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/huge.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

TEST(Huge, every_element_counts_in_every_chunk) {
  Stream stream;
  const auto array = DeviceBuffer<float>::from_host(std::vector<float>(1000, 2.0F), stream);
  const Marks<float> marks = {{0, 5.0F}, {499, 6.0F}, {999, -2.0F}};
  EXPECT_TRUE(holds(array, 2.0F, {}, stream, 64));
  EXPECT_FALSE(holds(array, 2.0F, marks, stream, 64));
  put(marks, array, stream);
  EXPECT_TRUE(holds(array, 2.0F, marks, stream, 64));
  EXPECT_TRUE(holds(array, 2.0F, marks, stream));
  for (const std::int64_t index : {0, 499, 999, 63, 64, 500}) {
    Marks<float> wrong = marks;
    wrong[index] = 7.0F;
    EXPECT_FALSE(holds(array, 2.0F, wrong, stream, 64)) << index;
  }
  const auto result = holds(array, 2.0F, {{0, 5.0F}, {499, 6.0F}}, stream, 64);
  EXPECT_STREQ(result.message(), "element 999 of 1000 is -2, expected 2");
}

} // namespace
} // namespace kg::test
