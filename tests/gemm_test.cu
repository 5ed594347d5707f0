// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm against exact fills, the fp64 oracle and each vendor, on every transposition and at the
// edges of the tiles. What it promises beside that: gemm_contract_tests.h;
// epilogues: gemm_epilogue_tests.h, gemm_backward_tests.h, gemm_layer_tests.h; batches:
// gemm_batch_tests.h; parts of k: gemm_split_tests.h.
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "tests/gemm_backward_tests.h"
#include "tests/gemm_batch_tests.h"
#include "tests/gemm_contract_tests.h"
#include "tests/gemm_epilogue_tests.h"
#include "tests/gemm_fixture.h"
#include "tests/gemm_layer_tests.h"
#include "tests/gemm_split_tests.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/device_types.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "tests/support/vacuity.h"

namespace kg::test {
namespace {

using namespace gemm_case;

TYPED_TEST(Gemm, ExactFills) {
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose a : kTransposes)
      for (const Transpose b : kTransposes)
        for (const auto range : {ProductRange::r1, ProductRange::r1w_a, ProductRange::r1w_b}) {
          const Setup s = fitted({.m = 70,
                                  .n = 68,
                                  .k = 100,
                                  .transpose_a = a,
                                  .transpose_b = b,
                                  .alpha = 2 * kExactAlpha<TypeParam>,
                                  .beta = -3},
                                 variant);
          const Data data = exact_data<TypeParam>(s, range, variant);
          expect_exact<TypeParam>(s, data, variant);
          const std::vector<double> expected = rounded<TypeParam>(oracle(s, data).value);
          EXPECT_TRUE(not_vacuous(exactly(dtype_of<TypeParam>, s.shape(), expected)));
        }
}

// Around the tiles, the slices of k, a warp and a 16-byte access.
//
// mma: 128, warps of 64, slices of 32 and accesses of 8, of floats half of that.
constexpr ProductShape kEdgesOfMma[] = {{1, 1, 300},   {1, 129, 33},  {129, 1, 32},  {2, 3, 7},
                                        {63, 65, 31},  {64, 64, 64},  {65, 64, 16},  {72, 104, 40},
                                        {127, 129, 8}, {128, 128, 9}, {3, 24, 4097}, {129, 128, 97},
                                        {1, 257, 24}};
// tiled: 64, slices of 16, accesses of 4.
constexpr ProductShape kEdgesOfTiled[] = {
    {1, 1, 1},    {1, 1, 4099}, {1, 65, 17},  {65, 1, 16},    {2, 3, 7},      {15, 17, 1},
    {31, 33, 15}, {63, 63, 16}, {64, 64, 64}, {64, 64, 17},   {65, 65, 16},   {64, 68, 65},
    {63, 65, 33}, {97, 64, 31}, {64, 97, 32}, {127, 129, 48}, {128, 128, 15}, {1, 255, 256}};

// skinny: lines of k by 4 and 32, accesses of 4 and 8, slices of 256 steps; lines along m or
// n by 8 accesses, slices of 128 steps; 8 of the other side.
constexpr ProductShape kEdgesOfSkinny[] = {{1, 1, 1},    {1, 1, 1027}, {2, 3, 7},    {33, 1, 257},
                                           {31, 8, 256}, {7, 32, 513}, {9, 36, 130}, {5, 129, 31},
                                           {65, 8, 128}, {3, 24, 1040}};

// split_k, in 3 parts that are multiples of 32, of one of these variants: one part, two, the last
// part of one step and a whole one; rows between two 16-byte accesses.
constexpr ProductShape kEdgesOfSplit[] = {{1, 1, 1},    {5, 7, 32},   {3, 66, 33},
                                          {65, 64, 65}, {2, 129, 96}, {66, 9, 97}};

template <class T>
std::span<const ProductShape> edges_of(Variant variant) {
  if (variant == Variant::split_k) return kEdgesOfSplit;
  if (variant == Variant::skinny) return kEdgesOfSkinny;
  if (std::is_same_v<T, float> && variant != Variant::mma) return kEdgesOfTiled;
  return kEdgesOfMma;
}

TYPED_TEST(Gemm, EdgeSizes) {
  for (const Variant variant : variants<TypeParam>())
    for (const auto& [m, n, k] : edges_of<TypeParam>(variant))
      for (const Transpose a : kTransposes)
        for (const Transpose b : kTransposes) {
          const Setup s{.m = m,
                        .n = n,
                        .k = k,
                        .transpose_a = a,
                        .transpose_b = b,
                        .alpha = kExactAlpha<TypeParam>};
          expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1, variant), variant);
        }
}

// In one dimension far more than a grid's y extent could count.
TYPED_TEST(Gemm, ManyRows) {
  for (const Variant variant : variants<TypeParam>()) {
    // These count blocks as tiled and mma do, and take longest.
    if (variant == Variant::skinny || variant == Variant::split_k) continue;
    const Setup s{.m = device_properties().max_grid_yz + 4466,
                  .n = 1,
                  .k = 2,
                  .alpha = kExactAlpha<TypeParam>};
    expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1, variant), variant);
  }
}

// 16-byte accesses need a base and rows that are multiples of 16 bytes: here one of them is not, or
// both are.
TYPED_TEST(Gemm, GapsAndUnalignedBases) {
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose a : kTransposes)
      for (const Transpose b : kTransposes)
        for (const std::int64_t gap : {0, 1, static_cast<int>(16 / sizeof(TypeParam))})
          for (const std::int64_t offset : {0, 1, 4, 8}) {
            if (gap == 1 && offset > 1) continue; // no more unaligned than with 0 and 1
            const Setup s = fitted({.m = 72,
                                    .n = 104,
                                    .k = 24,
                                    .transpose_a = a,
                                    .transpose_b = b,
                                    .alpha = -kExactAlpha<TypeParam>,
                                    .beta = 2,
                                    .gap = gap,
                                    .offset = offset},
                                   variant);
            expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1w_a, variant),
                                    variant);
          }
}

// Rows of all matrices begin at multiples of 16 bytes, and end between two of them.
TYPED_TEST(Gemm, PaddedRows) {
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose a : kTransposes)
      for (const Transpose b : kTransposes) {
        const Setup s = fitted({.m = 67,
                                .n = 131,
                                .k = 99,
                                .transpose_a = a,
                                .transpose_b = b,
                                .alpha = kExactAlpha<TypeParam>,
                                .beta = -1,
                                .gap = 5},
                               variant);
        expect_exact<TypeParam>(s, exact_data<TypeParam>(s, ProductRange::r1, variant), variant);
      }
}

TYPED_TEST(Gemm, RandomAgainstOracleAndVendor) {
  const auto vendors = vendor::gemm_variants(dtype_of<TypeParam>);
  if (vendors.empty()) report_no_vendor("gemm", dtype_of<TypeParam>);
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose a : kTransposes)
      for (const Transpose b : kTransposes)
        for (const auto& [m, n, k] : {ProductShape{67, 75, 151}, {64, 24, 400}}) {
          const Setup s = fitted({.m = m,
                                  .n = n,
                                  .k = k,
                                  .transpose_a = a,
                                  .transpose_b = b,
                                  .alpha = 0.7f,
                                  .beta = 1.3f,
                                  .gap = k == 151 ? 3 : 8},
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

// One sign: partial sums grow, and so does the bound. The longest chain of every variant is k.
TYPED_TEST(Gemm, PositiveData) {
  for (const Variant variant : variants<TypeParam>()) {
    const Setup s = fitted({.m = 66, .n = 70, .k = 1500}, variant);
    const Data data = positive_data<TypeParam>(s);
    const GemmOracle expected = oracle(s, multiplied<TypeParam>(data, variant));
    const std::vector<double> tolerance = positive_tolerances<TypeParam>(expected, s.k, variant);
    const Expectation e{dtype_of<TypeParam>, s.shape(), expected.value, tolerance};
    EXPECT_TRUE(not_vacuous(e));
    EXPECT_TRUE(verdict(compare(observe(run<TypeParam>(s, data, variant)), e),
                        context<TypeParam>(s, data, gemm::name(variant))));
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
        const GemmOracle expected = oracle(s, multiplied<TypeParam>(data, variant));
        const std::vector<double> tolerance =
            positive_tolerances<TypeParam>(expected, s.k, variant);
        EXPECT_TRUE(verdict(
            compare(observe(c), {dtype_of<TypeParam>, s.shape(), expected.value, tolerance}),
            context<TypeParam>(s, data, gemm::name(variant))));
      }
  }
}

// A I = A in every bit: a kernel that rounds its inputs to TF32 changes nearly every element. With
// that permission the result is what rounding makes of A, and the probe must see it.
TYPED_TEST(Gemm, TimesIdentityIsUnchanged) {
  for (const Variant variant : variants<TypeParam>())
    for (const Transpose transpose : kTransposes) {
      const Setup s{.m = 70, .n = 97, .k = 97, .transpose_a = transpose, .transpose_b = transpose};
      Data data = normal_data<TypeParam>(s);
      data.b = identity(s.k);
      const std::vector<TypeParam> c = run<TypeParam>(s, data, variant);
      EXPECT_TRUE(
          same_bits("A I = A", c, elements<TypeParam>(multiplied<TypeParam>(data, variant).a)))
          << gemm::name(variant);
      EXPECT_EQ(bool{same_bits("A I = A", c, elements<TypeParam>(data.a))},
                !rounds_inputs<TypeParam>(variant))
          << gemm::name(variant);
    }
}

// What becomes of C when the operands are scaled, permuted or exchanged.
TYPED_TEST(Gemm, Relations) {
  const Setup s{.m = 70, .n = 67, .k = 45};
  const Setup turned{.m = s.n, // the same storage, for each sum to have its terms in the same order
                     .n = s.m,
                     .k = s.k,
                     .transpose_a = Transpose::yes,
                     .transpose_b = Transpose::yes};
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
    // Products commute.
    const Data exchanged{"normal", transpose_oracle(data.b, s.k, s.n),
                         transpose_oracle(data.a, s.m, s.k), std::vector<double>(data.c)};
    EXPECT_TRUE(same_bits("B^T A^T = (A B)^T", run<TypeParam>(turned, exchanged, variant),
                          transpose_oracle(c, s.m, s.n)));
  }
}

TYPED_TEST(Gemm, SameBitsEveryTime) {
  for (const Variant variant : variants<TypeParam>()) {
    const Setup s = fitted({.m = 130, .n = 67, .k = 77, .alpha = 0.7f, .beta = 1.3f}, variant);
    const Data data = gemm::deterministic(variant)
                          ? normal_data<TypeParam>(s)
                          : exact_data<TypeParam>(s, ProductRange::r1, variant);
    EXPECT_TRUE(same_bits_every_time(variant_id<TypeParam>(gemm::name(variant)),
                                     [&] { return run<TypeParam>(s, data, variant); }));
  }
}

// On a stream whose earlier work still writes A.
TYPED_TEST(Gemm, WaitsForItsStream) {
  const Setup s{.m = 66, .n = 68, .k = 40, .alpha = kExactAlpha<TypeParam>};
  for (const Variant variant : variants<TypeParam>()) {
    const Data data = exact_data<TypeParam>(s, ProductRange::r1, variant);
    Stream stream;
    Matrices<TypeParam> matrices(s, data, stream);
    gemm::BasicProblem<TypeParam> problem = matrices.problem(variant);
    const LateInput<TypeParam> late(elements<TypeParam>(data.a), stream);
    problem.a = late.data();
    EXPECT_EQ(gemm::run(problem, variant, stream), variant);
    EXPECT_TRUE(same_bits("behind a slow kernel", matrices.result(gemm::name(variant), stream),
                          run<TypeParam>(s, data, variant)));
  }
}

} // namespace
} // namespace kg::test
