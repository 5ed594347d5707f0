// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the backward pass of a linear layer asks of gemm, for gemm_test.cu: slopes at a z that was
// kept, and gradients of a bias. A layer whole: gemm_layer_tests.h. Tolerances and their
// derivation: tests/oracle/oracle_gemm_epilogue.h.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "runtime/launch.h"
#include "tests/gemm_fixture.h"
#include "tests/oracle/oracle_gemm_epilogue.h"
#include "tests/support/metamorphic.h"
#include "tests/support/vacuity.h"

namespace kg::test {
namespace {

using namespace gemm_case;
using gemm::BiasGradient;
using gemm::Epilogue;

inline constexpr Epilogue kDifferentiating[] = {Epilogue::drelu, Epilogue::dgelu,
                                                Epilogue::dgelu_tanh};

template <class T>
std::vector<double> widened(const std::vector<T>& values) {
  std::vector<double> result;
  for (const T value : values) result.push_back(to_double(value));
  return result;
}

// dbias is the sum of the columns of what is stored, which `stored` is.
template <class T>
void expect_column_sums(const Setup& s, const std::vector<T>& stored, const std::vector<T>& dbias,
                        const CaseContext& where) {
  const std::vector<double> values = widened(stored);
  const std::vector<double> sums = column_sums(values, s.n);
  const std::vector<double> bounds = column_sum_tolerances(dtype_of<T>, values, sums);
  const Expectation e{dtype_of<T>, {s.n}, sums, bounds};
  EXPECT_TRUE(verdict(compare(observe(dbias), e), where)) << "dbias";
}

// Whole 16-byte accesses to C and z, some of them cut at the edge, and none.
TYPED_TEST(Gemm, ExactGradients) {
  struct Rows {
    std::int64_t n, gap;
  };
  for (const Variant variant : variants<TypeParam>())
    for (const auto& [n, gap] : {Rows{136, 0}, Rows{131, 5}, Rows{70, 1}})
      for (const BiasGradient gradient : {BiasGradient::none, BiasGradient::of_c}) {
        const Setup s = fitted({.m = 67,
                                .n = n,
                                .k = 24,
                                .transpose_b = Transpose::yes,
                                .alpha = 2,
                                .beta = -1,
                                .gap = gap,
                                .epilogue = Epilogue::drelu,
                                .bias_gradient = gradient},
                               variant);
        const Data data = small_data<TypeParam>(s);
        const std::vector<double> c =
            rounded<TypeParam>(unary_backward_oracle(UnaryOp::relu, data.z, oracle(s, data).value));
        const CaseContext where = context<TypeParam>(s, data, gemm::name(variant));
        const Outputs<TypeParam> outputs = run_all<TypeParam>(s, data, variant);
        const Expectation e{dtype_of<TypeParam>, s.shape(), c, {}};
        EXPECT_TRUE(not_vacuous(e));
        EXPECT_TRUE(verdict(compare(observe(outputs.c), e), where));
        if (gradient == BiasGradient::none) continue;
        const std::vector<double> sums = rounded<TypeParam>(column_sums(c, s.n));
        EXPECT_TRUE(verdict(
            compare(observe(outputs.dbias), {dtype_of<TypeParam>, s.dbias().shape, sums, {}}),
            where))
            << "dbias";
      }
}

// Also of nothing but beta C.
TYPED_TEST(Gemm, GradientsAgainstOracleAndVendor) {
  for (const Epilogue epilogue : kDifferentiating) {
    const UnaryOp activation = *activation_of(epilogue);
    const auto vendors =
        vendor::gemm_variants(dtype_of<TypeParam>, static_cast<vendor::GemmEpilogue>(epilogue),
                              vendor::GemmBiasGradient::of_c);
    if (vendors.empty()) report_no_vendor("gemm", dtype_of<TypeParam>, gemm::name(epilogue));
    for (const Variant variant : variants<TypeParam>())
      for (const std::int64_t k : {0, 150}) {
        const Setup s = fitted({.m = 70,
                                .n = 72,
                                .k = k,
                                .alpha = 0.1f,
                                .beta = 0.7f,
                                .epilogue = epilogue,
                                .bias_gradient = BiasGradient::of_c},
                               variant);
        const Data data = normal_data<TypeParam>(s);
        const GemmOracle product = oracle(s, multiplied<TypeParam>(data, variant));
        const std::vector<double> dz = unary_backward_oracle(activation, data.z, product.value);
        const std::vector<double> bounds =
            epilogue_gradient_tolerances(activation, dtype_of<TypeParam>, data.z, product.value,
                                         sum_tolerances<TypeParam>(product, k, variant), dz);
        const Expectation e{dtype_of<TypeParam>, s.shape(), dz, bounds};
        // Half of relu's are 0; what damage its comparison sees, ExactGradients says.
        if (epilogue != Epilogue::drelu) {
          EXPECT_TRUE(not_vacuous(e));
        }
        const CaseContext where = context<TypeParam>(s, data, gemm::name(variant));
        const Outputs<TypeParam> outputs = run_all<TypeParam>(s, data, variant);
        EXPECT_TRUE(verdict(compare(observe(outputs.c), e), where));
        expect_column_sums(s, outputs.c, outputs.dbias, where);
        if (k == 0) continue;
        std::vector<double> theirs = library_tolerances<TypeParam>(product, k, variant);
        if (theirs.empty()) theirs = sum_tolerances<TypeParam>(product, k, variant);
        theirs = library_epilogue_gradient_tolerances(activation, dtype_of<TypeParam>, data.z,
                                                      product.value, theirs, dz);
        const BiasGeluGradients right{dz, column_sums(dz, s.n)};
        const std::vector<double> our_sums =
            with_column_bounds(dtype_of<TypeParam>, bounds, right).dbias;
        const std::vector<double> their_sums =
            with_column_bounds(dtype_of<TypeParam>, theirs, right).dbias;
        for (const std::string_view vendor : vendors) {
          const auto library = library_outputs<TypeParam>(vendor, s, data, variant);
          if (!library) continue;
          EXPECT_TRUE(verdict(
              compare_with_vendor(observe(outputs.c), observe(library->c), e, theirs), where))
              << "vendor " << vendor;
          EXPECT_TRUE(verdict(
              compare_with_vendor(observe(outputs.dbias), observe(library->dbias),
                                  {dtype_of<TypeParam>, {s.n}, right.dbias, our_sums}, their_sums),
              where))
              << "dbias, vendor " << vendor;
        }
      }
  }
}

// Sums over k of an operand, whatever C is: over parts of 64 rows and more, of columns that fill a
// block's 32 packs, and not; also where C = beta C reads nothing else of it.
TYPED_TEST(Gemm, BiasGradientsOfOperands) {
  struct Case {
    std::int64_t columns, k, gap;
    float alpha;
  };
  const auto library = [](BiasGradient gradient) {
    return vendor::gemm_variants(dtype_of<TypeParam>, vendor::GemmEpilogue::none,
                                 static_cast<vendor::GemmBiasGradient>(gradient));
  };
  for (const BiasGradient gradient : {BiasGradient::of_a, BiasGradient::of_b})
    for (const auto& [columns, k, gap, alpha] : {Case{1, 1, 0, 1},
                                                 {3, 0, 0, 1},
                                                 {33, 65, 8, 1},
                                                 {257, 64, 1, 1},
                                                 {72, 700, 0, 1},
                                                 {300, 9, 0, 0}}) {
      const bool of_a = gradient == BiasGradient::of_a;
      const Setup s{.m = of_a ? columns : 5,
                    .n = of_a ? 5 : columns,
                    .k = k,
                    .transpose_a = Transpose::yes,
                    .alpha = alpha,
                    .gap = gap,
                    .bias_gradient = gradient};
      const Data data = small_data<TypeParam>(s);
      // Dense op(A) is m x k, op(B) k x n.
      std::vector<double> sums(static_cast<std::size_t>(columns), 0.0);
      for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t l = 0; l < k; ++l)
          sums[static_cast<std::size_t>(c)] +=
              of_a ? data.a[static_cast<std::size_t>(c * k + l)]
                   : data.b[static_cast<std::size_t>(l * columns + c)];
      sums = rounded<TypeParam>(sums);
      const Expectation e{dtype_of<TypeParam>, {columns}, sums, {}};
      const CaseContext where = context<TypeParam>(s, data, "naive");
      const Observed ours = observe(run_all<TypeParam>(s, data, Variant::naive).dbias);
      EXPECT_TRUE(verdict(compare(ours, e), where));
      if (k == 0 || alpha == 0) continue;
      for (const std::string_view vendor : library(gradient))
        if (const auto theirs = library_outputs<TypeParam>(vendor, s, data, Variant::naive)) {
          EXPECT_TRUE(verdict(compare_with_vendor(ours, observe(theirs->dbias), e,
                                                  std::vector<double>(sums.size(), 0.0)),
                              where))
              << "vendor " << vendor;
        }
    }
}

// A NaN of z reaches its element, an infinity what the slope's limit makes of it; both their column
// of dbias, and nothing else.
TYPED_TEST(Gemm, SpecialValuesOfZStayInTheirElement) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const Variant variant : variants<TypeParam>())
    for (const Epilogue epilogue : kDifferentiating)
      for (const double special : {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf}) {
        const UnaryOp activation = *activation_of(epilogue);
        const Setup s{
            .m = 5, .n = 9, .k = 3, .epilogue = epilogue, .bias_gradient = BiasGradient::of_c};
        Data data = normal_data<TypeParam>(s);
        data.z[2 * 9 + 7] = special;
        const GemmOracle product = oracle(s, multiplied<TypeParam>(data, variant));
        const std::vector<double> dz = unary_backward_oracle(activation, data.z, product.value);
        std::vector<double> sums = sum_tolerances<TypeParam>(product, s.k, variant);
        std::vector<double> bounds = epilogue_gradient_tolerances(activation, dtype_of<TypeParam>,
                                                                  data.z, product.value, sums, dz);
        // The limit of a slope is 0 or 1: what is finite is the product.
        const double limit = unary_slope_oracle(activation, std::vector<double>{special})[0];
        if (!std::isnan(special))
          bounds[2 * 9 + 7] =
              stored_tolerance(dtype_of<TypeParam>, dz[2 * 9 + 7], limit * sums[2 * 9 + 7]);
        const CaseContext where = context<TypeParam>(s, data, gemm::name(variant));
        const Outputs<TypeParam> outputs = run_all<TypeParam>(s, data, variant);
        EXPECT_TRUE(verdict(
            compare(observe(outputs.c), {dtype_of<TypeParam>, s.shape(), dz, bounds}), where))
            << special;
        expect_column_sums(s, outputs.c, outputs.dbias, where);
      }
}

// C may take the place of z, in which dz is as long as nobody needs z again.
TYPED_TEST(Gemm, GradientsInPlaceOfZ) {
  for (const Variant variant : variants<TypeParam>()) {
    const Setup s = fitted({.m = 66, .n = 140, .k = 40, .epilogue = Epilogue::dgelu}, variant);
    const Data data = normal_data<TypeParam>(s);
    const std::vector<TypeParam> apart = run<TypeParam>(s, data, variant);
    Stream stream;
    Matrices<TypeParam> matrices(s, data, stream);
    gemm::BasicProblem<TypeParam> problem = matrices.problem(variant);
    const auto z = DeviceBuffer<TypeParam>::from_host(elements<TypeParam>(data.z), stream);
    problem.z = problem.c = z.data();
    problem.ldz = problem.ldc = s.n;
    EXPECT_EQ(gemm::run(problem, variant, stream), variant);
    EXPECT_TRUE(same_bits("in the place of z", z.to_host(stream), apart)) << gemm::name(variant);
  }
}

// Of no rows a gradient is 0; what is not there is not looked at.
TYPED_TEST(Gemm, BiasGradientsOfNothing) {
  for (const auto& [m, n, k] : {ProductShape{0, 5, 3}, {0, 5, 0}, {0, 0, 3}}) {
    const Setup s{.m = m, .n = n, .k = k, .bias_gradient = BiasGradient::of_c};
    const std::vector<TypeParam> dbias =
        run_all<TypeParam>(s, normal_data<TypeParam>(s), Variant::naive).dbias;
    EXPECT_TRUE(
        same_bits("dbias", dbias,
                  std::vector<TypeParam>(static_cast<std::size_t>(n), from_float<TypeParam>(0))));
  }
}

TYPED_TEST(Gemm, RefusesGradientsWithoutTheirArguments) {
  Stream stream;
  const auto memory = DeviceBuffer<TypeParam>::from_host(
      std::vector<TypeParam>(64, from_float<TypeParam>(0)), stream);
  TypeParam* const at = memory.data();
  using Problem = gemm::BasicProblem<TypeParam>;
  const Problem valid{.m = 2,
                      .n = 3,
                      .k = 4,
                      .a = at,
                      .lda = 4,
                      .b = at + 8,
                      .ldb = 3,
                      .c = at + 24,
                      .ldc = 3,
                      .epilogue = Epilogue::drelu,
                      .z = at + 32,
                      .ldz = 3};
  const DeviceBuffer<std::byte> workspace(gemm::workspace_bytes(
      [&] {
        Problem p = valid;
        p.bias_gradient = BiasGradient::of_c;
        return p;
      }(),
      Variant::naive));
  const auto message = [&](auto change) -> std::string {
    const LaunchRecorder recorder;
    Problem p = valid;
    p.workspace = workspace.data();
    change(p);
    try {
      gemm::run(p, Variant::naive, stream);
    } catch (const Error& error) {
      EXPECT_TRUE(recorder.launches().empty());
      return error.what();
    }
    return "accepted";
  };
  const auto expect = [&](const std::string& words, auto change) {
    EXPECT_NE(message(change).find(words), std::string::npos) << message(change);
  };
  expect("accepted", [](Problem&) {});
  expect("z is null; the epilogue drelu", [](Problem& p) { p.z = nullptr; });
  expect("ldz is 2", [](Problem& p) { p.ldz = 2; });
  expect("drelu adds none", [&](Problem& p) { p.bias = at + 60; });
  expect("stride_z is -1", [](Problem& p) { p.stride_z = -1; });
  expect("accepted", [](Problem& p) { p.z = p.c; });
  expect("gemm: z", [](Problem& p) { p.z = p.c + 1; });
  expect("overlap", [](Problem& p) {
    p.z = p.c;
    p.ldz = 4;
  });

  const auto with_sums = [&](BiasGradient gradient, auto change) {
    return [=](Problem& p) {
      p.bias_gradient = gradient;
      p.dbias = at + 56;
      change(p);
    };
  };
  const auto of_c = [&](auto change) { return with_sums(BiasGradient::of_c, change); };
  expect("accepted", of_c([](Problem&) {}));
  expect("dbias is null", of_c([](Problem& p) { p.dbias = nullptr; }));
  expect("bias_gradient is none", [&](Problem& p) { p.dbias = at + 56; });
  expect("batch is 2; dbias", of_c([](Problem& p) {
           p.batch = 2;
           p.stride_c = 6;
           p.epilogue = Epilogue::none;
           p.z = nullptr;
         }));
  expect("workspace is null or not aligned", of_c([](Problem& p) { p.workspace = nullptr; }));
  for (const std::ptrdiff_t overlapped : {0, 8 + 11, 24 + 5, 32 + 5})
    expect("overlap", of_c([&](Problem& p) { p.dbias = at + overlapped; }));
  expect("transpose_a is no", with_sums(BiasGradient::of_a, [](Problem&) {}));
  expect("transpose_b is yes", with_sums(BiasGradient::of_b, [](Problem& p) {
           p.transpose_b = Transpose::yes;
           p.ldb = 4;
         }));
}

} // namespace
} // namespace kg::test
