// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hygiene.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "runtime/error.h"

namespace kg::test {
namespace {

// Test vectors published with FNV (draft-eastlake-fnv, appendix).
TEST(Hygiene, fnv_known_answers) {
  const auto hash = [](std::string_view text) {
    return fnv1a64(std::as_bytes(std::span(text.data(), text.size())));
  };
  EXPECT_EQ(hash(""), 0xCBF29CE484222325u);
  EXPECT_EQ(hash("a"), 0xAF63DC4C8601EC8Cu);
  EXPECT_EQ(hash("foobar"), 0x85944171F73967E8u);
}

TEST(Hygiene, a_changed_input_is_named) {
  std::vector<float> a(1000, 1.0F);
  const std::vector<float> b(10, 2.0F);
  InputGuard guard;
  guard.watch("a", a);
  guard.watch("b", b);
  EXPECT_TRUE(guard.unchanged("a", a));
  a[999] = -0.0F;
  const testing::AssertionResult changed = guard.unchanged("a", a);
  EXPECT_FALSE(changed);
  EXPECT_STREQ(changed.message(), "the kernel changed its input a");
  EXPECT_TRUE(guard.unchanged("b", b));
  EXPECT_FALSE(guard.unchanged("c", b));
}

TEST(Hygiene, zeros_of_both_signs_are_different_inputs) {
  InputGuard guard;
  guard.watch("x", std::vector<float>{0.0F});
  EXPECT_FALSE(guard.unchanged("x", std::vector<float>{-0.0F}));
}

TEST(Hygiene, gaps_stay_poisoned) {
  const Strided view = matrix(3, 2, 4);
  std::vector<float> storage = scatter(std::vector<float>(6, 1.0F), view, 15);
  EXPECT_EQ(storage.size(), 15u);
  EXPECT_TRUE(gaps_intact(storage, view));
  EXPECT_TRUE(is_poison(storage[2]));
  EXPECT_FALSE(is_poison(storage[4]));
  // Writing a different NaN counts as a write.
  storage[7] = std::numeric_limits<float>::quiet_NaN();
  storage[14] = 0;
  const testing::AssertionResult touched = gaps_intact(storage, view);
  EXPECT_FALSE(touched);
  EXPECT_STREQ(touched.message(),
               "2 elements outside the view were written, the first at element 7 "
               "of the storage (bits 0x7fc00000)");
}

TEST(Hygiene, poison_is_nan_in_floats_and_minus_one_in_integers) {
  for (const float element : poisoned<float>(3)) EXPECT_TRUE(std::isnan(element));
  for (const double element : poisoned<double>(3)) EXPECT_TRUE(std::isnan(element));
  EXPECT_EQ(poisoned<std::int32_t>(2), (std::vector<std::int32_t>{-1, -1}));
}

TEST(Strided, places_elements_and_takes_them_back) {
  const std::vector<int> dense = {1, 2, 3, 4, 5, 6};
  const Strided offset = {{2, 3}, {5, 1}, 4};
  EXPECT_EQ(offset.storage_size(), 12);
  EXPECT_EQ(offset.place(4), 10);
  const std::vector<int> storage = scatter(dense, offset);
  EXPECT_EQ(storage, (std::vector<int>{-1, -1, -1, -1, 1, 2, 3, -1, -1, 4, 5, 6}));
  EXPECT_EQ(gather(storage, offset), dense);
  EXPECT_EQ(gather(storage, transposed(offset)), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  const Strided column_major = {{2, 3}, {1, 2}, 0};
  EXPECT_EQ(scatter(dense, column_major), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(gather(dense, contiguous({3, 2})), dense);
  EXPECT_EQ(contiguous({2, 3, 4}).strides, (std::vector<std::int64_t>{12, 4, 1}));
}

TEST(Strided, refuses_what_does_not_fit) {
  EXPECT_THROW(matrix(3, 5, 4), Error);
  EXPECT_THROW(scatter(std::vector<int>{1, 2}, matrix(3, 1, 1)), Error);
  EXPECT_THROW(gather(std::vector<int>{1, 2}, matrix(3, 1, 1)), Error);
  EXPECT_THROW(transposed(contiguous({4})), Error);
  EXPECT_EQ(scatter(std::vector<int>{}, matrix(0, 4, 4)).size(), 0u);
}

} // namespace
} // namespace kg::test
