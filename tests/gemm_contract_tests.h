// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What gemm promises beside its sums, for gemm_test.cu: scalars as in BLAS, zeros, empty problems,
// which variant runs, and which arguments are refused.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "runtime/launch.h"
#include "tests/gemm_fixture.h"
#include "tests/support/far_rows.h"
#include "tests/support/metamorphic.h"
#include "tests/support/vacuity.h"

namespace kg::test {
namespace {

using namespace gemm_case;

TYPED_TEST(Gemm, AlphaAndBeta) {
  for (const Variant variant : variants<TypeParam>())
    for (const float alpha : {0.0f, 1.0f, -1.0f, 0.7f})
      for (const float beta : {0.0f, 1.0f, -1.0f, 0.7f})
        for (const std::int64_t k : {0, 40}) {
          const Setup s = fitted({.m = 65, .n = 20, .k = k, .alpha = alpha, .beta = beta}, variant);
          const Data data = normal_data<TypeParam>(s);
          const GemmOracle expected = oracle(s, multiplied<TypeParam>(data, variant));
          const std::vector<double> tolerance = tolerances<TypeParam>(expected, k, variant);
          const Expectation e{dtype_of<TypeParam>, s.shape(), expected.value, tolerance};
          const bool zero = beta == 0 && (alpha == 0 || k == 0);
          EXPECT_TRUE(not_vacuous(e, zero ? Degenerate::zero : Degenerate::no));
          EXPECT_TRUE(verdict(compare(observe(run<TypeParam>(s, data, variant)), e),
                              context<TypeParam>(s, data, gemm::name(variant))))
              << "alpha " << alpha << ", beta " << beta;
        }
}

// BLAS: what a zero factor multiplies is not read, so its NaN does not spread. Fresh buffers are
// NaN throughout.
TYPED_TEST(Gemm, ZeroFactorsReadNothing) {
  constexpr std::int64_t kM = 65, kN = 66, kK = 40;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Variant variant : variants<TypeParam>()) {
    Stream stream;
    const DeviceBuffer<TypeParam> a(kM * kK);
    const DeviceBuffer<TypeParam> b(kK * kN);
    const auto c = DeviceBuffer<TypeParam>::from_host(
        std::vector<TypeParam>(kM * kN, from_float<TypeParam>(3)), stream);
    const DeviceBuffer<float> workspace(kTestedParts * kM * (kN + 2));
    const auto c_after = [&](float alpha, std::int64_t k, float beta) {
      const gemm::BasicProblem<TypeParam> p{.m = kM,
                                            .n = kN,
                                            .k = k,
                                            .alpha = alpha,
                                            .a = a.data(),
                                            .lda = kK,
                                            .b = b.data(),
                                            .ldb = kN,
                                            .beta = beta,
                                            .c = c.data(),
                                            .ldc = kN,
                                            .math = math_of<TypeParam>(variant),
                                            .workspace = workspace.data(),
                                            .parts = kTestedParts};
      EXPECT_EQ(gemm::run(p, variant, stream), variant);
      return c.to_host(stream);
    };
    const auto all = [](float value) {
      return std::vector<TypeParam>(kM * kN, from_float<TypeParam>(value));
    };
    EXPECT_TRUE(same_bits("C = 0 A B + 2 C", c_after(0, kK, 2), all(6)));
    EXPECT_TRUE(same_bits("C = NaN 0 + 2 C", c_after(nan, 0, 2), all(12)));
    EXPECT_TRUE(same_bits("C = NaN 0 + 0 C", c_after(nan, 0, 0), all(0)));
    const LaunchRecorder recorder;
    EXPECT_TRUE(same_bits("C = 0 A B + C", c_after(0, kK, 1), all(0)));
    EXPECT_TRUE(recorder.launches().empty()) << "C = 0 A B + C";
  }
}

// Sums below the smallest normal number of the result's type, of operands that are above it.
TYPED_TEST(Gemm, SubnormalResults) {
  const int least = std::ilogb(min_subnormal(dtype_of<TypeParam>));
  for (const Variant variant : variants<TypeParam>())
    for (const float beta : {0.0f, 1.0f}) {
      const Setup s = fitted({.m = 66, .n = 20, .k = 40, .beta = beta}, variant);
      const auto scaled_integers = [](std::int64_t count, Tensor tensor, int exponent) {
        std::vector<double> values = integers(dtype_of<TypeParam>, count, 1, tensor).values;
        for (double& value : values) value = std::ldexp(value, exponent);
        return values;
      };
      expect_exact<TypeParam>(s,
                              {"subnormal", scaled_integers(s.m * s.k, Tensor::a, least / 2),
                               scaled_integers(s.k * s.n, Tensor::b, least - least / 2),
                               scaled_integers(s.m * s.n, Tensor::c, least)},
                              variant);
    }
}

// The sum starts from +0, so that only alpha and beta C decide the sign of a zero.
TYPED_TEST(Gemm, SignsOfZeros) {
  for (const Variant variant : variants<TypeParam>())
    for (const float alpha : {1.0f, -1.0f})
      for (const float beta : {0.0f, 1.0f})
        for (const double zero : {0.0, -0.0}) {
          const Setup s{.m = 5, .n = 6, .k = 3, .alpha = alpha, .beta = beta};
          const Data data{"zeros", std::vector<double>(15, -1), std::vector<double>(18, 0.0),
                          std::vector<double>(30, zero)};
          const std::vector<double> expected(30, beta == 0 ? alpha * 0.0 : alpha * 0.0 + zero);
          EXPECT_TRUE(verdict(compare(observe(run<TypeParam>(s, data, variant)),
                                      exactly(dtype_of<TypeParam>, s.shape(), expected)),
                              context<TypeParam>(s, data, gemm::name(variant))))
              << "alpha " << alpha << ", beta " << beta << ", C " << zero;
        }
}

TYPED_TEST(Gemm, NothingToDoLaunchesNothing) {
  for (const Variant variant : variants<TypeParam>())
    for (const auto& [m, n, k] : {ProductShape{0, 5, 3}, {5, 0, 3}, {0, 0, 0}}) {
      const LaunchRecorder recorder;
      const Setup s{.m = m, .n = n, .k = k};
      EXPECT_TRUE(run<TypeParam>(s, normal_data<TypeParam>(s), variant).empty());
      EXPECT_TRUE(recorder.launches().empty());
    }
}

// Leading dimensions beyond 32 bits: each matrix is stored in two rows.
TYPED_TEST(Gemm, RowsFarApart) {
  using T = TypeParam;
  if (const auto reason = FarRows<T>::reason_to_skip(3); !reason.empty()) GTEST_SKIP() << reason;
  Stream stream;
  for (const Setup& s : {Setup{.m = 2, .n = 72, .k = 2},
                         Setup{.m = 2, .n = 72, .k = 2, .transpose_a = Transpose::yes},
                         Setup{.m = 2, .n = 2, .k = 72, .transpose_b = Transpose::yes},
                         Setup{2, 2, 2, Transpose::yes, Transpose::yes}}) {
    const auto a = elements<T>(integers(dtype_of<T>, s.m * s.k, 8, Tensor::a).values);
    const auto b = elements<T>(integers(dtype_of<T>, s.k * s.n, 8, Tensor::b).values);
    const auto dense_a = DeviceBuffer<T>::from_host(a, stream);
    const auto dense_b = DeviceBuffer<T>::from_host(b, stream);
    const FarRows<T> far_a = far_rows(a, stream), far_b = far_rows(b, stream), far_c(s.n);
    for (const Variant variant : variants<T>()) {
      const DeviceBuffer<T> dense_c(static_cast<std::size_t>(s.m * s.n));
      far_c.put(poisoned<T>(2 * s.n), stream);
      gemm::BasicProblem<T> p{.transpose_a = s.transpose_a,
                              .transpose_b = s.transpose_b,
                              .m = s.m,
                              .n = s.n,
                              .k = s.k,
                              .a = dense_a.data(),
                              .lda = leading(s.a()),
                              .b = dense_b.data(),
                              .ldb = leading(s.b()),
                              .c = dense_c.data(),
                              .ldc = s.n,
                              .math = math_of<T>(variant),
                              .parts = variant == Variant::split_k ? kTestedParts : 0};
      const DeviceBuffer<std::byte> workspace(gemm::workspace_bytes(p, variant));
      p.workspace = workspace.data();
      gemm::run(p, variant, stream);
      p.a = far_a.data(), p.lda = far_a.stride();
      p.b = far_b.data(), p.ldb = far_b.stride();
      p.c = far_c.data(), p.ldc = far_c.stride();
      gemm::run(p, variant, stream);
      EXPECT_TRUE(
          same_bits("rows beyond 2^31 elements", far_c.get(stream), dense_c.to_host(stream)))
          << gemm::name(variant) << ", " << gemm::transposition_name(s.transpose_a, s.transpose_b);
      EXPECT_NO_THROW(far_c.check_guards());
    }
  }
}

// f32 is rounded to TF32 by those only who allow it.
TYPED_TEST(Gemm, AutomaticAvoidsTilesThatAreMostlyPadding) {
  const auto chosen = [](std::int64_t m, std::int64_t n, std::int64_t k, gemm::Math math) {
    Stream stream;
    const Setup s{.m = m, .n = n, .k = k};
    Matrices<TypeParam> matrices(s, normal_data<TypeParam>(s), stream);
    gemm::BasicProblem<TypeParam> problem = matrices.problem(Variant::naive);
    problem.math = math;
    return gemm::run(problem, Variant::automatic, stream);
  };
  const Variant fastest = variants<TypeParam>().back();
  for (const gemm::Math math : {gemm::Math::f32, gemm::Math::tf32}) {
    EXPECT_EQ(chosen(3, 5, 3, math), Variant::naive);
    EXPECT_EQ(chosen(8, 65, 128, math), Variant::skinny);
    EXPECT_EQ(chosen(8, 1024, 196, math), Variant::skinny); // im2col's, of 7x7 on 4 channels
    EXPECT_EQ(chosen(65, 1, 128, math), Variant::skinny);
    EXPECT_NE(chosen(65, 8, 127, math), Variant::skinny);
    EXPECT_NE(chosen(9, 65, 128, math), Variant::skinny);
    const bool exact = dtype_of<TypeParam> == Dtype::f32 && math == gemm::Math::f32;
    EXPECT_EQ(chosen(16, 16, 40, math), exact ? Variant::tiled : fastest) << gemm::name(math);
  }
}

TYPED_TEST(Gemm, RefusesVariantsOfOtherTypes) {
  Stream stream;
  for (const Variant variant : gemm::kVariants) {
    if (gemm::supports<TypeParam>(variant)) continue;
    try {
      gemm::run(gemm::BasicProblem<TypeParam>{}, variant, stream);
      ADD_FAILURE() << gemm::name(variant);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("there is no variant"), std::string::npos);
    }
  }
}

TYPED_TEST(Gemm, RefusesWrongExtents) {
  const auto message = [](const gemm::BasicProblem<TypeParam>& problem) -> std::string {
    Stream stream;
    try {
      gemm::run(problem, Variant::automatic, stream);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  const gemm::BasicProblem<TypeParam> valid{
      .transpose_a = Transpose::yes, .m = 4, .n = 5, .k = 6, .lda = 4, .ldb = 5, .ldc = 5};
  const auto with = [&valid](std::int64_t gemm::BasicProblem<TypeParam>::*field,
                             std::int64_t value) {
    gemm::BasicProblem<TypeParam> p = valid;
    p.*field = value;
    return p;
  };
  using Problem = gemm::BasicProblem<TypeParam>;
  EXPECT_NE(message(with(&Problem::m, -1)).find("m is -1"), std::string::npos);
  EXPECT_NE(message(with(&Problem::n, -1)).find("n is -1"), std::string::npos);
  EXPECT_NE(message(with(&Problem::k, -1)).find("k is -1"), std::string::npos);
  EXPECT_NE(message(with(&Problem::lda, 3)).find("lda is 3"), std::string::npos);
  EXPECT_NE(message(with(&Problem::ldb, 4)).find("ldb is 4"), std::string::npos);
  EXPECT_NE(message(with(&Problem::ldc, 4)).find("ldc is 4"), std::string::npos);
}

} // namespace
} // namespace kg::test
