// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The products that gemm_test.cu computes: how their matrices lie, what they hold, and what a
// variant may make of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance.h"
#include "tests/support/device_types.h"

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

inline std::optional<UnaryOp> activation_of(gemm::Epilogue epilogue) {
  switch (epilogue) {
  case gemm::Epilogue::bias_relu:
  case gemm::Epilogue::drelu: return UnaryOp::relu;
  case gemm::Epilogue::bias_gelu:
  case gemm::Epilogue::dgelu: return UnaryOp::gelu;
  case gemm::Epilogue::bias_gelu_tanh:
  case gemm::Epilogue::dgelu_tanh: return UnaryOp::gelu_tanh;
  case gemm::Epilogue::none:
  case gemm::Epilogue::bias: break;
  }
  return std::nullopt;
}

// How the matrices of a batch lie: one behind another with `gap` elements between, or their rows
// side by side.
struct Batch {
  std::int64_t count = 1;
  bool shares_a = false;
  bool shares_b = false;
  bool side_by_side = false;
  std::int64_t gap = 0;
};

// A case without its data. Each matrix is stored with `gap` elements between rows, and `offset`
// elements before the first one.
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
  gemm::BiasGradient bias_gradient = gemm::BiasGradient::none;
  Batch batch = {};

  bool reads_z() const { return gemm::differentiates(epilogue); }

  std::int64_t count_a() const { return batch.shares_a ? 1 : batch.count; }
  std::int64_t count_b() const { return batch.shares_b ? 1 : batch.count; }
  Strided a() const { return operand(count_a(), m, k, transpose_a); }
  Strided b() const { return operand(count_b(), k, n, transpose_b); }
  Strided c() const { return stored(batch.count, m, n, n + gap); }
  Strided z() const { return stored(batch.count, m, n, n + gap + 8); } // with other rows
  std::vector<std::int64_t> shape() const { return c().shape; }
  Strided dbias() const {
    return contiguous({bias_gradient == gemm::BiasGradient::of_a ? m : n}, offset);
  }

 private:
  // A single matrix has two dimensions.
  Strided stored(std::int64_t count, std::int64_t rows, std::int64_t columns,
                 std::int64_t leading) const {
    Strided result = matrix(rows, columns, leading);
    if (count != 1) {
      const std::int64_t apart = result.storage_size() + batch.gap;
      result = batch.side_by_side ? Strided{{count, rows, columns}, {leading, count * leading, 1}}
                                  : Strided{{count, rows, columns}, {apart, leading, 1}};
    }
    result.offset = offset;
    return result;
  }
  Strided operand(std::int64_t count, std::int64_t rows, std::int64_t columns,
                  Transpose transpose) const {
    if (transpose == Transpose::no) return stored(count, rows, columns, columns + gap);
    return transposed(stored(count, columns, rows, rows + gap));
  }
};

// The same problem with a C of the shape that the variant is made for: more blocks of skinny, or
// more tiles of split_k, would show no more.
inline Setup fitted(Setup s, Variant variant) {
  if (variant == Variant::skinny) {
    std::int64_t& side = s.transpose_a == s.transpose_b ? s.n : s.m;
    side = std::min<std::int64_t>(side, 8);
  } else if (variant == Variant::split_k) {
    s.m = std::min<std::int64_t>(s.m, 40);
    s.n = std::min<std::int64_t>(s.n, 24);
  }
  return s;
}

inline std::int64_t leading(const Strided& operand) {
  const std::size_t rank = operand.strides.size();
  return std::max(operand.strides[rank - 1], operand.strides[rank - 2]);
}
inline std::int64_t batch_stride(const Strided& operand) {
  return operand.strides.size() == 3 ? operand.strides[0] : 0;
}

// Dense values of op(A), op(B), C before the operation, the bias, and a z that is read.
struct Data {
  std::string fill;
  std::vector<double> a, b, c;
  std::vector<double> bias = {};
  std::vector<double> z = {};
};

// C has the other numbers.
inline std::uint64_t bias_seed() { return seed() + 1; }
inline std::uint64_t z_seed() { return seed() + 2; }

template <class T>
Data normal_data(const Setup& s) {
  return {"normal",
          normal(dtype_of<T>, s.a().size(), Tensor::a).values,
          normal(dtype_of<T>, s.b().size(), Tensor::b).values,
          normal(dtype_of<T>, s.c().size(), Tensor::c).values,
          normal(dtype_of<T>, s.n, Tensor::c, bias_seed()).values,
          normal(dtype_of<T>, s.c().size(), Tensor::c, z_seed()).values};
}

template <class T>
Data positive_data(const Setup& s) {
  return {"positive", positive(dtype_of<T>, s.a().size(), Tensor::a).values,
          positive(dtype_of<T>, s.b().size(), Tensor::b).values,
          positive(dtype_of<T>, s.c().size(), Tensor::c).values,
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
  // All A below each other, all B side by side.
  const std::int64_t columns = s.count_b() * s.n;
  const FillPair pair = exact_product(input, Dtype::f32, range, {s.count_a() * s.m, columns, s.k},
                                      exact_limit(Dtype::f32) / 4);
  return {pair.name, pair.a, gather(pair.b, {{s.count_b(), s.k, s.n}, {s.n, columns, 1}}),
          integers(dtype_of<T>, s.c().size(), kMaxC, Tensor::c).values,
          integers(dtype_of<T>, s.n, kMaxC, Tensor::c, bias_seed()).values};
}

// Integers so small that C, for a short k, and sums of its columns are exact in f32, also once C is
// rounded; zeros are among them.
template <class T>
Data small_data(const Setup& s) {
  const auto of = [](std::int64_t count, Tensor tensor, std::uint64_t number) {
    constexpr std::int64_t kMost = 3;
    return integers(dtype_of<T>, count, kMost, tensor, number).values;
  };
  return {"small integers",
          of(s.a().size(), Tensor::a, seed()),
          of(s.b().size(), Tensor::b, seed()),
          of(s.c().size(), Tensor::c, seed()),
          of(s.n, Tensor::c, bias_seed()),
          of(s.c().size(), Tensor::c, z_seed())};
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

// Of each product in turn.
inline GemmOracle oracle(const Setup& s, const Data& data) {
  GemmOracle all;
  for (std::int64_t i = 0; i < s.batch.count; ++i) {
    const GemmOracle one = gemm_oracle({contiguous({s.m, s.k}, i % s.count_a() * s.m * s.k),
                                        contiguous({s.k, s.n}, i % s.count_b() * s.k * s.n),
                                        contiguous({s.m, s.n}, i * s.m * s.n), s.alpha, s.beta},
                                       data.a, data.b, data.c);
    all.value.insert(all.value.end(), one.value.begin(), one.value.end());
    all.condition.insert(all.condition.end(), one.condition.begin(), one.condition.end());
  }
  return all;
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

// Of a sum of data of one sign: the longest chain of every variant is k. The executor's matrix
// units round.
template <class T>
double positive_sum_tolerance(std::int64_t k, double condition, Variant variant) {
  if (backend == Backend::host || variant != Variant::mma)
    return gemm_f32_positive_tolerance(k, condition);
  return gemm_matrix_unit_positive_tolerance(
      k, condition, matrix_unit(dtype_of<T>, device_properties().compute_major));
}

// The bounds of data of one sign. Where C is not finite there is one right value.
template <class T>
std::vector<double> positive_tolerances(const GemmOracle& expected, std::int64_t k,
                                        Variant variant) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const double condition = expected.condition[i];
    bounds.push_back(std::isfinite(condition)
                         ? stored_tolerance(dtype_of<T>, expected.value[i],
                                            positive_sum_tolerance<T>(k, condition, variant))
                         : 0);
  }
  return bounds;
}

} // namespace kg::test::gemm_case
