// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The epilogues of gemm, for gemm_test.cu: against exact fills, the oracle and the libraries that
// have them. Tolerances and their derivation: tests/oracle/oracle_gemm_epilogue.h.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "tests/gemm_fixture.h"
#include "tests/oracle/oracle_gemm_epilogue.h"
#include "tests/support/metamorphic.h"
#include "tests/support/vacuity.h"

namespace kg::test {
namespace {

using namespace gemm_case;
using gemm::Epilogue;

inline constexpr Epilogue kActivating[] = {Epilogue::bias, Epilogue::bias_relu, Epilogue::bias_gelu,
                                           Epilogue::bias_gelu_tanh};

// Whole 16-byte accesses to C, some of them cut at the edge, and none.
TYPED_TEST(Gemm, ExactEpilogues) {
  struct Rows {
    std::int64_t n, gap;
  };
  for (const Variant variant : variants<TypeParam>())
    for (const Epilogue epilogue : {Epilogue::bias, Epilogue::bias_relu})
      for (const auto& [n, gap] : {Rows{136, 0}, Rows{131, 5}, Rows{70, 1}})
        for (const bool keeps_z : {false, true}) {
          const Setup s = fitted({.m = 67,
                                  .n = n,
                                  .k = 24,
                                  .transpose_b = Transpose::yes,
                                  .alpha = 2 * kExactAlpha<TypeParam>,
                                  .beta = -3,
                                  .gap = gap,
                                  .epilogue = epilogue,
                                  .keeps_z = keeps_z},
                                 variant);
          const Data data = exact_data<TypeParam>(s, ProductRange::r1, variant);
          const EpilogueOracle expected =
              epilogue_oracle(activation_of(epilogue), oracle(s, data).value, data.bias);
          const CaseContext where = context<TypeParam>(s, data, gemm::name(variant));
          const Outputs<TypeParam> outputs = run_all<TypeParam>(s, data, variant);
          const std::vector<double> c = rounded<TypeParam>(expected.y);
          EXPECT_TRUE(
              verdict(compare(observe(outputs.c), {dtype_of<TypeParam>, s.shape(), c, {}}), where));
          if (!keeps_z) continue;
          const std::vector<double> z = rounded<TypeParam>(expected.z);
          EXPECT_TRUE(
              verdict(compare(observe(outputs.z), {dtype_of<TypeParam>, s.shape(), z, {}}), where))
              << "z";
        }
}

// Also of nothing but beta C and the bias.
TYPED_TEST(Gemm, EpiloguesAgainstOracleAndVendor) {
  for (const Epilogue epilogue : kActivating) {
    const auto vendors =
        vendor::gemm_variants(dtype_of<TypeParam>, static_cast<vendor::GemmEpilogue>(epilogue));
    if (vendors.empty()) report_no_vendor("gemm", dtype_of<TypeParam>, gemm::name(epilogue));
    for (const Variant variant : variants<TypeParam>())
      for (const std::int64_t k : {0, 150}) {
        const Setup s = fitted({.m = 70,
                                .n = 72,
                                .k = k,
                                .alpha = 0.1f,
                                .beta = 0.7f,
                                .epilogue = epilogue,
                                .keeps_z = true},
                               variant);
        const Data data = normal_data<TypeParam>(s);
        const Data ours = multiplied<TypeParam>(data, variant);
        const GemmOracle product = oracle(s, ours);
        const std::optional<UnaryOp> activation = activation_of(epilogue);
        const EpilogueOracle expected = epilogue_oracle(activation, product.value, data.bias);
        const EpilogueTolerances bounds =
            epilogue_tolerances(activation, dtype_of<TypeParam>, expected,
                                sum_tolerances<TypeParam>(product, k, variant));
        const Expectation e{dtype_of<TypeParam>, s.shape(), expected.y, bounds.y};
        EXPECT_TRUE(not_vacuous(e));
        const CaseContext where = context<TypeParam>(s, data, gemm::name(variant));
        const Outputs<TypeParam> outputs = run_all<TypeParam>(s, data, variant);
        const Observed c = observe(outputs.c);
        EXPECT_TRUE(verdict(compare(c, e), where));
        EXPECT_TRUE(verdict(
            compare(observe(outputs.z), {dtype_of<TypeParam>, s.shape(), expected.z, bounds.z}),
            where))
            << "z";
        if (k == 0) continue;
        std::vector<double> theirs = library_tolerances<TypeParam>(product, k, variant);
        if (theirs.empty()) theirs = sum_tolerances<TypeParam>(product, k, variant);
        theirs = library_epilogue_tolerances(activation, dtype_of<TypeParam>, expected, theirs);
        for (const std::string_view vendor : vendors)
          if (const auto library = library_result<TypeParam>(vendor, s, data, variant)) {
            EXPECT_TRUE(verdict(compare_with_vendor(c, *library, e, theirs), where))
                << "vendor " << vendor;
          }
      }
  }
}

// A NaN of the bias reaches its column, an infinity what the activation makes of it.
TYPED_TEST(Gemm, SpecialValuesOfTheBiasStayInTheirColumn) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const Variant variant : variants<TypeParam>())
    for (const Epilogue epilogue : kActivating)
      for (const double special : {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf}) {
        const Setup s{.m = 5, .n = 9, .k = 3, .epilogue = epilogue};
        Data data = normal_data<TypeParam>(s);
        data.bias[7] = special;
        const std::optional<UnaryOp> activation = activation_of(epilogue);
        const GemmOracle product = oracle(s, multiplied<TypeParam>(data, variant));
        const EpilogueOracle expected = epilogue_oracle(activation, product.value, data.bias);
        const std::vector<double> sums = sum_tolerances<TypeParam>(product, s.k, variant);
        const std::vector<double> bounds =
            epilogue_tolerances(activation, dtype_of<TypeParam>, expected, sums).y;
        EXPECT_TRUE(verdict(compare(observe(run<TypeParam>(s, data, variant)),
                                    {dtype_of<TypeParam>, s.shape(), expected.y, bounds}),
                            context<TypeParam>(s, data, gemm::name(variant))))
            << special;
      }
}

// An epilogue changes C also where the product does not.
TYPED_TEST(Gemm, EpiloguesOfCAlone) {
  for (const Variant variant : variants<TypeParam>()) {
    const Setup s{.m = 3, .n = 5, .k = 0, .beta = 1, .epilogue = Epilogue::bias};
    const Data data = exact_data<TypeParam>(s, ProductRange::r1, variant);
    const std::vector<double> expected = rounded<TypeParam>(bias_sums(data.c, data.bias));
    EXPECT_TRUE(verdict(compare(observe(run<TypeParam>(s, data, variant)),
                                {dtype_of<TypeParam>, s.shape(), expected, {}}),
                        context<TypeParam>(s, data, gemm::name(variant))));
  }
}

TYPED_TEST(Gemm, RefusesEpiloguesWithoutTheirArguments) {
  Stream stream;
  const DeviceBuffer<TypeParam> memory(64);
  using Problem = gemm::BasicProblem<TypeParam>;
  const Problem valid{.m = 2,
                      .n = 3,
                      .k = 4,
                      .a = memory.data(),
                      .lda = 4,
                      .b = memory.data(),
                      .ldb = 3,
                      .c = memory.data() + 32,
                      .ldc = 3};
  const auto message = [&stream](const Problem& problem) -> std::string {
    try {
      gemm::run(problem, Variant::naive, stream);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  Problem p = valid;
  p.epilogue = Epilogue::bias_relu;
  EXPECT_NE(message(p).find("bias is null; the epilogue bias_relu"), std::string::npos);
  p.bias = memory.data() + 16;
  p.z = memory.data() + 48;
  p.ldz = 2;
  EXPECT_NE(message(p).find("ldz is 2"), std::string::npos);
  p.epilogue = Epilogue::none;
  p.ldz = 3;
  EXPECT_NE(message(p).find("no epilogue"), std::string::npos);
  p.z = nullptr;
  EXPECT_NE(message(p).find("no epilogue"), std::string::npos);
}

} // namespace
} // namespace kg::test
