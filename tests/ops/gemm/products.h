// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The products of gemm's card: the fields of their shapes, the layouts of their matrices, and their
// expected sums. A shape is m70_n68_k100_nt, with the transpositions of A and B. A leading b3 is
// the number of products. Optional suffixes, in this order:
//   bias_gelu_tanh ...  the epilogue; z: its argument is stored
//   dbias, dbias_a ...  the gradient of a bias
//   acc                 beta is not 0: C initially holds c0
//   shareda, sharedb    all products share A or B
//   sides               rows of several matrices are interleaved side by side
//   apart8              gap between two matrices, in elements
//   tf32                f32 operands may be rounded to TF32
//   split               only split_k, in at most three parts
//   splits              only split_k, in as many parts as it chooses
//   wide                only mma, wgmma and tiled, with wide tiles
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/gemm/gemm.h"
#include "runtime/hopper_device.h"
#include "tests/contract/card.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/strided.h"

namespace kg::card {

// The layout of the matrices of one kind: dense, without the gaps of a Layout.
struct Matrices {
  std::int64_t count, rows, columns;
  bool side_by_side = false;
  std::int64_t apart = 0; // elements between two matrices

  std::int64_t at(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    const std::int64_t which = matrix % count;
    return (side_by_side ? row * count + which : which * rows + row) * columns + column;
  }
  test::Strided view(std::int64_t matrix) const {
    return {{rows, columns}, {side_by_side ? count * columns : columns, 1}, at(matrix, 0, 0)};
  }
  std::int64_t size() const { return count * rows * columns; }
};

struct Product {
  std::int64_t m, n, k;
  gemm::Transpose transpose_a, transpose_b;
  gemm::Epilogue epilogue = gemm::Epilogue::none;
  gemm::BiasGradient bias_gradient = gemm::BiasGradient::none;
  bool tf32 = false, keeps_z = false, accumulates = false, wide = false;
  std::optional<std::int64_t> parts = {}; // only split_k; 0: its own choice
  std::int64_t batch = 1;
  bool shares_a = false, shares_b = false, side_by_side = false;
  std::int64_t apart = 0;

  Matrices a() const {
    return transpose_a == gemm::Transpose::yes ? stored(shares_a, k, m) : stored(shares_a, m, k);
  }
  Matrices b() const {
    return transpose_b == gemm::Transpose::yes ? stored(shares_b, n, k) : stored(shares_b, k, n);
  }
  Matrices c() const { return stored(false, m, n); }
  std::int64_t sums() const { return bias_gradient == gemm::BiasGradient::of_a ? m : n; }

  // Offsets of the elements of op(A) and op(B).
  std::int64_t of_a(std::int64_t matrix, std::int64_t row, std::int64_t l) const {
    return transpose_a == gemm::Transpose::yes ? a().at(matrix, l, row) : a().at(matrix, row, l);
  }
  std::int64_t of_b(std::int64_t matrix, std::int64_t l, std::int64_t column) const {
    return transpose_b == gemm::Transpose::yes ? b().at(matrix, column, l)
                                               : b().at(matrix, l, column);
  }

  // True if all rows of dense 16-bit matrices are 16-byte aligned.
  bool in_packs() const {
    const auto whole = [](const Matrices& m) { return m.columns % 8 == 0; };
    return whole(a()) && whole(b()) && whole(c());
  }
  bool skinny() const { return std::min(m, n) <= 8; }
  bool few_tiles() const { return !skinny() && batch == 1 && k >= 8 * std::max(m, n); }
  bool plain() const {
    return !tf32 && !wide && epilogue == gemm::Epilogue::none &&
           bias_gradient == gemm::BiasGradient::none && batch == 1 && !skinny() && !few_tiles();
  }

 private:
  Matrices stored(bool shared, std::int64_t rows, std::int64_t columns) const {
    return {shared ? 1 : batch, rows, columns, side_by_side, apart};
  }
};

// The fields that change a result, besides the extents.
inline ShapeGrammar<Product> result_grammar() {
  using gemm::BiasGradient, gemm::Epilogue, gemm::Transpose;
  const auto transposed = [](bool yes) { return yes ? Transpose::yes : Transpose::no; };
  const auto letter = [](Transpose transpose) { return transpose == Transpose::yes ? "t" : "n"; };
  return ShapeGrammar<Product>()
      .part(
          "(nn|nt|tn|tt)",
          [=](const Shape& shape, Product& p) {
            const std::size_t which = shape.word({"nn", "nt", "tn", "tt"});
            p.transpose_a = transposed(which / 2 == 1);
            p.transpose_b = transposed(which % 2 == 1);
          },
          [=](Product& p) { return std::string(letter(p.transpose_a)) + letter(p.transpose_b); })
      .one_of(&Product::epilogue, {{"", Epilogue::none},
                                   {"bias", Epilogue::bias},
                                   {"bias_relu", Epilogue::bias_relu},
                                   {"bias_gelu", Epilogue::bias_gelu},
                                   {"bias_gelu_tanh", Epilogue::bias_gelu_tanh},
                                   {"drelu", Epilogue::drelu},
                                   {"dgelu", Epilogue::dgelu},
                                   {"dgelu_tanh", Epilogue::dgelu_tanh}})
      .flag("z", &Product::keeps_z)
      .one_of(&Product::bias_gradient, {{"", BiasGradient::none},
                                        {"dbias", BiasGradient::of_c},
                                        {"dbias_a", BiasGradient::of_a},
                                        {"dbias_b", BiasGradient::of_b}})
      .flag("acc", &Product::accumulates)
      .flag("shareda", &Product::shares_a)
      .flag("sharedb", &Product::shares_b)
      .flag("sides", &Product::side_by_side)
      .number("apart", &Product::apart, 0)
      .flag("tf32", &Product::tf32);
}
inline ShapeGrammar<Product> product_grammar() {
  return ShapeGrammar<Product>()
      .number("b", &Product::batch, 1)
      .number("m", &Product::m)
      .number("n", &Product::n)
      .number("k", &Product::k)
      .nested(result_grammar())
      .one_of(&Product::parts, {{"", std::nullopt}, {"split", 3}, {"splits", 0}})
      .flag("wide", &Product::wide);
}
inline Product product_of(const std::string& shape) { return product_grammar().parse(shape); }

// With the extents of a single product's matrices.
inline Product product_of(const Problem& problem) {
  Product p = problem.parameters.as<Product>();
  if (p.batch != 1) return p;
  const std::vector<std::int64_t>& a = problem.tensor("a").extents;
  const std::vector<std::int64_t>& b = problem.tensor("b").extents;
  const bool transpose_a = p.transpose_a == gemm::Transpose::yes;
  p.m = a[transpose_a ? 1 : 0];
  p.k = a[transpose_a ? 0 : 1];
  p.n = b[p.transpose_b == gemm::Transpose::yes ? 0 : 1];
  return p;
}

inline std::optional<activation::Function> activation_of(gemm::Epilogue epilogue) {
  switch (epilogue) {
  case gemm::Epilogue::bias_relu:
  case gemm::Epilogue::drelu: return activation::Function::relu;
  case gemm::Epilogue::bias_gelu:
  case gemm::Epilogue::dgelu: return activation::Function::gelu;
  case gemm::Epilogue::bias_gelu_tanh:
  case gemm::Epilogue::dgelu_tanh: return activation::Function::gelu_tanh;
  case gemm::Epilogue::none:
  case gemm::Epilogue::bias: break;
  }
  return std::nullopt;
}

// alpha op(A) op(B) + beta C of all products, in C's layout, from operands rounded as tf32 says.
inline test::GemmOracle sums_of(const Product& p, double alpha, double beta, std::vector<double> a,
                                std::vector<double> b, const std::vector<double>& c) {
  if (p.tf32) {
    a = test::tf32_rounded(a);
    b = test::tf32_rounded(b);
  }
  const auto operand = [](const Matrices& matrices, std::int64_t i, gemm::Transpose transpose) {
    const test::Strided view = matrices.view(i);
    return transpose == gemm::Transpose::yes ? test::transposed(view) : view;
  };
  const Matrices all = p.c();
  const auto size = static_cast<std::size_t>(all.size());
  test::GemmOracle result{std::vector<double>(size), std::vector<double>(size)};
  for (std::int64_t i = 0; i < p.batch; ++i) {
    const test::GemmOracle one =
        test::gemm_oracle({operand(p.a(), i, p.transpose_a), operand(p.b(), i, p.transpose_b),
                           all.view(i), alpha, beta},
                          a, b, c);
    for (std::int64_t e = 0; e < p.m * p.n; ++e) {
      const auto to = static_cast<std::size_t>(all.at(i, e / p.n, e % p.n));
      result.value[to] = one.value[static_cast<std::size_t>(e)];
      result.condition[to] = one.condition[static_cast<std::size_t>(e)];
    }
  }
  return result;
}

// For wgmma: whether compute capability 9.0 supports it.
inline bool supports(gemm::Variant variant, Dtype dtype, gemm::Math math) {
  std::optional<HopperDevice> device;
  if (variant == gemm::Variant::wgmma) device.emplace();
  return dispatch(dtype, [&]<class T>() { return gemm::supports<T>(variant, math); });
}

// mma of f32 matrices requires TF32; the other variants are tested without that permission.
inline gemm::Math math_of(Dtype dtype, gemm::Variant variant) {
  const bool rounds = dtype == Dtype::f32 && variant == gemm::Variant::mma;
  return rounds ? gemm::Math::tf32 : gemm::Math::f32;
}
// Variants for compute capability 9.0 run only with a HopperDevice.
inline std::vector<gemm::Variant> tested_variants(Dtype dtype) {
  std::vector<gemm::Variant> all;
  for (const gemm::Variant variant : gemm::kVariants)
    if (supports(variant, dtype, math_of(dtype, variant))) all.push_back(variant);
  return all;
}

} // namespace kg::card
