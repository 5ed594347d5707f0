// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/accuracy.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

TEST(Accuracy, the_largest_share_of_each_output_is_kept) {
  const VariantId one{"accuracy_test", "f32", "one"}, two{"accuracy_test", "f32", "two"};
  record_share(one, "y", 0.25, "rows1, normal");
  record_share(one, "y", 0.5, "rows2, normal");
  record_share(one, "y", 0.125, "rows3, normal");
  record_share(one, "sum", 0, "rows1, zeros");
  record_share(two, "y", 2, "rows4, uniform");
  EXPECT_EQ(
      largest_shares(),
      (std::vector<std::string>{
          "accuracy_test.f32, variant one: sum takes 0 of its bound at most (rows1, zeros)",
          "accuracy_test.f32, variant one: y takes 0.5 of its bound at most (rows2, normal)",
          "accuracy_test.f32, variant two: y takes 2 of its bound at most (rows4, uniform)"}));
}

} // namespace
} // namespace kg::test
