// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches of gemm, for gemm_test.cu: against exact fills, the oracle and the libraries, and that
// the products do not know of each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "tests/gemm_epilogue_tests.h"
#include "tests/gemm_fixture.h"
#include "tests/oracle/oracle_gemm_epilogue.h"
#include "tests/support/metamorphic.h"
#include "tests/support/vacuity.h"

namespace kg::test {
namespace {

using namespace gemm_case;

// Matrices with and without gaps, with an odd number of elements between them, with their rows side
// by side, and shared.
TYPED_TEST(Gemm, ExactBatches) {
  constexpr Batch kBatches[] = {{.count = 3, .gap = 8},
                                {.count = 2, .gap = 1},
                                {.count = 3, .side_by_side = true},
                                {.count = 2, .shares_a = true},
                                {.count = 3, .shares_b = true, .gap = 16}};
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose a : kTransposes)
      for (const Transpose b : kTransposes)
        for (const Batch& batch : kBatches) {
          const Setup s = fitted({.m = 66,
                                  .n = 24,
                                  .k = 40,
                                  .transpose_a = a,
                                  .transpose_b = b,
                                  .alpha = 2 * kExactAlpha<TypeParam>,
                                  .beta = -3,
                                  .batch = batch},
                                 variant);
          expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1, variant), variant);
        }
}

// One bias for all, and a z of each.
TYPED_TEST(Gemm, ExactBatchesWithEpilogues) {
  for (const Variant variant : variants<TypeParam>())
    for (const bool side_by_side : {false, true}) {
      const Setup s{.m = 65,
                    .n = 24,
                    .k = 8,
                    .alpha = kExactAlpha<TypeParam>,
                    .epilogue = gemm::Epilogue::bias_relu,
                    .keeps_z = true,
                    .batch = {.count = 3, .side_by_side = side_by_side, .gap = 8}};
      const Data data = exact_data<TypeParam>(s, ProductRange::r1, variant);
      const EpilogueOracle expected =
          epilogue_oracle(UnaryOp::relu, oracle(s, data).value, data.bias);
      const CaseContext where = context<TypeParam>(s, data, gemm::name(variant));
      const Outputs<TypeParam> outputs = run_all<TypeParam>(s, data, variant);
      EXPECT_TRUE(verdict(compare(observe(outputs.c), exactly(dtype_of<TypeParam>, s.shape(),
                                                              rounded<TypeParam>(expected.y))),
                          where));
      EXPECT_TRUE(verdict(compare(observe(outputs.z), exactly(dtype_of<TypeParam>, s.shape(),
                                                              rounded<TypeParam>(expected.z))),
                          where))
          << "z";
    }
}

TYPED_TEST(Gemm, BatchesAgainstOracleAndVendor) {
  const auto vendors = vendor::gemm_variants(dtype_of<TypeParam>);
  for (const Variant variant : variants<TypeParam>())
    for (const bool shares_b : {false, true}) {
      const Setup s = fitted({.m = 35,
                              .n = 40,
                              .k = 150,
                              .transpose_a = Transpose::yes,
                              .alpha = 0.7f,
                              .beta = 1.3f,
                              .batch = {.count = 3, .shares_b = shares_b, .gap = 5}},
                             variant);
      const Data data = normal_data<TypeParam>(s);
      const GemmOracle expected = oracle(s, multiplied<TypeParam>(data, variant));
      const std::vector<double> tolerance = tolerances<TypeParam>(expected, s.k, variant);
      const std::vector<double> theirs = library_tolerances<TypeParam>(expected, s.k, variant);
      const std::vector<double> unit = error_units(dtype_of<TypeParam>, expected.condition);
      const Expectation e{dtype_of<TypeParam>, s.shape(), expected.value, tolerance, unit};
      EXPECT_TRUE(not_vacuous(e));
      const CaseContext where = context<TypeParam>(s, data, gemm::name(variant));
      const Observed ours = observe(run<TypeParam>(s, data, variant));
      const Comparison comparison = compare(ours, e);
      EXPECT_TRUE(verdict(comparison, where)) << hint(s, data, comparison);
      for (const std::string_view vendor : vendors) {
        const auto library = library_result<TypeParam>(vendor, s, data, variant);
        if (!library) continue;
        EXPECT_TRUE(verdict(compare_with_vendor(ours, *library, e, theirs), where))
            << "vendor " << vendor;
      }
    }
}

// Each product has the bits that it has alone, also beside one of nothing but NaN.
TYPED_TEST(Gemm, ProductsOfABatchAreIndependent) {
  const Setup alone{.m = 33, .n = 20, .k = 19, .alpha = 0.7f, .beta = 1.3f};
  Setup s = alone;
  s.batch.count = 3;
  for (const Variant variant : variants<TypeParam>()) {
    Data data = normal_data<TypeParam>(s);
    const auto part = [](const std::vector<double>& all, std::int64_t i, std::int64_t size) {
      return std::vector<double>(all.begin() + i * size, all.begin() + (i + 1) * size);
    };
    const std::int64_t middle = s.m * s.k;
    std::fill(data.a.begin() + middle, data.a.begin() + 2 * middle,
              std::numeric_limits<double>::quiet_NaN());
    const std::vector<TypeParam> all = run<TypeParam>(s, data, variant);
    const std::int64_t size = s.m * s.n;
    for (const std::int64_t i : {0, 2}) {
      const Data own{data.fill, part(data.a, i, s.m * s.k), part(data.b, i, s.k * s.n),
                     part(data.c, i, size)};
      EXPECT_TRUE(same_bits("product " + std::to_string(i),
                            {all.begin() + i * size, all.begin() + (i + 1) * size},
                            run<TypeParam>(alone, own, variant)))
          << gemm::name(variant);
    }
  }
}

// More products than a grid's y could count. No variant has them there, and those with whole tiles
// for each would take long.
TYPED_TEST(Gemm, ManyProducts) {
  const Setup s{.m = 1,
                .n = 1,
                .k = 2,
                .alpha = kExactAlpha<TypeParam>,
                .batch = {.count = device_properties().max_grid_yz + 4466}};
  expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1, Variant::naive),
                          Variant::naive);
}

TYPED_TEST(Gemm, EmptyBatchesLaunchNothing) {
  Stream stream;
  const gemm::BasicProblem<TypeParam> p{
      .m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 3, .ldc = 3, .batch = 0};
  const LaunchRecorder recorder;
  for (const Variant variant : variants<TypeParam>()) {
    gemm::BasicProblem<TypeParam> problem = p;
    problem.math = math_of<TypeParam>(variant);
    EXPECT_EQ(gemm::run(problem, variant, stream), variant);
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Gemm, RefusesBatchesThatOverlap) {
  Stream stream;
  const DeviceBuffer<TypeParam> memory(256);
  using Problem = gemm::BasicProblem<TypeParam>;
  const Problem valid{.m = 2,
                      .n = 3,
                      .k = 0,
                      .a = memory.data(),
                      .lda = 4,
                      .b = memory.data(),
                      .ldb = 3,
                      .c = memory.data() + 128,
                      .ldc = 7,
                      .batch = 2,
                      .stride_c = 10};
  const auto message = [&](std::int64_t Problem::*field, std::int64_t value) -> std::string {
    Problem p = valid;
    p.*field = value;
    try {
      gemm::run(p, Variant::naive, stream);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message(&Problem::batch, -1).find("batch is -1"), std::string::npos);
  EXPECT_NE(message(&Problem::stride_a, -1).find("stride_a is -1"), std::string::npos);
  EXPECT_NE(message(&Problem::stride_b, -1).find("stride_b is -1"), std::string::npos);
  for (const std::int64_t overlapping : {-3, 0, 2, 5, 9}) // rows of 3, 7 apart
    EXPECT_NE(
        message(&Problem::stride_c, overlapping).find("stride_c is " + std::to_string(overlapping)),
        std::string::npos);
  for (const std::int64_t apart : {3, 4, 10})
    EXPECT_EQ(message(&Problem::stride_c, apart), "accepted") << apart;
}

} // namespace
} // namespace kg::test
