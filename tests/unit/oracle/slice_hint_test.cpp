// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/slice_hint.h"

#include <cmath>
#include <cstdint>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

// Four elements of 100 terms, without (share -1) or with twice (share 1) the slice [begin, end).
std::vector<WrongSum> wrong(std::size_t begin, std::size_t end, double share, double noise = 0) {
  constexpr std::size_t kTerms = 100;
  const std::vector<double> x = normal(Dtype::f32, 4 * kTerms, Tensor::a).values;
  std::vector<WrongSum> sums;
  for (std::size_t i = 0; i < 4; ++i) {
    WrongSum sum;
    sum.terms.assign(x.begin() + static_cast<std::ptrdiff_t>(i * kTerms),
                     x.begin() + static_cast<std::ptrdiff_t>((i + 1) * kTerms));
    sum.expected = std::accumulate(sum.terms.begin(), sum.terms.end(), 0.0);
    sum.actual = sum.expected + noise;
    for (std::size_t t = begin; t < end; ++t) sum.actual += share * sum.terms[t];
    sum.tolerance = 1e-6;
    sums.push_back(sum);
  }
  return sums;
}

TEST(SliceHint, names_what_is_missing_or_twice) {
  EXPECT_EQ(slice_hint(wrong(99, 100, -1)), "the terms [99, 100) are missing");
  EXPECT_EQ(slice_hint(wrong(96, 100, -1)), "the terms [96, 100) are missing");
  EXPECT_EQ(slice_hint(wrong(93, 100, -1, 5e-7)), "the terms [93, 100) are missing");
  EXPECT_EQ(slice_hint(wrong(16, 32, 1)), "the terms [16, 32) are counted twice");
  EXPECT_EQ(slice_hint(wrong(0, 64, -1)), "the terms [0, 64) are missing");
  EXPECT_EQ(slice_hint(wrong(0, 100, -1)), "the terms [0, 100) are missing");
}

TEST(SliceHint, says_nothing_where_no_slice_explains_all) {
  EXPECT_EQ(slice_hint(wrong(0, 0, 1, 0.01)), "");
  EXPECT_EQ(slice_hint(wrong(5, 22, -1)), "");
  EXPECT_EQ(slice_hint({}), "");
  auto nan = wrong(99, 100, -1);
  nan[2].actual = std::nan("");
  EXPECT_EQ(slice_hint(nan), "");
}

} // namespace
} // namespace kg::test
