// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "softmax.h"

#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance.h"

#include <gtest/gtest.h>

namespace {

// Compares every element with the fp64 oracle, within the derived tolerance
// (tests/oracle/tolerance.h) plus half an ulp for the multiplication.
TEST(Softmax, IsWhatTheOracleSays) {
  constexpr int kRows = 5, kColumns = 300, kThreads = 128;
  constexpr float kScale = 3;
  const kg::test::Fill fill =
      kg::test::normal(kg::Dtype::f32, kRows * kColumns, kg::test::Tensor::a);
  const std::vector<float> in = kg::test::elements<float>(fill.values);
  std::vector<float> out(in.size());
  ASSERT_TRUE(softmax(in.data(), out.data(), kRows, kColumns, kScale));

  kg::test::SoftmaxOracle oracle = kg::test::softmax_oracle(fill.values, kRows, kColumns);
  // A thread adds every 128th element of a row; a tree of 7 levels adds the threads' sums.
  constexpr int kChain = (kColumns + kThreads - 1) / kThreads + 7;
  std::vector<double> bounds = kg::test::softmax_tolerances(oracle, kg::Dtype::f32, kChain);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    oracle.value[i] *= kScale;
    bounds[i] = kScale * bounds[i] + kg::test::ulp(kg::Dtype::f32, oracle.value[i]) / 2;
  }
  const kg::test::Comparison comparison =
      kg::test::compare(kg::test::observe(out), {.dtype = kg::Dtype::f32,
                                                 .shape = {kRows, kColumns},
                                                 .value = oracle.value,
                                                 .tolerance = bounds});
  EXPECT_TRUE(comparison.passed()) << fill.description << "\n" << comparison.text();
}

} // namespace
