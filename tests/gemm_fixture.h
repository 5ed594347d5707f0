// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How gemm_test.cu makes, runs and judges one matrix product.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/fills.h"
#include "tests/support/hygiene.h"
#include "tests/support/oracle.h"
#include "tests/support/slice_hint.h"
#include "tests/support/strided.h"
#include "tests/support/tolerance.h"
#include "vendor/gemm/gemm.h"

#include "gemm/gemm.h"

namespace kg::test::gemm_case {

using gemm::Transpose;
using gemm::Variant;

inline constexpr Transpose kTransposes[] = {Transpose::no, Transpose::yes};

// mma of f32 matrices exists by TF32 alone; the other variants are tested without that permission.
template <class T>
constexpr bool rounds_inputs(Variant variant) {
  return dtype_of<T> == Dtype::f32 && variant == Variant::mma;
}
template <class T>
constexpr gemm::Math math_of(Variant variant) {
  return rounds_inputs<T>(variant) ? gemm::Math::tf32 : gemm::Math::f32;
}

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
  gemm::Epilogue epilogue = gemm::Epilogue::none;
  bool keeps_z = false;

  Strided a() const { return operand(m, k, transpose_a); }
  Strided b() const { return operand(k, n, transpose_b); }
  Strided c() const { return operand(m, n, Transpose::no); }
  Strided z() const { // with another distance between its rows
    Strided stored = matrix(m, n, n + gap + 8);
    stored.offset = offset;
    return stored;
  }
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

// Dense values of op(A), op(B), C before the operation, and the bias.
struct Data {
  std::string fill;
  std::vector<double> a, b, c;
  std::vector<double> bias = {};
};

inline std::uint64_t bias_seed() { return seed() + 1; } // C has the other numbers

template <class T>
Data normal_data(const Setup& s) {
  return {"normal", normal(dtype_of<T>, s.m * s.k, Tensor::a).values,
          normal(dtype_of<T>, s.k * s.n, Tensor::b).values,
          normal(dtype_of<T>, s.m * s.n, Tensor::c).values,
          normal(dtype_of<T>, s.n, Tensor::c, bias_seed()).values};
}

template <class T>
Data positive_data(const Setup& s) {
  return {"positive", positive(dtype_of<T>, s.m * s.k, Tensor::a).values,
          positive(dtype_of<T>, s.k * s.n, Tensor::b).values,
          positive(dtype_of<T>, s.m * s.n, Tensor::c).values,
          positive(dtype_of<T>, s.n, Tensor::c, bias_seed()).values};
}

// Half of the exact range of the f32 sums is for A B, and for alpha A B as long as |alpha| is at
// most 2 kExactAlpha; the integers of C stay far inside the other half. f16 needs a small alpha for
// its results to be finite; nothing is rounded before the result is.
template <class T>
inline constexpr float kExactAlpha = 1;
template <>
inline constexpr float kExactAlpha<f16> = 0x1p-8f;

template <class T>
Data exact_data(const Setup& s, ProductRange range, Variant variant) {
  constexpr std::int64_t kMaxC = dtype_of<T> == Dtype::bf16 ? 250 : 1000; // that T holds
  // TF32 has the significand of f16.
  const Dtype input = rounds_inputs<T>(variant) ? Dtype::f16 : dtype_of<T>;
  const FillPair pair =
      exact_product(input, Dtype::f32, range, {s.m, s.n, s.k}, exact_limit(Dtype::f32) / 4);
  return {pair.name, pair.a, pair.b, integers(dtype_of<T>, s.m * s.n, kMaxC, Tensor::c).values,
          integers(dtype_of<T>, s.n, kMaxC, Tensor::c, bias_seed()).values};
}

// The numbers that the variant multiplies.
template <class T>
Data multiplied(Data data, Variant variant) {
  if (rounds_inputs<T>(variant)) {
    data.a = tf32_rounded(data.a);
    data.b = tf32_rounded(data.b);
  }
  return data;
}

inline GemmOracle oracle(const Setup& s, const Data& data) {
  return gemm_oracle(
      {contiguous({s.m, s.k}), contiguous({s.k, s.n}), contiguous({s.m, s.n}), s.alpha, s.beta},
      data.a, data.b, data.c);
}

// What an exact sum becomes in T.
template <class T>
std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) value = round_to(dtype_of<T>, value);
  return values;
}

// The bounds of zero-mean data, of what the variant multiplies: of sums, and of what is stored.
template <class T>
std::vector<double> sum_tolerances(const GemmOracle& expected, std::int64_t k, Variant variant) {
  if (dtype_of<T> == Dtype::f32 && !rounds_inputs<T>(variant))
    return gemm_f32_tolerances(expected, k);
  std::vector<double> bounds;
  for (const double condition : expected.condition)
    bounds.push_back(gemm_matrix_unit_tolerance(k, condition));
  return bounds;
}
template <class T>
std::vector<double> tolerances(const GemmOracle& expected, std::int64_t k, Variant variant) {
  std::vector<double> bounds = sum_tolerances<T>(expected, k, variant);
  for (std::size_t i = 0; i < bounds.size(); ++i)
    bounds[i] = stored_tolerance(dtype_of<T>, expected.value[i], bounds[i]);
  return bounds;
}

// Those of a library that was given the same permission; empty: the variant's own.
template <class T>
std::vector<double> library_tolerances(const GemmOracle& expected, std::int64_t k,
                                       Variant variant) {
  std::vector<double> bounds;
  if (rounds_inputs<T>(variant))
    for (const double condition : expected.condition)
      bounds.push_back(gemm_tf32_library_tolerance(k, condition));
  return bounds;
}

// The bounds of data of one sign: the longest chain of every variant is k. Where C is not finite
// there is one right value.
template <class T>
std::vector<double> positive_tolerances(const GemmOracle& expected, std::int64_t k) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const double condition = expected.condition[i];
    bounds.push_back(std::isfinite(condition)
                         ? stored_tolerance(dtype_of<T>, expected.value[i],
                                            gemm_f32_positive_tolerance(k, condition))
                         : 0);
  }
  return bounds;
}

// What there is for T on this device.
template <class T>
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Variant variant : gemm::kVariants)
    if (gemm::supports<T>(variant, math_of<T>(variant))) all.push_back(variant);
  return all;
}

template <class T>
VariantId variant_id(std::string_view variant) {
  return {"gemm", std::string(name(dtype_of<T>)), std::string(variant)};
}

template <class T>
CaseContext context(const Setup& s, const Data& data, std::string_view variant) {
  const std::string epilogue =
      s.epilogue == gemm::Epilogue::none ? "" : "_" + std::string(gemm::name(s.epilogue));
  return {CaseId("gemm." + std::string(name(dtype_of<T>)) + ".m" + std::to_string(s.m) + "_n" +
                 std::to_string(s.n) + "_k" + std::to_string(s.k) + "_" +
                 std::string(gemm::transposition_name(s.transpose_a, s.transpose_b)) + epilogue),
          std::string(variant), data.fill, s.shape(), s.c().strides};
}

// The matrices of a case on the device. C holds poison in its gaps, and everywhere where beta = 0;
// z everywhere.
template <class T>
class Matrices {
 public:
  Matrices(const Setup& s, const Data& data, Stream& stream)
      : setup_(s), a_(scatter(elements<T>(data.a), s.a())), b_(scatter(elements<T>(data.b), s.b())),
        c_(s.beta == 0 ? poisoned<T>(s.c().storage_size()) : scatter(elements<T>(data.c), s.c())),
        bias_(poisoned<T>(s.offset)), device_a_(DeviceBuffer<T>::from_host(a_, stream)),
        device_b_(DeviceBuffer<T>::from_host(b_, stream)),
        device_c_(DeviceBuffer<T>::from_host(c_, stream)),
        device_z_(
            DeviceBuffer<T>::from_host(poisoned<T>(s.keeps_z ? s.z().storage_size() : 0), stream)) {
    for (const T value : elements<T>(data.bias)) bias_.push_back(value);
    device_bias_ = DeviceBuffer<T>::from_host(bias_, stream);
  }

  gemm::BasicProblem<T> problem(Variant variant) const {
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
            leading(s.c()),
            math_of<T>(variant),
            s.epilogue,
            s.epilogue == gemm::Epilogue::none ? nullptr : device_bias_.data() + s.offset,
            s.keeps_z ? device_z_.data() + s.offset : nullptr,
            leading(s.z())};
  }

  // The same problem for a library, with the permissions that `variant` needs.
  vendor::Gemm vendor_problem(Variant variant) const {
    const gemm::BasicProblem<T> p = problem(variant);
    return {dtype_of<T>,
            p.transpose_a == Transpose::yes,
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
            p.ldc,
            rounds_inputs<T>(variant),
            static_cast<vendor::GemmEpilogue>(p.epilogue),
            p.bias};
  }

  // What `variant`, which ran, left in C, once everything that it must not touch has been checked.
  std::vector<T> result(std::string_view variant, Stream& stream) const {
    Hygiene hygiene(variant_id<T>(variant));
    hygiene.input("a", a_, device_a_, stream);
    hygiene.input("b", b_, device_b_, stream);
    if (setup_.epilogue != gemm::Epilogue::none) hygiene.input("bias", bias_, device_bias_, stream);
    return hygiene.output(device_c_, setup_.c(), stream);
  }

  // The same of z.
  std::vector<T> z(std::string_view variant, Stream& stream) const {
    Hygiene hygiene(variant_id<T>(variant));
    hygiene.input("bias", bias_, device_bias_, stream);
    return hygiene.output(device_z_, setup_.z(), stream);
  }

 private:
  Setup setup_;
  std::vector<T> a_, b_, c_, bias_;
  DeviceBuffer<T> device_a_, device_b_, device_c_, device_z_, device_bias_;
};

template <class T>
std::vector<T> run(const Setup& s, const Data& data, Variant variant) {
  Stream stream;
  const Matrices<T> matrices(s, data, stream);
  EXPECT_EQ(gemm::run(matrices.problem(variant), variant, stream), variant);
  return matrices.result(gemm::name(variant), stream);
}

// The library's result, by the arithmetic that `variant` may use.
template <class T>
Observed library_result(std::string_view library, const Setup& s, const Data& data,
                        Variant variant) {
  Stream stream;
  const Matrices<T> matrices(s, data, stream);
  vendor::gemm(library, matrices.vendor_problem(variant), vendor::Math::pedantic, stream);
  return observe(matrices.result(library, stream));
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

template <class T>
void expect_exact(const Setup& s, const Data& data, Variant variant) {
  const Observed actual = observe(run<T>(s, data, variant));
  const std::vector<double> expected = rounded<T>(oracle(s, data).value);
  const Comparison comparison = compare(actual, exactly(dtype_of<T>, s.shape(), expected));
  EXPECT_TRUE(verdict(comparison, context<T>(s, data, gemm::name(variant))))
      << hint(s, data, comparison);
}

} // namespace kg::test::gemm_case

namespace kg::test {

// The type parameter names the dtype in the test's name, by which CTest selects.
template <typename T>
class Gemm : public testing::Test {
 protected:
  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("gemm", DtypeOf<T>::value, gemm_case::variants<T>(), kRoundedOperation);
  }
};
TYPED_TEST_SUITE(Gemm, FloatTypes, DtypeNames);

} // namespace kg::test
