// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a product by cuBLASLt costs its caller: descriptors, layouts and the heuristic once, not in
// every call, since they would be timed as if they were the library's product.
#include "libraries/gemm.h"
#include "libraries/not_supported.h"
#include "tests/unit/kernels/libraries/recording_cublaslt.h"
#include "tests/unit/kernels/runtime/recording_cudart.h"

#include <cublasLt.h>
#include <gtest/gtest.h>
#include <vector>

namespace kg::vendor {
namespace {

using recording::cublaslt;

class Cublaslt : public testing::Test {
 protected:
  Cublaslt() {
    recording::machine().memory_bytes = std::size_t{1} << 30;
    cublaslt() = {};
  }

  Gemm product(std::int64_t m) {
    return {Dtype::f16, false, false, m, 8, 8, 1, a_.data(), 8, b_.data(), 8, 0, c_.data(), 8};
  }
  void multiply(const Gemm& problem, Math math = Math::fastest) {
    gemm("cublaslt", problem, math, stream_);
    stream_.synchronize();
  }
  static std::vector<int> executed() { return std::exchange(cublaslt().executed, {}); }

  Stream stream_;
  std::vector<float> a_ = std::vector<float>(64), b_ = a_, c_ = a_;
};

TEST_F(Cublaslt, AProductIsDescribedAndRankedOnce) {
  for (int i = 0; i < 10; ++i) multiply(product(8));
  EXPECT_EQ(cublaslt().calls["cublasLtMatmul"], 10);
  EXPECT_EQ(cublaslt().calls["cublasLtMatmulAlgoGetHeuristic"], 1);
  EXPECT_EQ(cublaslt().calls["cublasLtMatmulDescCreate"], 1);
  EXPECT_EQ(cublaslt().calls["cublasLtMatrixLayoutCreate"], 3);
  EXPECT_EQ(cublaslt().calls["cublasLtMatmulPreferenceCreate"], 1);
  EXPECT_EQ(cublaslt().alive, 4) << "the operation and three layouts";
  multiply(product(7));
  EXPECT_EQ(cublaslt().calls["cublasLtMatmulAlgoGetHeuristic"], 2);
  EXPECT_EQ(cublaslt().alive, 4) << "those of the last product";
}

TEST_F(Cublaslt, TheFastestOfTheFirstAlgorithmsIsTimedOnceAndKept) {
  cublaslt().algorithm_ns = {3000, 0, 1000, 2000};
  multiply(product(6));
  const std::vector<int> first = executed();
  EXPECT_EQ(first.size(), 13u) << "three algorithms, once and three times for their time";
  EXPECT_EQ(first.back(), 2);
  multiply(product(6));
  multiply(product(6));
  EXPECT_EQ(executed(), (std::vector{2, 2}));
}

// Executed again, a product that is added to C would be added twice; a reference takes the first.
TEST_F(Cublaslt, WhatMayNotBeRepeatedIsNot) {
  cublaslt().algorithm_ns = {3000, 1000};
  Gemm added = product(5);
  added.beta = 1;
  multiply(added);
  EXPECT_EQ(executed(), std::vector{0});
  multiply(product(5), Math::pedantic);
  EXPECT_EQ(executed(), std::vector{0});
}

// A training step's gelu; what no library keeps is refused, not left out.
TEST_F(Cublaslt, AForwardPassKeepsZ) {
  Gemm forward = product(2);
  forward.epilogue = gemm::Epilogue::bias_gelu_tanh;
  forward.bias = a_.data();
  multiply(forward);
  forward.z = b_.data();
  forward.ldz = 8;
  multiply(forward);
  EXPECT_EQ(cublaslt().epilogues,
            (std::vector<int>{CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS}));
  forward.epilogue = gemm::Epilogue::bias_relu;
  EXPECT_THROW(multiply(forward), Error);
}

TEST_F(Cublaslt, NothingIsKeptOfAProductThatItRefuses) {
  cublaslt().algorithm_ns = {0, 0};
  EXPECT_THROW(multiply(product(4)), NotSupported);
  cublaslt().algorithm_ns = {};
  EXPECT_THROW(multiply(product(3)), NotSupported);
}

} // namespace
} // namespace kg::vendor
