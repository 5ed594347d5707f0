// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test data for gemm.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/samples.h"
#include "tests/ops/gemm/edges.h"
#include "tests/ops/gemm/products.h"
#include "tests/ops/gemm/references.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card::gemm_samples {

// --- Data. C draws from the same stream as the bias, with another seed.

inline std::vector<double> drawn(Dtype dtype, std::int64_t count, std::int64_t most,
                                 test::Tensor tensor, std::uint64_t number = 0) {
  return test::integers(dtype, count, most, tensor, test::seed() + number).values;
}

// Half of the exact range of f32 sums is for A B, and for alpha A B if |alpha| <= 2 exact_alpha;
// the integers of C stay well inside the other half. f16 needs a small alpha for finite results.
// Only the final result is rounded.
inline double exact_alpha(Dtype dtype) { return dtype == Dtype::f16 ? 0x1p-8 : 1; }

inline Sample exact_product(Dtype dtype, const std::string& shape, test::ProductRange range,
                            double alpha = 1, double beta = 1) {
  const Product p = product_of(shape);
  const std::int64_t most = dtype == Dtype::bf16 ? 250 : 1000; // that the type represents
  const std::int64_t count_a = p.a().count, count_b = p.b().count;
  // All A stacked vertically, all B side by side. TF32 has the significand of f16.
  const test::FillPair pair =
      test::exact_product(p.tf32 ? Dtype::f16 : dtype, Dtype::f32, range,
                          {count_a * p.m, count_b * p.n, p.k}, test::exact_limit(Dtype::f32) / 4);
  std::vector<double> a(pair.a.size()), b(pair.b.size());
  for (std::int64_t i = 0; i < count_a * p.m * p.k; ++i)
    a[static_cast<std::size_t>(p.of_a(i / p.k / p.m, i / p.k % p.m, i % p.k))] =
        pair.a[static_cast<std::size_t>(i)];
  const std::int64_t columns = count_b * p.n;
  for (std::int64_t i = 0; i < p.k * columns; ++i)
    b[static_cast<std::size_t>(p.of_b(i % columns / p.n, i / columns, i % p.n))] =
        pair.b[static_cast<std::size_t>(i)];
  Sample sample{pair.name, shape, {{"a", values(dtype, a)}, {"b", values(dtype, b)}}};
  sample.scalars = {{"alpha", alpha * exact_alpha(dtype)}, {"beta", p.accumulates ? beta : 0}};
  if (p.accumulates)
    sample.inputs["c0"] = values(dtype, drawn(dtype, p.c().size(), most, test::Tensor::c));
  if (gemm::adds_bias(p.epilogue))
    sample.inputs["bias"] = values(dtype, drawn(dtype, p.n, most, test::Tensor::c, 1));
  return sample;
}

// Integers so small that C, for a short k, and its column sums are exact in f32, even after C is
// rounded; they include zeros.
inline Sample small_integers(Dtype dtype, const std::string& shape, double alpha, double beta) {
  constexpr std::int64_t kMost = 3;
  const Product p = product_of(shape);
  Sample sample{"small integers",
                shape,
                {{"a", values(dtype, drawn(dtype, p.a().size(), kMost, test::Tensor::a))},
                 {"b", values(dtype, drawn(dtype, p.b().size(), kMost, test::Tensor::b))}},
                {{"alpha", alpha}, {"beta", p.accumulates ? beta : 0}}};
  if (p.accumulates)
    sample.inputs["c0"] = values(dtype, drawn(dtype, p.c().size(), kMost, test::Tensor::c));
  if (gemm::differentiates(p.epilogue))
    sample.inputs["z"] = values(dtype, drawn(dtype, p.c().size(), kMost, test::Tensor::c, 2));
  return sample;
}

// --- Exact.

// Sums of the stored values.
inline Sample exact_gradient(Dtype dtype, const std::string& shape) {
  Sample sample = small_integers(dtype, shape, 2, -1);
  const Product p = product_of(shape);
  const auto of = [&](const char* tensor) { return sample.inputs.at(tensor).values; };
  std::vector<double> c = test::unary_backward_oracle(
      activation::Function::relu, of("z"), sums_of(p, 2, -1, of("a"), of("b"), of("c0")).value);
  for (double& value : c) value = test::round_to(dtype, value);
  sample.expected["c"] = c;
  if (p.bias_gradient == gemm::BiasGradient::none) return sample;
  std::vector<double>& sums = sample.expected["dbias"] = test::column_sums(c, p.n);
  for (double& value : sums) value = test::round_to(dtype, value);
  return sample;
}

// 16-byte accesses to C and z: whole, some cut at the edge, and none.
inline void add_exact_epilogues(std::vector<Sample>& samples, Dtype dtype) {
  for (const std::int64_t n : {136, 131, 70}) {
    for (const char* epilogue : {"_bias", "_bias_z", "_bias_relu", "_bias_relu_z"})
      for (const std::string& shape :
           fitted(dtype, {67, n, 24}, "nt", std::string(epilogue) + "_acc"))
        samples.push_back(exact_product(dtype, shape, test::ProductRange::r1, 2, -3));
    for (const std::string gradient : {"_drelu", "_drelu_dbias"})
      for (const std::string& shape : fitted(dtype, {67, n, 24}, "nt", gradient + "_acc"))
        samples.push_back(exact_gradient(dtype, shape));
  }
  for (const std::string& shape :
       by_wide_tiles(dtype, {"m130_n264_k40_nn_bias_relu_z_acc", "b2_m72_n264_k40_nt_acc"}))
    samples.push_back(exact_product(dtype, shape, test::ProductRange::r1, 2, -3));
  for (const std::string lie : {"_apart8", "_sides"})
    for (const std::string& shape : fitted(dtype, {65, 24, 8}, "nn", "_bias_relu_z" + lie, "b3_"))
      samples.push_back(exact_product(dtype, shape, test::ProductRange::r1));
  // An epilogue changes C even if the product does not.
  for (const std::string& shape : fitted(dtype, {3, 5, 0}, "nn", "_bias_acc"))
    samples.push_back(exact_product(dtype, shape, test::ProductRange::r1));
}

// Sums of an operand over k, for any C: over parts of at least 64 rows, of columns that do and do
// not fill a block's 32 packs; also if C = beta C reads nothing else of it.
inline std::vector<Sample> sums_of_operands(Dtype dtype) {
  struct Case {
    std::int64_t columns, k;
    double alpha;
  };
  std::vector<Sample> samples;
  for (const auto& [columns, k, alpha] :
       {Case{1, 1, 1}, {3, 0, 1}, {33, 65, 1}, {257, 64, 1}, {72, 700, 1}, {300, 9, 0}})
    for (const std::string& shape : {shape_of({columns, 5, k}, "tn", "_dbias_a"),
                                     shape_of({5, columns, k}, "tn", "_dbias_b")}) {
      samples.push_back(small_integers(dtype, shape, alpha, 0));
      samples.back().may_be_vacuous = k == 0 || alpha == 0;
    }
  return samples;
}

// Matrices with and without gaps, with an odd number of elements between them, with interleaved
// rows, and shared.
inline void add_exact_batches(std::vector<Sample>& samples, Dtype dtype) {
  for (const std::string transposition : kTranspositions)
    for (const auto& [count, lie] : {std::pair<std::string, std::string>{"b3_", "_apart8"},
                                     {"b2_", "_apart1"},
                                     {"b3_", "_sides"},
                                     {"b2_", "_shareda"},
                                     {"b3_", "_sharedb_apart16"}})
      for (const std::string& shape :
           fitted(dtype, {66, 24, 40}, transposition, "_acc" + lie, count))
        samples.push_back(exact_product(dtype, shape, test::ProductRange::r1, 2, -3));
}

// A I = A in every bit, or A rounded to TF32: rounding to TF32 without permission changes nearly
// every element.
inline void add_identities(std::vector<Sample>& samples, Dtype dtype) {
  constexpr std::int64_t kSide = 97;
  for (const std::string transposition : {"nn", "tt"})
    for (const std::int64_t m : {70, 8, 40})
      for (const std::string& shape :
           fitted(dtype, {m, kSide, kSide}, transposition, "", "", false)) {
        const Product p = product_of(shape);
        std::vector<double> a = test::normal(dtype, m * kSide, test::Tensor::a).values;
        samples.push_back({"identity",
                           shape,
                           {{"a", values(dtype, a)}, {"b", values(dtype, test::identity(kSide))}}});
        if (p.tf32) a = test::tf32_rounded(a);
        std::vector<double>& c = samples.back().expected["c"];
        for (std::int64_t i = 0; i < m * kSide; ++i)
          c.push_back(a[static_cast<std::size_t>(p.of_a(0, i / kSide, i % kSide))]);
      }
}

// Sums below the smallest normal number of the result's type, from normal operands.
inline void add_subnormals(std::vector<Sample>& samples, Dtype dtype) {
  const int least = std::ilogb(test::min_subnormal(dtype));
  const auto scaled = [&](std::int64_t count, test::Tensor tensor, int exponent) {
    std::vector<double> numbers = drawn(dtype, count, 1, tensor);
    for (double& number : numbers) number = std::ldexp(number, exponent);
    return values(dtype, numbers);
  };
  for (const double beta : {0, 1})
    for (const std::string& shape : fitted(dtype, {66, 20, 40}, "nn", "_acc")) {
      const Product p = product_of(shape);
      samples.push_back({"subnormal",
                         shape,
                         {{"a", scaled(p.a().size(), test::Tensor::a, least / 2)},
                          {"b", scaled(p.b().size(), test::Tensor::b, least - least / 2)},
                          {"c0", scaled(p.c().size(), test::Tensor::c, least)}},
                         {{"alpha", 1}, {"beta", beta}}});
    }
}

// The sum starts from +0, so only alpha and beta C decide the sign of a zero.
inline void add_zeros(std::vector<Sample>& samples, Dtype dtype) {
  for (const double alpha : {1, -1})
    for (const double beta : {0, 1})
      for (const double zero : {0.0, -0.0})
        for (const std::string& shape : fitted(dtype, {5, 6, 3}, "nn", "_acc")) {
          samples.push_back({"zeros",
                             shape,
                             {{"a", values(dtype, std::vector<double>(15, -1))},
                              {"b", values(dtype, std::vector<double>(18, 0.0))},
                              {"c0", values(dtype, std::vector<double>(30, zero))}},
                             {{"alpha", alpha}, {"beta", beta}}});
          samples.back().expected["c"] =
              std::vector<double>(30, beta == 0 ? alpha * 0.0 : alpha * 0.0 + zero);
          samples.back().degenerate = test::Degenerate::zero;
        }
}

inline std::vector<Sample> exact_samples(Dtype dtype) {
  using enum test::ProductRange;
  std::vector<Sample> samples;
  for (const std::string transposition : kTranspositions)
    for (const std::string& shape : fitted(dtype, {70, 68, 100}, transposition, "_acc"))
      for (const auto range : {r1, r1w_a, r1w_b})
        samples.push_back(exact_product(dtype, shape, range, 2, -3));
  add_exact_epilogues(samples, dtype);
  for (const std::string shape : {"m0_n5_k3_nn_dbias", "m0_n5_k0_nn_dbias", "m0_n0_k3_nn_dbias"}) {
    samples.push_back({"sums of nothing", shape});
    samples.back().may_be_vacuous = true;
  }
  for (Sample& sample : sums_of_operands(dtype)) samples.push_back(std::move(sample));
  add_exact_batches(samples, dtype);
  add_identities(samples, dtype);
  add_subnormals(samples, dtype);
  add_zeros(samples, dtype);
  for (const std::string transposition : kTranspositions)
    for (const std::string& shape : edges(dtype, transposition)) {
      samples.push_back(exact_product(dtype, shape, r1));
      samples.back().degenerate = test::degenerate_of(product_of(shape).c().size());
    }
  return samples;
}

// --- Random.

inline void add_random(std::vector<Sample>& samples, const std::vector<std::string>& shapes,
                       double alpha, double beta) {
  for (const std::string& shape : shapes)
    samples.push_back({"normal", shape, {}, {{"alpha", alpha}, {"beta", beta}}});
}

inline std::vector<Sample> vendor_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string transposition : kTranspositions) {
    add_random(samples, fitted(dtype, {67, 75, 151}, transposition, "_acc"), 0.7, 1.3);
    add_random(samples, fitted(dtype, {64, 24, 400}, transposition, "_acc"), 0.7, 1.3);
    add_random(samples, by_wide_tiles(dtype, {shape_of({72, 264, 152}, transposition, "_acc")}),
               0.7, 1.3);
  }
  for (const std::string lie : {"_apart5", "_sharedb_apart5"})
    add_random(samples, fitted(dtype, {35, 40, 150}, "tn", "_acc" + lie, "b3_"), 0.7, 1.3);
  for (const std::string epilogue : {"_bias_z", "_bias_relu_z", "_bias_gelu_z", "_bias_gelu_tanh_z",
                                     "_drelu_dbias", "_dgelu_dbias", "_dgelu_tanh_dbias"})
    add_random(samples, fitted(dtype, {70, 72, 150}, "nn", epilogue + "_acc"), 0.1, 0.7);
  for (Sample& sample : sums_of_operands(dtype))
    if (!sample.may_be_vacuous) samples.push_back(std::move(sample));
  return samples;
}

// The libraries' samples, empty products, and BLAS's special factors.
inline std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples = vendor_samples(dtype);
  for (const std::string epilogue : {"_bias_z", "_bias_gelu_z", "_dgelu_dbias"})
    add_random(samples, fitted(dtype, {70, 72, 0}, "nn", epilogue + "_acc"), 0.1, 0.7);
  for (const double alpha : {0.0, 1.0, -1.0, 0.7})
    for (const double beta : {0.0, 1.0, -1.0, 0.7})
      for (const std::int64_t k : {0, 40}) {
        const std::size_t before = samples.size();
        add_random(samples, fitted(dtype, {65, 20, k}, "nn", "_acc"), alpha, beta);
        if (beta != 0 || (alpha != 0 && k != 0)) continue;
        for (std::size_t i = before; i < samples.size(); ++i)
          samples[i].degenerate = test::Degenerate::zero;
      }
  return samples;
}

// A NaN or infinity in A reaches its row of C and nothing else, including padding; infinities of
// both signs in one sum give NaN. One in the bias reaches its column, one in z its element, through
// the activation or the limit of its derivative.
inline std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const double special : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
    // The last one has whole packs, for wgmma.
    for (const ProductShape extents : {ProductShape{67, 70, 21}, {67, 8, 21}, {67, 72, 24}})
      for (const std::string& shape : fitted(dtype, extents, "nn", "", "", false))
        for (const bool both_signs : {false, true}) {
          const Product p = product_of(shape);
          std::vector<double> a = test::positive(dtype, p.a().size(), test::Tensor::a).values;
          a.back() = special; // row 66
          if (both_signs) a[a.size() - 2] = -special;
          const auto b = test::positive(dtype, p.b().size(), test::Tensor::b).values;
          samples.push_back({"special", shape, {{"a", values(dtype, a)}, {"b", values(dtype, b)}}});
        }
    for (const std::string epilogue : {"_bias", "_bias_relu", "_bias_gelu", "_bias_gelu_tanh",
                                       "_drelu_dbias", "_dgelu_dbias", "_dgelu_tanh_dbias"})
      for (const std::string& shape : fitted(dtype, {5, 9, 3}, "nn", epilogue, "", false)) {
        const bool of_z = epilogue.starts_with("_d");
        std::vector<double> numbers =
            test::normal(dtype, of_z ? 45 : 9, test::Tensor::c, test::seed() + 1).values;
        numbers[of_z ? 2 * 9 + 7 : 7] = special;
        samples.push_back({"special", shape, {{of_z ? "z" : "bias", values(dtype, numbers)}}});
        samples.back().may_be_vacuous = true;
      }
  }
  return samples;
}

// --- Shapes.

// One for each path of each variant.
inline std::vector<std::string> usual(Dtype dtype) {
  std::vector<std::string> shapes =
      for_all_variants(dtype, {"m34_n40_k24_tt", "m35_n40_k24_nt_bias_gelu_tanh_z",
                               "m35_n40_k24_nt_dgelu", "m35_n40_k24_nt_dgelu_dbias"});
  for (const char* shape : {"m130_n67_k77_nn_acc", "m40_n24_k77_nn_acc_split", "m7_n40_k130_nt",
                            "m40_n7_k130_nn_acc", "m33_n40_k24_nn", "m33_n40_k24_tn"})
    shapes.push_back(shape);
  for (const std::string& shape : by_wide_tiles(dtype, {"m130_n72_k80_nn_acc"}))
    shapes.push_back(shape);
  if (dtype == Dtype::f32) shapes.emplace_back("m130_n67_k77_nn_acc_tf32");
  return shapes;
}

// Numbers of rows of A, of columns of B and of products, for each variant.
inline std::vector<std::string> batches(Dtype dtype) {
  std::vector<std::string> batches = {"m*_n40_k75_nt",
                                      "m*_n8_k1040_nt",
                                      "m8_n*_k1040_nn",
                                      "m*_n67_k77_tn_bias_gelu_tanh",
                                      "m70_n*_k75_nn",
                                      "m*_n24_k200_nn_split",
                                      "b2*_m20_n24_k2048_nn_splits",
                                      "b2*_m20_n24_k40_nt"};
  if (dtype == Dtype::f32) batches.push_back("m*_n40_k75_nn_tf32");
  for (const std::string& batch : by_wide_tiles(dtype, {"m8*_n72_k80_nn"}))
    batches.push_back(batch);
  return batches;
}

// Rows that start 16-byte aligned, with a gap that ends between two boundaries, and without.
inline std::vector<std::string> misaligned(Dtype dtype) {
  std::vector<std::string> shapes = for_all_variants(
      dtype, {"m19_n35_k19_nn", "m24_n40_k16_nt", "m19_n35_k75_nt", "m19_n35_k19_tn_acc",
              "m19_n35_k8_nt_bias_gelu_z", "m19_n35_k8_nt_dgelu_dbias"});
  for (const std::string shape : {"m8_n40_k24_nn", "m8_n40_k24_nt", "m40_n8_k24_tn"})
    shapes.push_back(shape);
  return shapes;
}

// Rows of all matrices that end in whole packs, in half packs, and one off.
inline std::vector<std::string> pitches(Dtype dtype) {
  return for_all_variants(dtype,
                          {"m24_n40_k16_nt", "m33_n33_k33_tn_acc", "m20_n20_k20_nn",
                           "m15_n15_k15_tt", "m22_n22_k22_nn", "m24_n36_k23_nt_bias_gelu_z"});
}

inline std::vector<std::string> empty() {
  return {"m0_n5_k3_nn",      "m5_n0_k3_nn",       "m0_n0_k0_nn",
          "m0_n5_k3_nn_tf32", "m0_n5_k3_nn_split", "b0_m2_n3_k4_nn"};
}

} // namespace kg::card::gemm_samples
