// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How gemm_test.cu makes, runs and judges one matrix product.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "tests/support/case.h"
#include "tests/support/fills.h"
#include "tests/support/hygiene.h"
#include "tests/support/oracle.h"
#include "tests/support/slice_hint.h"
#include "tests/support/strided.h"
#include "vendor/gemm/gemm.h"

#include "gemm/gemm.h"

namespace kg::test::gemm_case {

using gemm::Transpose;
using gemm::Variant;

inline constexpr Transpose kTransposes[] = {Transpose::no, Transpose::yes};

// A case without its data. Each matrix is stored with `gap` elements between rows and `offset`
// elements before it.
struct Setup {
  std::int64_t m, n, k;
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  float alpha = 1;
  float beta = 0;
  std::int64_t gap = 0;
  std::int64_t offset = 0;

  Strided a() const { return operand(m, k, transpose_a); }
  Strided b() const { return operand(k, n, transpose_b); }
  Strided c() const { return operand(m, n, Transpose::no); }
  std::vector<std::int64_t> shape() const { return {m, n}; }

 private:
  Strided operand(std::int64_t rows, std::int64_t columns, Transpose transpose) const {
    const bool stored_transposed = transpose == Transpose::yes;
    if (stored_transposed) std::swap(rows, columns);
    Strided stored = matrix(rows, columns, columns + gap);
    stored.offset = offset;
    return stored_transposed ? transposed(stored) : stored;
  }
};

inline std::int64_t leading(const Strided& operand) {
  return operand.strides[0] == 1 ? operand.strides[1] : operand.strides[0];
}

// Dense values of op(A), op(B) and C before the operation.
struct Data {
  std::string fill;
  std::vector<double> a, b, c;
};

inline Data normal_data(const Setup& s) {
  return {"normal", normal(Dtype::f32, s.m * s.k, Tensor::a).values,
          normal(Dtype::f32, s.k * s.n, Tensor::b).values,
          normal(Dtype::f32, s.m * s.n, Tensor::c).values};
}

inline Data positive_data(const Setup& s) {
  return {"positive", positive(Dtype::f32, s.m * s.k, Tensor::a).values,
          positive(Dtype::f32, s.k * s.n, Tensor::b).values,
          positive(Dtype::f32, s.m * s.n, Tensor::c).values};
}

// Half of the exact range is for alpha A B, as long as |alpha| is at most 2; the integers of C stay
// far inside the other half.
inline Data exact_data(const Setup& s, ProductRange range) {
  constexpr std::int64_t kMaxC = 1000;
  const FillPair pair =
      exact_product(Dtype::f32, Dtype::f32, range, {s.m, s.n, s.k}, exact_limit(Dtype::f32) / 4);
  return {pair.name, pair.a, pair.b, integers(Dtype::f32, s.m * s.n, kMaxC, Tensor::c).values};
}

inline GemmOracle oracle(const Setup& s, const Data& data) {
  return gemm_oracle(
      {contiguous({s.m, s.k}), contiguous({s.k, s.n}), contiguous({s.m, s.n}), s.alpha, s.beta},
      data.a, data.b, data.c);
}

inline VariantId variant_id(std::string_view variant) {
  return {"gemm", "f32", std::string(variant)};
}

inline CaseContext context(const Setup& s, const Data& data, std::string_view variant) {
  return {CaseId("gemm.f32.m" + std::to_string(s.m) + "_n" + std::to_string(s.n) + "_k" +
                 std::to_string(s.k) + "_" +
                 std::string(gemm::transposition_name(s.transpose_a, s.transpose_b))),
          std::string(variant), data.fill, s.shape(), s.c().strides};
}

// The matrices of a case on the device. C holds poison in its gaps, and everywhere where beta = 0.
class Matrices {
 public:
  Matrices(const Setup& s, const Data& data, Stream& stream)
      : setup_(s), a_(scatter(elements<float>(data.a), s.a())),
        b_(scatter(elements<float>(data.b), s.b())),
        c_(s.beta == 0 ? poisoned<float>(s.c().storage_size())
                       : scatter(elements<float>(data.c), s.c())),
        device_a_(DeviceBuffer<float>::from_host(a_, stream)),
        device_b_(DeviceBuffer<float>::from_host(b_, stream)),
        device_c_(DeviceBuffer<float>::from_host(c_, stream)) {}

  gemm::Problem problem() const {
    const Setup& s = setup_;
    return {s.transpose_a,
            s.transpose_b,
            s.m,
            s.n,
            s.k,
            s.alpha,
            device_a_.data() + s.offset,
            leading(s.a()),
            device_b_.data() + s.offset,
            leading(s.b()),
            s.beta,
            device_c_.data() + s.offset,
            leading(s.c())};
  }

  vendor::Gemm vendor_problem() const {
    const gemm::Problem p = problem();
    return {p.transpose_a == Transpose::yes,
            p.transpose_b == Transpose::yes,
            p.m,
            p.n,
            p.k,
            p.alpha,
            p.a,
            p.lda,
            p.b,
            p.ldb,
            p.beta,
            p.c,
            p.ldc};
  }

  // What `variant`, which ran, left in C, once everything that it must not touch has been checked.
  std::vector<float> result(std::string_view variant, Stream& stream) const {
    Hygiene hygiene(variant_id(variant));
    hygiene.input("a", a_, device_a_, stream);
    hygiene.input("b", b_, device_b_, stream);
    return hygiene.output(device_c_, setup_.c(), stream);
  }

 private:
  Setup setup_;
  std::vector<float> a_, b_, c_;
  DeviceBuffer<float> device_a_, device_b_, device_c_;
};

inline std::vector<float> run(const Setup& s, const Data& data, Variant variant) {
  Stream stream;
  const Matrices matrices(s, data, stream);
  EXPECT_EQ(gemm::run(matrices.problem(), variant, stream), variant);
  return matrices.result(gemm::name(variant), stream);
}

// What of k the wrong elements lack.
inline std::string hint(const Setup& s, const Data& data, const Comparison& comparison) {
  std::vector<WrongSum> wrong;
  for (const Mismatch& mismatch : comparison.first) {
    WrongSum& sum = wrong.emplace_back();
    const std::int64_t row = mismatch.index / s.n;
    const std::int64_t column = mismatch.index % s.n;
    for (std::int64_t l = 0; l < s.k; ++l)
      sum.terms.push_back(s.alpha * data.a[static_cast<std::size_t>(row * s.k + l)] *
                          data.b[static_cast<std::size_t>(l * s.n + column)]);
    sum.expected = mismatch.expected;
    sum.actual = mismatch.actual;
    sum.tolerance = mismatch.tolerance;
  }
  const std::string slice = slice_hint(wrong);
  return slice.empty() ? "" : "of k, " + slice;
}

inline void expect_exact(const Setup& s, const Data& data, Variant variant) {
  const Observed actual = observe(run(s, data, variant));
  const GemmOracle expected = oracle(s, data);
  const Comparison comparison = compare(actual, exactly(Dtype::f32, s.shape(), expected.value));
  EXPECT_TRUE(verdict(comparison, context(s, data, gemm::name(variant))))
      << hint(s, data, comparison);
}

} // namespace kg::test::gemm_case
