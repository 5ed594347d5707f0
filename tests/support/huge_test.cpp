// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/huge_in_place.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest-spi.h>
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

// All marks are correct, so only the device's count can find the wrong element.
TEST(Huge, a_single_wrong_bit_is_found_in_every_element_size) {
  Stream stream;
  const auto check = [&]<class T>(T everywhere, T other, T slightly) {
    const DeviceBuffer<T> array =
        DeviceBuffer<T>::from_host(std::vector<T>(5000, everywhere), stream);
    const Marks<T> marks = {{4, other}, {2048, everywhere}, {4999, other}};
    put(marks, array, stream);
    EXPECT_TRUE(holds(array, everywhere, marks, stream, 16));
    for (const std::int64_t index : {0, 3, 255, 2047, 4998}) {
      put<T>({{index, slightly}}, array, stream);
      const auto result = holds(array, everywhere, marks, stream, 16);
      EXPECT_FALSE(result);
      EXPECT_EQ(std::string(result.message()).find("element " + std::to_string(index) + " of 5000"),
                0u)
          << result.message();
      put<T>({{index, everywhere}}, array, stream);
    }
  };
  check(std::int8_t{0}, std::int8_t{5}, std::int8_t{1});
  check(2.0F, 5.0F, 2.0000002F);
  check(0.0, 5.0, -0.0);
}

TEST(Huge, what_becomes_of_numbers_in_place) {
  static Stream stream;
  static const auto doubled = [](double x) { return 2 * x; };
  static const auto doubles_from = [](int first) {
    expect_in_place<float>(
        "v", 1100, 0x3C, doubled,
        [&](float* x) {
          for (int i = first; i < 1100; ++i) {
            float value = 0;
            copy_to_host(&value, x + i, sizeof value, stream);
            value *= 2;
            copy_to_device(x + i, &value, sizeof value, stream);
          }
        },
        stream);
  };
  doubles_from(0);
  EXPECT_NONFATAL_FAILURE(doubles_from(1), "element 0 of 1100 is 3, expected 6");
}

TEST(Huge, a_variable_leaves_them_out_in_plain_words) {
  ASSERT_EQ(setenv("KERNELGRADE_HUGE", "0", 1), 0);
  EXPECT_EQ(too_huge_reason(1), "KERNELGRADE_HUGE=0 leaves out arrays of more than 2^31 elements");
  ASSERT_EQ(setenv("KERNELGRADE_HUGE", "no", 1), 0);
  EXPECT_THROW(too_huge_reason(1), Error);
  ASSERT_EQ(unsetenv("KERNELGRADE_HUGE"), 0);
}

} // namespace
} // namespace kg::test
