// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A product that gemm_perf.cu times: its matrices, and that C, or a gradient, became what it
// should.
#pragma once

#include "perf/measure/random_data.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_gemm_epilogue.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance.h"
#include "vendor/gemm/gemm.h"

#include "gemm/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kg::perf::gemm_case {

struct Extents {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
  bool tf32;
  gemm::Epilogue epilogue;
  gemm::BiasGradient bias_gradient;
  std::int64_t batch;

  bool skinny() const { return std::min(m, n) <= 8; }
  bool few_tiles() const { return !skinny() && batch == 1 && k >= 8 * std::max(m, n); }
  bool plain() const {
    return !tf32 && epilogue == gemm::Epilogue::none && bias_gradient == gemm::BiasGradient::none &&
           batch == 1 && !skinny() && !few_tiles();
  }
  std::int64_t sums() const { return bias_gradient == gemm::BiasGradient::of_a ? m : n; }
  std::int64_t a() const { return m * k; } // elements of one matrix
  std::int64_t b() const { return k * n; }
  std::int64_t c() const { return m * n; }
};

inline gemm::Transpose transpose(bool yes) {
  return yes ? gemm::Transpose::yes : gemm::Transpose::no;
}

template <class T>
gemm::BasicProblem<T> problem(const vendor::Gemm& g) {
  const auto epilogue = static_cast<gemm::Epilogue>(g.epilogue);
  return {.transpose_a = transpose(g.transpose_a),
          .transpose_b = transpose(g.transpose_b),
          .m = g.m,
          .n = g.n,
          .k = g.k,
          .alpha = g.alpha,
          .a = static_cast<const T*>(g.a),
          .lda = g.lda,
          .b = static_cast<const T*>(g.b),
          .ldb = g.ldb,
          .beta = g.beta,
          .c = static_cast<T*>(g.c),
          .ldc = g.ldc,
          .math = g.tf32 ? gemm::Math::tf32 : gemm::Math::f32,
          .epilogue = epilogue,
          .bias = gemm::adds_bias(epilogue) ? static_cast<const T*>(g.bias) : nullptr,
          .z = gemm::differentiates(epilogue) ? static_cast<T*>(const_cast<void*>(g.z)) : nullptr,
          .ldz = g.ldz,
          .batch = g.batch,
          .stride_a = g.stride_a,
          .stride_b = g.stride_b,
          .stride_c = g.stride_c,
          .bias_gradient = static_cast<gemm::BiasGradient>(g.bias_gradient),
          .dbias = g.bias_gradient == vendor::GemmBiasGradient::none ? nullptr
                                                                     : static_cast<T*>(g.dbias)};
}

template <class T>
struct Matrices {
  Matrices(const Extents& e, Stream& stream)
      : e(e), a(e.batch * e.a(), test::Tensor::a, stream),
        b(e.batch * e.b(), test::Tensor::b, stream), bias(e.n, test::Tensor::c, stream),
        z(gemm::differentiates(e.epilogue) ? e.c() : 0, test::Tensor::c, stream),
        c(static_cast<std::size_t>(e.batch * e.c())),
        dbias(static_cast<std::size_t>(e.bias_gradient == gemm::BiasGradient::none ? 0 : e.sums())),
        workspace(gemm::workspace_bytes(
            problem<T>(product()), e.few_tiles() ? gemm::Variant::split_k : gemm::Variant::naive)) {
  }
  Extents e;
  RandomData<T> a, b, bias, z;
  DeviceBuffer<T> c, dbias;
  DeviceBuffer<std::byte> workspace;
  double worst_error = 0;

  vendor::Gemm product() const {
    return {dtype_of<T>,
            e.transpose_a,
            e.transpose_b,
            e.m,
            e.n,
            e.k,
            1,
            a.data(),
            e.transpose_a ? e.m : e.k,
            b.data(),
            e.transpose_b ? e.k : e.n,
            0,
            c.data(),
            e.n,
            e.tf32,
            static_cast<vendor::GemmEpilogue>(e.epilogue),
            bias.data(),
            e.batch,
            e.a(),
            e.b(),
            e.c(),
            z.data(),
            e.n,
            static_cast<vendor::GemmBiasGradient>(e.bias_gradient),
            dbias.data()};
  }
};

// Ours rounds to TF32 where it may; a library may round otherwise, or not at all.
enum class Owner { us, library };

// The bounds of gemm_test.cu for a product in f32.
inline double tolerance_of(Dtype dtype, bool tf32, Owner owner, std::int64_t k, double condition) {
  if (tf32 && owner == Owner::library) return test::gemm_tf32_library_tolerance(k, condition);
  return dtype == Dtype::f32 && !tf32 ? test::gemm_f32_tolerance(k, condition)
                                      : test::gemm_matrix_unit_tolerance(k, condition);
}

inline std::optional<test::UnaryOp> activation_of(gemm::Epilogue epilogue) {
  switch (epilogue) {
  case gemm::Epilogue::bias_relu:
  case gemm::Epilogue::drelu: return test::UnaryOp::relu;
  case gemm::Epilogue::bias_gelu:
  case gemm::Epilogue::dgelu: return test::UnaryOp::gelu;
  case gemm::Epilogue::bias_gelu_tanh:
  case gemm::Epilogue::dgelu_tanh: return test::UnaryOp::gelu_tanh;
  case gemm::Epilogue::none:
  case gemm::Epilogue::bias: break;
  }
  return std::nullopt;
}

// Some elements of C: products with their bounds, and what the epilogue takes beside.
struct Elements {
  std::vector<double> product, tolerance, bias, z;
};

struct Stored {
  std::vector<double> value, bounds;
};
inline Stored stored(Dtype dtype, gemm::Epilogue epilogue, Owner owner, const Elements& of) {
  const bool library = owner == Owner::library;
  const auto activation = activation_of(epilogue);
  if (gemm::differentiates(epilogue)) {
    const auto bounds_of =
        library ? test::library_epilogue_gradient_tolerances : test::epilogue_gradient_tolerances;
    const std::vector<double> dz = test::unary_backward_oracle(*activation, of.z, of.product);
    return {dz, bounds_of(*activation, dtype, of.z, of.product, of.tolerance, dz)};
  }
  if (gemm::adds_bias(epilogue)) {
    const test::EpilogueOracle right = test::epilogue_oracle(activation, of.product, of.bias);
    return {right.y, library
                         ? test::library_epilogue_tolerances(activation, dtype, right, of.tolerance)
                         : test::epilogue_tolerances(activation, dtype, right, of.tolerance).y};
  }
  std::vector<double> bounds;
  for (std::size_t i = 0; i < of.product.size(); ++i)
    bounds.push_back(test::stored_tolerance(dtype, of.product[i], of.tolerance[i]));
  return {of.product, bounds};
}

// The first and last elements of C and some between, O(k) each.
template <class T>
std::string verify_c(Matrices<T>& m, Owner owner, Stream& stream) {
  constexpr std::int64_t kElements = 512;
  const Extents& e = m.e;
  const test::GemmProblem dot{test::contiguous({1, e.k}), test::contiguous({e.k, 1}),
                              test::contiguous({1, 1})};
  for (const Window window : windows(e.batch * e.c(), kElements)) {
    Elements of;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
      const std::int64_t first_a = i / e.c() * e.a();
      const std::int64_t first_b = i / e.c() * e.b();
      const std::int64_t row = i / e.n % e.m;
      const std::int64_t column = i % e.n;
      std::vector<double> a, b;
      for (std::int64_t k = 0; k < e.k; ++k) {
        const std::int64_t in_a = e.transpose_a ? k * e.m + row : row * e.k + k;
        const std::int64_t in_b = e.transpose_b ? column * e.k + k : k * e.n + column;
        a.push_back(static_cast<double>(m.a.at(first_a + in_a)));
        b.push_back(static_cast<double>(m.b.at(first_b + in_b)));
      }
      if (e.tf32) {
        a = test::tf32_rounded(a);
        b = test::tf32_rounded(b);
      }
      const test::GemmOracle oracle = test::gemm_oracle(dot, a, b, {});
      of.product.push_back(oracle.value[0]);
      of.tolerance.push_back(tolerance_of(dtype_of<T>, e.tf32, owner, e.k, oracle.condition[0]));
      of.bias.push_back(static_cast<double>(m.bias.at(column)));
      if (gemm::differentiates(e.epilogue)) of.z.push_back(static_cast<double>(m.z.at(i)));
    }
    const Stored right = stored(dtype_of<T>, e.epilogue, owner, of);
    const auto comparison = test::compare(observe(m.c, window, stream),
                                          {dtype_of<T>, {window.count}, right.value, right.bounds});
    m.worst_error = std::max(m.worst_error, comparison.max_error);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

// A few columns, of C as it is stored. A library may add what it has not rounded yet.
template <class T>
std::string verify_dbias(const Matrices<T>& m, Owner owner, Stream& stream) {
  const Extents& e = m.e;
  const bool of_c = e.bias_gradient == gemm::BiasGradient::of_c;
  const std::vector<T> c = of_c ? m.c.to_host(stream) : std::vector<T>();
  const auto& operand = e.bias_gradient == gemm::BiasGradient::of_a ? m.a : m.b;
  for (const std::int64_t column : {std::int64_t{0}, e.sums() / 3, e.sums() - 1}) {
    std::vector<double> values;
    for (std::int64_t row = 0; row < (of_c ? e.m : e.k); ++row) {
      const std::int64_t at = row * e.sums() + column;
      values.push_back(test::to_double(of_c ? c[static_cast<std::size_t>(at)] : operand.at(at)));
    }
    const std::vector<double> sum = test::column_sums(values, 1);
    std::vector<double> bound = test::column_sum_tolerances(dtype_of<T>, values, sum);
    if (owner == Owner::library)
      for (const double value : values) bound[0] += unit_roundoff(dtype_of<T>) * std::fabs(value);
    const auto comparison =
        test::compare(observe(m.dbias, {column, 1}, stream), {dtype_of<T>, {1}, sum, bound});
    if (!comparison.passed())
      return "dbias, column " + std::to_string(column) + ": " + comparison.text();
  }
  return "";
}

template <class T>
std::string verify(Matrices<T>& m, Owner owner, Stream& stream) {
  const std::string wrong = verify_c(m, owner, stream);
  if (!wrong.empty() || m.e.bias_gradient == gemm::BiasGradient::none) return wrong;
  return verify_dbias(m, owner, stream);
}

} // namespace kg::perf::gemm_case
