// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm against exact fills, the fp64 oracle and each vendor, on every transposition and at the
// edges of the tiles.
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "tests/gemm_fixture.h"
#include "tests/support/device_types.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "tests/support/tolerance.h"
#include "tests/support/vacuity.h"
#include "tests/support/vendor.h"

namespace kg::test {
namespace {

using namespace gemm_case;

// The type parameter names the dtype in the test's name, by which CTest selects.
template <typename T>
class Gemm : public testing::Test {
 protected:
  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("gemm", DtypeOf<T>::value, variants<T>(), kRoundedOperation);
  }
};
TYPED_TEST_SUITE(Gemm, FloatTypes, DtypeNames);

TYPED_TEST(Gemm, ExactFills) {
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose a : kTransposes)
      for (const Transpose b : kTransposes)
        for (const auto range : {ProductRange::r1, ProductRange::r1w_a, ProductRange::r1w_b}) {
          const Setup s{.m = 70,
                        .n = 132,
                        .k = 100,
                        .transpose_a = a,
                        .transpose_b = b,
                        .alpha = 2 * kExactAlpha<TypeParam>,
                        .beta = -3};
          const Data data = exact_data<TypeParam>(s, range);
          expect_exact<TypeParam>(s, data, variant);
          const std::vector<double> expected = rounded<TypeParam>(oracle(s, data).value);
          EXPECT_TRUE(not_vacuous(exactly(dtype_of<TypeParam>, s.shape(), expected)));
        }
}

// Around the tiles, the slices of k, a warp and a 16-byte access.
//
// mma: 128, warps of 64, slices of 32, accesses of 8.
constexpr ProductShape kEdgesOfMma[] = {{1, 1, 300},   {1, 129, 33},  {129, 1, 32},  {2, 3, 7},
                                        {63, 65, 31},  {64, 64, 64},  {65, 64, 16},  {72, 104, 40},
                                        {127, 129, 8}, {128, 128, 9}, {3, 24, 4097}, {129, 128, 97},
                                        {1, 257, 24}};
// tiled: 64, slices of 16, accesses of 4.
constexpr ProductShape kEdgesOfTiled[] = {
    {1, 1, 1},    {1, 1, 4099}, {1, 65, 17},  {65, 1, 16},    {2, 3, 7},      {15, 17, 1},
    {31, 33, 15}, {63, 63, 16}, {64, 64, 64}, {64, 64, 17},   {65, 65, 16},   {64, 68, 65},
    {63, 65, 33}, {97, 64, 31}, {64, 97, 32}, {127, 129, 48}, {128, 128, 15}, {1, 255, 256}};

TYPED_TEST(Gemm, EdgeSizes) {
  const std::span<const ProductShape> tiles = std::is_same_v<TypeParam, float>
                                                  ? std::span<const ProductShape>(kEdgesOfTiled)
                                                  : std::span<const ProductShape>(kEdgesOfMma);
  std::vector<ProductShape> edges(tiles.begin(), tiles.end());
  // In one dimension far more than a grid's y extent could count.
  edges.push_back({device_properties().max_grid_yz + 4466, 1, 2});
  for (const Variant variant : variants<TypeParam>())
    for (const auto& [m, n, k] : edges)
      for (const Transpose a : kTransposes)
        for (const Transpose b : kTransposes) {
          const Setup s{.m = m,
                        .n = n,
                        .k = k,
                        .transpose_a = a,
                        .transpose_b = b,
                        .alpha = kExactAlpha<TypeParam>};
          expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1), variant);
        }
}

// 16-byte accesses need a base and rows that are multiples of 16 bytes: here one of them is not, or
// both are.
TYPED_TEST(Gemm, GapsAndUnalignedBases) {
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose a : kTransposes)
      for (const Transpose b : kTransposes)
        for (const std::int64_t gap : {0, 1, static_cast<int>(16 / sizeof(TypeParam))})
          for (const std::int64_t offset : {0, 1, 3, 4, 7, 8, 12}) {
            const Setup s{.m = 72,
                          .n = 104,
                          .k = 24,
                          .transpose_a = a,
                          .transpose_b = b,
                          .alpha = -kExactAlpha<TypeParam>,
                          .beta = 2,
                          .gap = gap,
                          .offset = offset};
            expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1w_a), variant);
          }
}

// Rows of all matrices begin at multiples of 16 bytes, and end between two of them.
TYPED_TEST(Gemm, PaddedRows) {
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose a : kTransposes)
      for (const Transpose b : kTransposes) {
        const Setup s{.m = 67,
                      .n = 131,
                      .k = 99,
                      .transpose_a = a,
                      .transpose_b = b,
                      .alpha = kExactAlpha<TypeParam>,
                      .beta = -1,
                      .gap = 5};
        expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1), variant);
      }
}

TYPED_TEST(Gemm, RandomAgainstOracleAndVendor) {
  const auto vendors = vendor::gemm_variants(dtype_of<TypeParam>);
  if (vendors.empty()) report_no_vendor("gemm", dtype_of<TypeParam>);
  for (const Transpose a : kTransposes)
    for (const Transpose b : kTransposes)
      for (const auto& [m, n, k] : {ProductShape{97, 131, 251}, {64, 128, 1000}}) {
        const Setup s{.m = m,
                      .n = n,
                      .k = k,
                      .transpose_a = a,
                      .transpose_b = b,
                      .alpha = 0.7f,
                      .beta = 1.3f,
                      .gap = k == 251 ? 3 : 8};
        const Data data = normal_data<TypeParam>(s);
        const GemmOracle expected = oracle(s, data);
        const std::vector<double> tolerance = tolerances<TypeParam>(expected, s.k);
        const std::vector<double> unit = error_units(dtype_of<TypeParam>, expected.condition);
        const Expectation e{dtype_of<TypeParam>, s.shape(), expected.value, tolerance, unit};
        EXPECT_TRUE(not_vacuous(e));
        std::vector<Observed> theirs; // by vendor
        for (const std::string_view vendor : vendors) {
          Stream stream;
          const Matrices<TypeParam> matrices(s, data, stream);
          vendor::gemm(vendor, matrices.vendor_problem(), vendor::Math::pedantic, stream);
          theirs.push_back(observe(matrices.result(vendor, stream)));
        }
        for (const Variant variant : variants<TypeParam>()) {
          const CaseContext where = context<TypeParam>(s, data, gemm::name(variant));
          const Observed ours = observe(run<TypeParam>(s, data, variant));
          const Comparison comparison = compare(ours, e);
          EXPECT_TRUE(verdict(comparison, where)) << hint(s, data, comparison);
          for (std::size_t i = 0; i < vendors.size(); ++i)
            EXPECT_TRUE(verdict(compare_with_vendor(ours, theirs[i], e), where))
                << "vendor " << vendors[i];
        }
      }
}

// One sign: partial sums grow, and so does the bound. The longest chain of every variant is k.
TYPED_TEST(Gemm, PositiveData) {
  for (const Variant variant : variants<TypeParam>()) {
    const Setup s{.m = 66, .n = 70, .k = 1500};
    const Data data = positive_data<TypeParam>(s);
    const GemmOracle expected = oracle(s, data);
    const std::vector<double> tolerance = positive_tolerances<TypeParam>(expected, s.k);
    const Expectation e{dtype_of<TypeParam>, s.shape(), expected.value, tolerance};
    EXPECT_TRUE(not_vacuous(e));
    EXPECT_TRUE(verdict(compare(observe(run<TypeParam>(s, data, variant)), e),
                        context<TypeParam>(s, data, gemm::name(variant))));
  }
}

TYPED_TEST(Gemm, AlphaAndBeta) {
  for (const Variant variant : variants<TypeParam>())
    for (const float alpha : {0.0f, 1.0f, -1.0f, 0.7f})
      for (const float beta : {0.0f, 1.0f, -1.0f, 0.7f})
        for (const std::int64_t k : {0, 40}) {
          const Setup s{.m = 65, .n = 68, .k = k, .alpha = alpha, .beta = beta};
          const Data data = normal_data<TypeParam>(s);
          const GemmOracle expected = oracle(s, data);
          const std::vector<double> tolerance = tolerances<TypeParam>(expected, k);
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
                                            .ldc = kN};
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

// A NaN or infinity of A reaches its row of C and nothing else, padding included; infinities of
// both signs in one sum make NaN.
TYPED_TEST(Gemm, SpecialValuesStayInTheirRow) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Setup s{.m = 67, .n = 70, .k = 21};
  for (const Variant variant : variants<TypeParam>()) {
    const Data plain = positive_data<TypeParam>(s);
    const std::vector<TypeParam> before = run<TypeParam>(s, plain, variant);
    for (const double special : {kNan, kInf, -kInf})
      for (const bool both_signs : {false, true}) {
        Data data = plain;
        data.fill = "positive with special values at the end of row 66 of A";
        data.a.back() = special;
        if (both_signs) data.a[data.a.size() - 2] = -special;
        const std::vector<TypeParam> c = run<TypeParam>(s, data, variant);
        EXPECT_TRUE(only_row_differs(before, c, s.n, 66)) << gemm::name(variant);
        const GemmOracle expected = oracle(s, data);
        const std::vector<double> tolerance = positive_tolerances<TypeParam>(expected, s.k);
        EXPECT_TRUE(verdict(
            compare(observe(c), {dtype_of<TypeParam>, s.shape(), expected.value, tolerance}),
            context<TypeParam>(s, data, gemm::name(variant))));
      }
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

// A I = A in every bit: a kernel that rounds its inputs to TF32 changes nearly every element.
TYPED_TEST(Gemm, TimesIdentityIsUnchanged) {
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose transpose : kTransposes) {
      const Setup s{.m = 70, .n = 97, .k = 97, .transpose_a = transpose, .transpose_b = transpose};
      Data data = normal_data<TypeParam>(s);
      data.b = identity(s.k);
      EXPECT_TRUE(
          same_bits("A I = A", run<TypeParam>(s, data, variant), elements<TypeParam>(data.a)))
          << gemm::name(variant);
    }
}

// What becomes of C when the operands are scaled, permuted or exchanged.
TYPED_TEST(Gemm, Relations) {
  const Setup s{.m = 70, .n = 67, .k = 45};
  const Setup turned{.m = s.n, .n = s.m, .k = s.k};
  const Data data = normal_data<TypeParam>(s);
  const std::vector<std::int64_t> rows = permutation(s.m);
  const std::vector<std::int64_t> columns = permutation(s.n);
  for (const Variant variant : variants<TypeParam>()) {
    const auto of = [&](const std::vector<double>& a, const std::vector<double>& b) {
      return run<TypeParam>(s, {"normal", a, b, data.c}, variant);
    };
    const std::vector<TypeParam> c = of(data.a, data.b);
    if (dtype_of<TypeParam> != Dtype::f16) { // which has too few exponents
      std::vector<TypeParam> smaller;
      for (const TypeParam value : c)
        smaller.push_back(from_float<TypeParam>(to_float(value) * 0x1p-5f));
      EXPECT_TRUE(same_bits("(2^3 A)(2^-8 B) = 2^-5 A B", of(scaled(data.a, 3), scaled(data.b, -8)),
                            smaller));
    }
    EXPECT_TRUE(same_bits("(P A) B = P (A B)", of(permuted_rows(data.a, rows), data.b),
                          permuted_rows(c, rows)));
    EXPECT_TRUE(same_bits("A (B P) = (A B) P", of(data.a, permuted_columns(data.b, columns)),
                          permuted_columns(c, columns)));
    // Products commute, and each sum has its terms in the same order.
    const Data exchanged{"normal", transpose_oracle(data.b, s.k, s.n),
                         transpose_oracle(data.a, s.m, s.k), std::vector<double>(data.c)};
    EXPECT_TRUE(same_bits("B^T A^T = (A B)^T", run<TypeParam>(turned, exchanged, variant),
                          transpose_oracle(c, s.m, s.n)));
  }
}

TYPED_TEST(Gemm, SameBitsEveryTime) {
  const Setup s{.m = 130, .n = 67, .k = 77, .alpha = 0.7f, .beta = 1.3f};
  for (const Variant variant : variants<TypeParam>()) {
    const Data data = gemm::deterministic(variant) ? normal_data<TypeParam>(s)
                                                   : exact_data<TypeParam>(s, ProductRange::r1);
    EXPECT_TRUE(same_bits_every_time(variant_id<TypeParam>(gemm::name(variant)),
                                     [&] { return run<TypeParam>(s, data, variant); }));
  }
}

// On a stream whose earlier work still writes A.
TYPED_TEST(Gemm, WaitsForItsStream) {
  const Setup s{.m = 66, .n = 68, .k = 40, .alpha = kExactAlpha<TypeParam>};
  const Data data = exact_data<TypeParam>(s, ProductRange::r1);
  for (const Variant variant : variants<TypeParam>()) {
    Stream stream;
    const Matrices<TypeParam> matrices(s, data, stream);
    gemm::BasicProblem<TypeParam> problem = matrices.problem();
    const LateInput<TypeParam> late(elements<TypeParam>(data.a), stream);
    problem.a = late.data();
    EXPECT_EQ(gemm::run(problem, variant, stream), variant);
    EXPECT_TRUE(same_bits("behind a slow kernel", matrices.result(gemm::name(variant), stream),
                          run<TypeParam>(s, data, variant)));
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

TYPED_TEST(Gemm, AutomaticAvoidsTilesThatAreMostlyPadding) {
  const auto chosen = [](std::int64_t m, std::int64_t n) {
    Stream stream;
    const Setup s{.m = m, .n = n, .k = 3};
    const Matrices<TypeParam> matrices(s, normal_data<TypeParam>(s), stream);
    return gemm::run(matrices.problem(), Variant::automatic, stream);
  };
  EXPECT_EQ(chosen(3, 5), Variant::naive);
  EXPECT_EQ(chosen(16, 16), variants<TypeParam>().back());
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
