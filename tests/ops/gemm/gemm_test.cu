// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to gemm; its card configures those of every operation.
#include "ops/gemm/gemm.h"

#include <limits>
#include <map>
#include <set>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/ops/gemm/layer_tests.h"
#include "tests/ops/gemm/refusals.h"
#include "tests/ops/gemm/samples.h"
#include "tests/ops/gemm/split_tests.h"
#include "tests/ops/gemm/wgmma_tests.h"
#include "tests/oracle/tolerance.h"
#include "tests/support/device_types.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

// The shape on which that variant is tested; for f32, mma requires TF32.
std::string with_math(const Judge& judge, gemm::Variant variant, const std::string& shape) {
  return shape + (math_of(judge.dtype(), variant) == gemm::Math::tf32 ? "_tf32" : "");
}

// On exact data, with some variants only.
void check_some(Judge& judge, const std::string& shape,
                const std::vector<std::string_view>& variants) {
  Sample sample = gemm_samples::exact_product(judge.dtype(), shape, test::ProductRange::r1);
  sample.may_be_vacuous = true; // some products of two terms are 0
  const Problem problem = problem_of(judge.card(), judge.dtype(), sample);
  References right = judge.card().references(problem, sample.inputs);
  right.at("c").tolerance = {};
  for (double& value : right.at("c").value) value = test::round_to(judge.dtype(), value);
  judge.check_against(sample, right, {}, variants);
}

// Far more in one dimension than a grid's y extent can count. The other variants count blocks like
// tiled and mma, and take longest.
KG_OWN_TEST(ManyRows) {
  const std::string shape =
      "m" + std::to_string(device_properties().max_grid_yz + 4466) + "_n1_k2_nn";
  check_some(judge, shape, {"naive", "tiled", "mma"});
  if (judge.dtype() == Dtype::f32) check_some(judge, shape + "_tf32", {"mma"});
  // Also a last group of tiles (gemm_mma.cu) with fewer rows than the others.
  check_some(judge, judge.dtype() == Dtype::f32 ? "m2056_n136_k8_nn_tf32" : "m2056_n136_k8_nn",
             {"mma"});
}

// Persistent blocks of wgmma with several tiles each. The pipeline continues from tile to tile at
// whatever stage and phase a tile's slices ended; one case wraps around with one slice per tile.
// Two and four rows of tiles form pairs that share B; one and three rows also leave a single one.
KG_OWN_TEST(TilesFollowEachOther) {
  if (judge.dtype() == Dtype::f32) return;
  const std::int64_t blocks = device_properties().sm_count;
  const auto check = [&](std::int64_t m, std::int64_t n, std::int64_t k, const std::string& words) {
    check_some(judge, gemm_samples::shape_of({m, n, k}, words), {"wgmma"});
  };
  for (const bool wide : {false, true}) {
    const std::int64_t columns = wide ? 256 : 128, stages = wide ? 3 : 5;
    for (const std::string transposition : {"nn", "tt"}) {
      const std::string words = transposition + (wide ? "_wide" : "");
      for (const std::int64_t k : {72, 192, 264, 392}) { // 2, 3, 5 and 7 slices of 64
        check(136, (blocks / 2 + 1) * columns - 120, k, words);
        check(264, (blocks / 3 + 1) * columns - 120, k, words);
      }
      check(8, (stages + 1) * blocks * columns, 8, words);
      check(392, (stages + 1) * blocks / 4 * columns, 8, words);
    }
  }
  check_some(judge, "b3_m136_n264_k136_nt_sharedb_wide", {"wgmma"});
}

// More products than a grid's y extent can count. No variant puts them there, and variants with
// whole tiles per product would take long.
// Measured rows name TF32, and their limit is that of Tensor Cores.
KG_OWN_TEST(ProblemsSayWhetherTf32IsAllowed) {
  const auto is_tf32 = [&](const char* shape) {
    return judge.card().problem(judge.dtype(), Shape::parse(shape)).tf32;
  };
  EXPECT_FALSE(is_tf32("m3_n4_k5_nn"));
  EXPECT_TRUE(is_tf32("m3_n4_k5_nn_tf32"));
}

KG_OWN_TEST(ManyProducts) {
  check_some(judge, "b" + std::to_string(device_properties().max_grid_yz + 4466) + "_m1_n1_k2_nn",
             {"naive"});
}

// Data of one sign: partial sums grow, and so does the tolerance. Every variant's longest chain is
// k; the executor's Tensor Cores round.
KG_OWN_TEST(PositiveData) {
  const Dtype dtype = judge.dtype();
  const auto bound = [&](const Product& p, double condition, std::string_view variant) {
    if (backend == Backend::host || (variant != "mma" && variant != "wgmma"))
      return test::gemm_f32_positive_tolerance(p.k, condition);
    return test::gemm_matrix_unit_positive_tolerance(
        p.k, condition, test::matrix_unit(dtype, device_properties().compute_major));
  };
  for (const std::string& shape : gemm_samples::fitted(dtype, {66, 70, 1500}, "nn")) {
    const Product p = product_of(shape);
    const auto a = test::positive(dtype, p.a().size(), test::Tensor::a).values;
    const auto b = test::positive(dtype, p.b().size(), test::Tensor::b).values;
    const test::GemmOracle sums = sums_of(p, 1, 0, a, b, {});
    const auto tolerance = [&](std::string_view variant) {
      std::vector<double> bounds;
      for (std::size_t i = 0; i < sums.value.size(); ++i)
        bounds.push_back(
            test::stored_tolerance(dtype, sums.value[i], bound(p, sums.condition[i], variant)));
      return bounds;
    };
    judge.check_against({"positive", shape, {{"a", values(dtype, a)}, {"b", values(dtype, b)}}},
                        {{"c", {sums.value, tolerance}}});
  }
}

// BLAS semantics: operands of a zero factor are not read, so their NaN does not spread. Fresh
// buffers contain only NaN.
KG_OWN_TEST(ZeroFactorsReadNothing) {
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr std::int64_t kM = 65, kN = 72, kK = 40;
    const HopperDevice device;
    const auto all = [](float value) { return std::vector<T>(kM * kN, from_float<T>(value)); };
    for (const gemm::Variant variant : tested_variants(judge.dtype())) {
      Stream stream;
      const DeviceBuffer<T> a(kM * kK), b(kK * kN);
      const auto c = DeviceBuffer<T>::from_host(all(3), stream);
      const DeviceBuffer<float> workspace(3 * kM * (kN + 2));
      const auto c_after = [&](float alpha, std::int64_t k, float beta) {
        const gemm::BasicProblem<T> p{.m = kM,
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
                                      .math = math_of(judge.dtype(), variant),
                                      .workspace = workspace.data(),
                                      .parts = 3};
        EXPECT_EQ(gemm::run(p, variant, stream), variant);
        return c.to_host(stream);
      };
      const float nan = std::numeric_limits<float>::quiet_NaN();
      EXPECT_TRUE(test::same_bits("C = 0 A B + 2 C", c_after(0, kK, 2), all(6)));
      EXPECT_TRUE(test::same_bits("C = NaN 0 + 2 C", c_after(nan, 0, 2), all(12)));
      EXPECT_TRUE(test::same_bits("C = NaN 0 + 0 C", c_after(nan, 0, 0), all(0)));
      const LaunchRecorder recorder;
      EXPECT_TRUE(test::same_bits("C = 0 A B + C", c_after(0, kK, 1), all(0)));
      EXPECT_TRUE(recorder.launches().empty()) << "C = 0 A B + C";
    }
  });
}

KG_OWN_TEST(NothingToDoLaunchesNothing) {
  for (const std::string shape : {"m0_n5_k3_nn", "m5_n0_k3_nn", "m0_n0_k0_nn", "b0_m2_n3_k4_nn"})
    for (const gemm::Variant variant : tested_variants(judge.dtype())) {
      const Outcome outcome =
          judge.run(name(variant), {"nothing", with_math(judge, variant, shape)});
      EXPECT_TRUE(outcome.kernels.empty()) << name(variant) << " " << shape;
    }
}

// Effect on C of scaling, permuting or exchanging the operands.
KG_OWN_TEST(Relations) {
  const Dtype dtype = judge.dtype();
  constexpr std::int64_t kM = 70, kN = 67, kK = 45;
  const std::vector<double> a = test::normal(dtype, kM * kK, test::Tensor::a).values;
  const std::vector<double> b = test::normal(dtype, kK * kN, test::Tensor::b).values;
  const std::vector<std::int64_t> rows = test::permutation(kM), columns = test::permutation(kN);
  for (const gemm::Variant variant : tested_variants(dtype)) {
    const auto of = [&](const std::string& shape, const std::vector<double>& left,
                        const std::vector<double>& right) {
      return judge
          .run(name(variant), {"normal",
                               with_math(judge, variant, shape),
                               {{"a", values(dtype, left)}, {"b", values(dtype, right)}}})
          .outputs.at("c");
    };
    const std::string shape = "m70_n67_k45_nn";
    const test::Observed c = of(shape, a, b);
    if (dtype != Dtype::f16) { // which has too few exponents
      EXPECT_EQ(of(shape, test::scaled(a, 3), test::scaled(b, -8)).values,
                test::scaled(c.values, -5))
          << name(variant) << ": (2^3 A)(2^-8 B) = 2^-5 A B";
    }
    EXPECT_EQ(of(shape, test::permuted_rows(a, rows), b).bits, test::permuted_rows(c.bits, rows))
        << name(variant) << ": (P A) B = P (A B)";
    EXPECT_EQ(of(shape, a, test::permuted_columns(b, columns)).bits,
              test::permuted_columns(c.bits, columns))
        << name(variant) << ": A (B P) = (A B) P";
    // Products commute with equal storage orders, so that each sum has its terms in the same order.
    EXPECT_EQ(of("m67_n70_k45_tt", b, a).bits, test::transpose_oracle(c.bits, kM, kN))
        << name(variant) << ": B^T A^T = (A B)^T";
  }
}

// Each product has the same bits as alone, even next to a product of NaN only.
KG_OWN_TEST(ProductsOfABatchAreIndependent) {
  const Dtype dtype = judge.dtype();
  for (const gemm::Variant variant : tested_variants(dtype)) {
    const std::string shape = with_math(judge, variant, "m33_n20_k19_nn_acc");
    Sample batch{"normal", "b3_" + shape, {}, {{"alpha", 0.7}, {"beta", 1.3}}};
    const Problem problem = problem_of(judge.card(), dtype, batch);
    batch.inputs = completed(problem, {});
    std::vector<double>& a = batch.inputs.at("a").values;
    std::fill(a.begin() + 33 * 19, a.begin() + 2 * 33 * 19,
              std::numeric_limits<double>::quiet_NaN());
    const std::vector<std::uint64_t> all = judge.run(name(variant), batch).bits("c");
    for (const std::int64_t i : {0, 2}) {
      Sample alone{"normal", shape, {}, batch.scalars};
      for (const auto& [tensor, whole] : batch.inputs) {
        const auto size = static_cast<std::ptrdiff_t>(whole.values.size() / 3);
        alone.inputs[tensor] =
            values(dtype, {whole.values.begin() + i * size, whole.values.begin() + (i + 1) * size});
      }
      EXPECT_EQ(judge.run(name(variant), alone).bits("c"),
                std::vector(all.begin() + i * 660, all.begin() + (i + 1) * 660))
          << name(variant) << ": product " << i;
    }
  }
}

// Wide tiles if the device can hold them, C has enough of them to fill it, k is long, and accesses
// are 16 bytes.
KG_OWN_TEST(WideTilesForLargeProducts) {
  dispatch(judge.dtype(), [&]<class T>() {
    using gemm::TileShape, gemm::Variant;
    const std::int64_t n = 256 * device_properties().sm_count;
    const auto problem = [](std::int64_t columns, std::int64_t k, TileShape tiles) {
      const auto row = [](std::int64_t elements) { return (elements + 7) / 8 * 8; };
      return gemm::BasicProblem<T>{.m = 1,
                                   .n = columns,
                                   .k = k,
                                   .lda = row(k),
                                   .ldb = row(columns),
                                   .ldc = row(columns),
                                   .math = gemm::Math::tf32,
                                   .tiles = tiles};
    };
    for (const Variant variant : {Variant::mma, Variant::tiled}) {
      if (!supports(variant, judge.dtype(), gemm::Math::tf32)) continue;
      const auto shape = [&](std::int64_t columns, std::int64_t k, TileShape tiles) {
        return gemm::tile_shape(problem(columns, k, tiles), variant);
      };
      const bool of_mma = variant == Variant::mma;
      // Not every device has this much shared memory.
      const std::size_t bytes = of_mma ? 4 * (128 + 256) * 64 : 2 * (128 + 256 + 8) * 64;
      const bool possible = device_properties().shared_bytes_per_block_optin >= bytes;
      const TileShape wide = possible ? TileShape::wide : TileShape::square;
      // Twice as many square tiles of mma, eight times as many small ones in one row of tiles.
      const std::int64_t least = of_mma ? (judge.dtype() == Dtype::f32 ? 1024 : 2048) : 8;
      EXPECT_EQ(shape(n, least, TileShape::square), TileShape::square);
      if (of_mma) {
        EXPECT_EQ(shape(n, least, TileShape::automatic), wide);
        EXPECT_EQ(shape(n, least - 8, TileShape::automatic), TileShape::square);
        EXPECT_EQ(shape(n / 2, least, TileShape::automatic), TileShape::square);
      }
      EXPECT_EQ(shape(8, 16, TileShape::wide), wide);
      EXPECT_EQ(shape(of_mma && judge.dtype() != Dtype::f32 ? 12 : 10, 16, TileShape::wide),
                TileShape::square);
      EXPECT_EQ(shape(8, of_mma ? 18 : 15, TileShape::wide), TileShape::square);

      // Also check which kernel runs.
      const SplitOperands<T> operands(8, 8, 16);
      for (const TileShape tiles : {TileShape::square, TileShape::wide}) {
        gemm::BasicProblem<T> asked = operands.problem();
        asked.math = gemm::Math::tf32;
        asked.tiles = tiles;
        const LaunchRecorder recorder;
        gemm::run(asked, variant, judge.stream());
        judge.stream().synchronize();
        const bool is_wide = gemm::tile_shape(asked, variant) == TileShape::wide;
        EXPECT_EQ(recorder.launches().at(0).block.x, is_wide ? 256u : of_mma ? 128u : 64u);
      }
    }
  });
}

// With wide tiles of tiled, by either path into shared memory. Operands contiguous along k are
// transposed in registers next to a transposed B, if lines start and end at 16-byte boundaries.
KG_OWN_TEST(WideTilesGiveTheSameBitsFromAnyLayout) {
  using gemm::Transpose;
  if (judge.dtype() != Dtype::f32) return;
  struct Lines {
    std::int64_t k, of_a, of_b; // steps, and floats between lines
  };
  constexpr std::int64_t kM = 132, kN = 260;
  Stream& stream = judge.stream();
  std::map<std::int64_t, std::vector<float>> first;
  for (const auto& [k, of_a, of_b] :
       {Lines{44, 44, 44}, Lines{44, 45, 44}, Lines{44, 44, 45}, Lines{42, 44, 44}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        // Element (i, step) of A, or (step, i) of B, at its memory location.
        const auto laid_out = [k = k, &stream](std::int64_t outer, bool along_k,
                                               std::int64_t leading, test::Tensor tensor) {
          const auto values =
              test::elements<float>(test::normal(Dtype::f32, outer * k, tensor).values);
          std::vector<float> memory(
              static_cast<std::size_t>(along_k ? outer * leading : k * outer));
          for (std::int64_t i = 0; i < outer; ++i)
            for (std::int64_t step = 0; step < k; ++step)
              memory[static_cast<std::size_t>(along_k ? i * leading + step : step * outer + i)] =
                  values[static_cast<std::size_t>(i * k + step)];
          return DeviceBuffer<float>::from_host(memory, stream);
        };
        const auto a = laid_out(kM, !transpose_a, of_a, test::Tensor::a);
        const auto b = laid_out(kN, transpose_b, of_b, test::Tensor::b);
        const DeviceBuffer<float> c(kM * kN);
        const LaunchRecorder recorder;
        gemm::run(gemm::Problem{.transpose_a = transpose_a ? Transpose::yes : Transpose::no,
                                .transpose_b = transpose_b ? Transpose::yes : Transpose::no,
                                .m = kM,
                                .n = kN,
                                .k = k,
                                .a = a.data(),
                                .lda = transpose_a ? kM : of_a,
                                .b = b.data(),
                                .ldb = transpose_b ? of_b : kN,
                                .c = c.data(),
                                .ldc = kN,
                                .tiles = gemm::TileShape::wide},
                  gemm::Variant::tiled, stream);
        const std::vector<float> result = c.to_host(stream);
        const std::string& kernel = recorder.launches().at(0).kernel_name;
        EXPECT_TRUE(test::same_bits(kernel, result, first.try_emplace(k, result).first->second));
        const bool in_quads = (transpose_a || of_a == k) && of_b == k;
        EXPECT_EQ(kernel.find("turned") != kernel.npos, transpose_b && in_quads) << kernel;
      }
}

// f32 is rounded to TF32 only with the caller's permission.
KG_OWN_TEST(AutomaticAvoidsTilesThatAreMostlyPadding) {
  dispatch(judge.dtype(), [&]<class T>() {
    using gemm::Variant;
    const auto chosen = [&](std::int64_t m, std::int64_t n, std::int64_t k, gemm::Math math) {
      const SplitOperands<T> operands(m, n, k);
      gemm::BasicProblem<T> problem = operands.problem();
      problem.math = math;
      Stream stream;
      return gemm::run(problem, Variant::automatic, stream);
    };
    const Variant fastest = gemm::supports<T>(Variant::wgmma)                   ? Variant::wgmma
                            : gemm::supports<T>(Variant::mma, gemm::Math::tf32) ? Variant::mma
                                                                                : Variant::naive;
    for (const gemm::Math math : {gemm::Math::f32, gemm::Math::tf32}) {
      EXPECT_EQ(chosen(3, 5, 3, math), Variant::naive);
      EXPECT_EQ(chosen(8, 65, 128, math), Variant::skinny);
      EXPECT_EQ(chosen(8, 1024, 196, math), Variant::skinny); // im2col's, of 7x7 on 4 channels
      EXPECT_EQ(chosen(65, 1, 128, math), Variant::skinny);
      EXPECT_NE(chosen(65, 8, 127, math), Variant::skinny);
      EXPECT_NE(chosen(9, 65, 128, math), Variant::skinny);
      const bool exact = judge.dtype() == Dtype::f32 && math == gemm::Math::f32;
      EXPECT_EQ(chosen(16, 16, 40, math), exact ? Variant::tiled : fastest) << name(math);
    }
  });
}

} // namespace
} // namespace kg::card
