// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gemm.h"
#include "tests/oracle/oracle_gemm_epilogue.h"
#include "tests/support/vendor_runs.h"
#include "tests/unit/kernels/libraries/data.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace kg::vendor {
namespace {

std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// Those that this CPU runs: it may lack the instructions for a type (libraries/host/onednn.h).
template <class... Form>
Names variants_here(Dtype dtype, Form... form) {
  Names result = gemm_variants(dtype, form...);
  if (dtype == Dtype::f32) return result; // which every CPU has
  Stream stream;
  const Bytes one = upload(dtype, {1}, stream), product = upload(dtype, {0}, stream);
  const Gemm smallest = {dtype, false, false,          1, 1, 1, 1, one.data(), 1, one.data(),
                         1,     0,     product.data(), 1};
  std::erase_if(result, [&](std::string_view variant) {
    return !test::vendor_runs([&] { gemm(variant, smallest, Math::pedantic, stream); });
  });
  return result;
}

// One gemm with padded rows everywhere against three loops. With beta = 0, C starts as poison,
// which must not spread.
void check_gemm(std::string_view variant, Math math, Gemm problem) {
  Stream stream;
  const auto [rows_a, cols_a] =
      problem.transpose_a ? std::pair(problem.k, problem.m) : std::pair(problem.m, problem.k);
  const auto [rows_b, cols_b] =
      problem.transpose_b ? std::pair(problem.n, problem.k) : std::pair(problem.k, problem.n);
  problem.lda = cols_a + 3;
  problem.ldb = cols_b + 1;
  problem.ldc = problem.n + 2;
  const std::vector<double> a = widened(strided(rows_a, cols_a, problem.lda));
  const std::vector<double> b = widened(strided(rows_b, cols_b, problem.ldb));
  const std::vector<double> c = widened(strided(problem.m, problem.n, problem.ldc));
  const Bytes device_a = upload(problem.dtype, a, stream);
  const Bytes device_b = upload(problem.dtype, b, stream);
  const Bytes device_c = problem.beta != 0 ? upload(problem.dtype, c, stream)
                                           : Bytes(c.size() * size_of(problem.dtype));
  problem.a = device_a.data();
  problem.b = device_b.data();
  problem.c = device_c.data();
  gemm(variant, problem, math, stream);

  const std::vector<double> result = download(problem.dtype, device_c, stream);
  for (std::int64_t i = 0; i < problem.m; ++i)
    for (std::int64_t j = 0; j < problem.ldc; ++j) {
      const auto at = static_cast<std::size_t>(i * problem.ldc + j);
      if (j >= problem.n) { // untouched
        ASSERT_TRUE(problem.beta != 0 ? result[at] == kGap : std::isnan(result[at]))
            << i << ", " << j;
        continue;
      }
      double sum = 0;
      for (std::int64_t l = 0; l < problem.k; ++l)
        sum += a[static_cast<std::size_t>(problem.transpose_a ? l * problem.lda + i
                                                              : i * problem.lda + l)] *
               b[static_cast<std::size_t>(problem.transpose_b ? j * problem.ldb + l
                                                              : l * problem.ldb + j)];
      const double before = problem.beta != 0 ? problem.beta * c[at] : 0.0;
      ASSERT_EQ(result[at], problem.alpha * sum + before) << i << ", " << j;
    }
}

// Results of 16-bit types are integers up to 236, which bf16 holds.
TEST(Vendor, GemmHonoursTranspositionsScalarsAndLeadingDimensions) {
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : variants_here(dtype))
      for (const Math math : {Math::pedantic, Math::fastest})
        for (const bool transpose_a : {false, true})
          for (const bool transpose_b : {false, true})
            for (const std::array<std::int64_t, 3>& mnk : {std::array<std::int64_t, 3>{1, 1, 1},
                                                           {2, 3, 5},
                                                           {70, 33, dtype == Dtype::f32 ? 129 : 7},
                                                           {4, 6, 0}})
              for (const std::array<float, 2>& scalars :
                   {std::array<float, 2>{1, 0}, {-2, 0}, {0.5F, 1}, {2, -3}}) {
                SCOPED_TRACE(fmt::format("{} {} {}{} {} alpha {} beta {}", variant, name(dtype),
                                         transpose_a ? 't' : 'n', transpose_b ? 't' : 'n',
                                         fmt::join(mnk, " "), scalars[0], scalars[1]));
                check_gemm(variant, math,
                           {dtype, transpose_a, transpose_b, mnk[0], mnk[1], mnk[2], scalars[0],
                            nullptr, 0, nullptr, 0, scalars[1], nullptr, 0});
              }
}

// Small integers are numbers of TF32.
TEST(Vendor, GemmMayUseTf32) {
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : variants_here(dtype)) {
      SCOPED_TRACE(fmt::format("{} {}", variant, name(dtype)));
      check_gemm(variant, Math::fastest,
                 {dtype, true, false, 35, 33, 7, 2, nullptr, 0, nullptr, 0, -3, nullptr, 0, true});
    }
}

TEST(Vendor, GemmAddsTheBiasOfTheColumnAndActivates) {
  constexpr std::int64_t kM = 3, kN = 6;
  constexpr std::array kEpilogues = {
      std::pair(gemm::Epilogue::bias, std::optional<activation::Function>()),
      std::pair(gemm::Epilogue::bias_relu, std::optional(activation::Function::relu)),
      std::pair(gemm::Epilogue::bias_gelu, std::optional(activation::Function::gelu)),
      std::pair(gemm::Epilogue::bias_gelu_tanh, std::optional(activation::Function::gelu_tanh))};
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const auto& [epilogue, activation] : kEpilogues)
      for (const std::string_view variant : variants_here(dtype, epilogue)) {
        SCOPED_TRACE(fmt::format("{} {} {}", variant, name(dtype), static_cast<int>(epilogue)));
        std::vector<double> product, bias;
        for (std::size_t i = 0; i < kM * kN; ++i) product.push_back(0.25 * small_integer(i));
        for (std::size_t i = 0; i < kN; ++i) bias.push_back(0.5 * small_integer(i + 3));
        const Bytes column = upload(dtype, std::vector<double>(kM, 1), stream);
        const Bytes row = upload(dtype, std::vector<double>(kN, 0), stream);
        const Bytes device_bias = upload(dtype, bias, stream);
        const Bytes c = upload(dtype, product, stream);
        gemm(variant,
             {dtype, false, false, kM, kN, 1, 1, column.data(), 1, row.data(), kN, 1, c.data(), kN,
              false, epilogue, device_bias.data()},
             Math::pedantic, stream);
        const std::vector<double> expected = test::epilogue_oracle(activation, product, bias).y;
        const std::vector<double> actual = download(dtype, c, stream);
        const double tolerance = dtype == Dtype::f32 ? 1e-5 : 2e-2;
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(actual[i], expected[i], tolerance) << i;
      }
}

// C += column row, all of it 0 but C itself, which is dy; z has rows of its own.
TEST(Vendor, GemmMultipliesBySlopesAndAddsColumns) {
  constexpr std::int64_t kM = 3, kN = 8, kLeading = 16;
  constexpr std::array kEpilogues = {
      std::pair(gemm::Epilogue::drelu, activation::Function::relu),
      std::pair(gemm::Epilogue::dgelu, activation::Function::gelu),
      std::pair(gemm::Epilogue::dgelu_tanh, activation::Function::gelu_tanh)};
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const auto& [epilogue, activation] : kEpilogues)
      for (const auto gradient : {gemm::BiasGradient::none, gemm::BiasGradient::of_c})
        for (const std::string_view variant : variants_here(dtype, epilogue, gradient)) {
          SCOPED_TRACE(fmt::format("{} {} {}", variant, name(dtype), static_cast<int>(epilogue)));
          std::vector<double> dy, z, stored(kM * kLeading, kGap);
          for (std::size_t i = 0; i < kM * kN; ++i) {
            dy.push_back(0.25 * small_integer(i));
            z.push_back(0.5 * small_integer(i + 5));
            stored[i / kN * kLeading + i % kN] = z.back();
          }
          const Bytes column = upload(dtype, std::vector<double>(kM, 1), stream);
          const Bytes row = upload(dtype, std::vector<double>(kN, 0), stream);
          Bytes device_z = upload(dtype, stored, stream);
          const Bytes c = upload(dtype, dy, stream);
          const Bytes sums = upload(dtype, std::vector<double>(kN, kGap), stream);
          Gemm problem = {dtype, false,      false, kM, kN,       1,  1,     column.data(),
                          1,     row.data(), kN,    1,  c.data(), kN, false, epilogue};
          problem.z = device_z.data();
          problem.ldz = kLeading;
          problem.bias_gradient = gradient;
          problem.dbias = sums.data();
          gemm(variant, problem, Math::pedantic, stream);
          const std::vector<double> dz = test::unary_backward_oracle(activation, z, dy);
          const double tolerance = dtype == Dtype::f32 ? 1e-5 : 2e-2;
          const std::vector<double> actual = download(dtype, c, stream);
          for (std::size_t i = 0; i < dz.size(); ++i) ASSERT_NEAR(actual[i], dz[i], tolerance) << i;
          if (gradient == gemm::BiasGradient::none) continue;
          const std::vector<double> right = test::column_sums(dz, kN);
          const std::vector<double> added = download(dtype, sums, stream);
          for (std::size_t i = 0; i < right.size(); ++i)
            ASSERT_NEAR(added[i], right[i], 3 * tolerance) << "sum " << i;
        }
}

// A is stored 3 x 2 and B 3 x 4, with gaps.
TEST(Vendor, GemmAddsRowsOfAnOperand) {
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const auto gradient : {gemm::BiasGradient::of_a, gemm::BiasGradient::of_b})
      for (const std::string_view variant : variants_here(dtype, gemm::Epilogue::none, gradient)) {
        SCOPED_TRACE(fmt::format("{} {} {}", variant, name(dtype), static_cast<int>(gradient)));
        const Bytes a = upload(dtype, {1, 2, kGap, 3, 4, kGap, 5, 6}, stream);
        const Bytes b = upload(dtype, {1, 0, 0, 2, kGap, 0, 1, 0, 3, kGap, 0, 0, 1, 4}, stream);
        const Bytes c(8 * size_of(dtype));
        const bool of_a = gradient == gemm::BiasGradient::of_a;
        const Bytes sums = upload(dtype, std::vector<double>(of_a ? 2 : 4, kGap), stream);
        Gemm problem = {dtype, true, false, 2, 4, 3, 1, a.data(), 3, b.data(), 5, 0, c.data(), 4};
        problem.bias_gradient = gradient;
        problem.dbias = sums.data();
        gemm(variant, problem, Math::pedantic, stream);
        EXPECT_EQ(download(dtype, c, stream), (std::vector<double>{1, 3, 5, 31, 2, 4, 6, 40}));
        EXPECT_EQ(download(dtype, sums, stream),
                  of_a ? (std::vector<double>{9, 12}) : (std::vector<double>{1, 1, 1, 9}));
      }
}

// Products of 1 x 2 and 2 x 2, with gaps between the matrices; A of each, or one for all.
TEST(Vendor, GemmMultipliesBatches) {
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : variants_here(dtype))
      for (const bool shares_a : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} shares A: {}", variant, name(dtype), shares_a));
        const Bytes a = upload(dtype, {1, 2, kGap, 3, 4}, stream);
        const Bytes b = upload(dtype, {1, 2, 3, 4, kGap, kGap, 5, 6, 7, 8}, stream);
        const Bytes c = upload(dtype, {1, 1, kGap, kGap, 2, 2}, stream);
        Gemm batch = {dtype, false, false, 1, 2, 2, 1, a.data(), 2, b.data(), 2, 1, c.data(), 2};
        batch.batch = 2;
        batch.stride_a = shares_a ? 0 : 3;
        batch.stride_b = 6;
        batch.stride_c = 4;
        gemm(variant, batch, Math::pedantic, stream);
        const std::vector<double> second =
            shares_a ? std::vector<double>{21, 24} : std::vector<double>{45, 52};
        EXPECT_EQ(download(dtype, c, stream),
                  (std::vector<double>{8, 11, kGap, kGap, second[0], second[1]}));
      }
}

TEST(Vendor, GemmWithAlphaZeroIgnoresItsOperands) {
  Stream stream;
  const Bytes operand(4 * sizeof(float)); // poison
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : variants_here(dtype)) {
      const Bytes c = upload(dtype, {1, 2, 3, 4}, stream);
      gemm(variant,
           {dtype, false, false, 2, 2, 2, 0, operand.data(), 2, operand.data(), 2, 3, c.data(), 2},
           Math::pedantic, stream);
      EXPECT_EQ(download(dtype, c, stream), (std::vector<double>{3, 6, 9, 12})) << variant;
    }
}

// No inner dimension: C = beta C, with operands that may be null and leading dimensions that may be
// 0. No outer one: nothing.
TEST(Vendor, GemmTakesEmptyMatrices) {
  Stream stream;
  for (const std::string_view variant : variants_here(Dtype::f32)) {
    auto c = DeviceBuffer<float>::from_host(std::vector<float>{1, 2, 3, 4}, stream);
    gemm(variant, {Dtype::f32, false, false, 0, 2, 2, 1, nullptr, 2, nullptr, 2, 0, c.data(), 2},
         Math::pedantic, stream);
    gemm(variant, {Dtype::f32, false, false, 2, 0, 2, 1, nullptr, 2, nullptr, 0, 0, c.data(), 2},
         Math::pedantic, stream);
    EXPECT_EQ(download(c, stream), (std::vector<float>{1, 2, 3, 4})) << variant;
    gemm(variant, {Dtype::f32, false, true, 2, 2, 0, 1, nullptr, 0, nullptr, 0, 2, c.data(), 2},
         Math::pedantic, stream);
    EXPECT_EQ(download(c, stream), (std::vector<float>{2, 4, 6, 8})) << variant;
  }
}

TEST(Vendor, GemmNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  ASSERT_FALSE(variants_here(Dtype::f32).empty());
  expect_error([&] { gemm("cufft", {}, Math::pedantic, stream); },
               "use one of: " + std::string(variants_here(Dtype::f32).front()));
  const Gemm good = {Dtype::f32, true, false, 2, 3, 4, 1, p, 2, p, 3, 0, p, 3};
  const auto with = [&](std::int64_t Gemm::*field, std::int64_t value) {
    Gemm bad = good;
    bad.*field = value;
    return [&stream, bad] { gemm(variants_here(Dtype::f32).front(), bad, Math::pedantic, stream); };
  };
  expect_error(with(&Gemm::k, -4), "k is -4");
  expect_error(with(&Gemm::batch, -1), "batch is -1");
  expect_error(with(&Gemm::stride_b, -2), "stride_b is -2");
  expect_error(with(&Gemm::lda, 1), "lda is 1");
  expect_error(with(&Gemm::ldb, 2), "ldb is 2");
  expect_error(with(&Gemm::ldc, 2), "ldc is 2");
  const auto gradient_of = [&](gemm::Epilogue epilogue, gemm::BiasGradient gradient) {
    Gemm bad = good;
    bad.epilogue = epilogue;
    bad.bias_gradient = gradient;
    return [&stream, bad] {
      gemm(variants_here(Dtype::f32, bad.epilogue, bad.bias_gradient).front(), bad, Math::pedantic,
           stream);
    };
  };
  expect_error(gradient_of(gemm::Epilogue::dgelu_tanh, gemm::BiasGradient::none), "z is null");
  expect_error(gradient_of(gemm::Epilogue::none, gemm::BiasGradient::of_b), "dbias is null");
}

} // namespace
} // namespace kg::vendor
