// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Expected results of gemm and their tolerances.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ops/gemm/products.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_gemm_epilogue.h"
#include "tests/oracle/slice_hint.h"
#include "tests/oracle/tolerance.h"

namespace kg::card::gemm_references {

// Our kernels round to TF32 if permitted; a library may round differently or not at all. A sum that
// is not finite has only one correct value.
inline std::vector<double> sum_bounds(const Product& p, Dtype dtype, const test::GemmOracle& sums,
                                      bool library) {
  std::vector<double> bounds;
  for (const double condition : sums.condition)
    bounds.push_back(!std::isfinite(condition) ? 0
                     : p.tf32 && library       ? test::gemm_tf32_library_tolerance(p.k, condition)
                     : dtype != Dtype::f32 || p.tf32
                         ? test::gemm_matrix_unit_tolerance(p.k, condition)
                         : test::gemm_f32_tolerance(p.k, condition));
  return bounds;
}

// The epilogue's result from sums and a z that it reads.
inline Reference differentiated(const Product& p, Dtype dtype, const test::GemmOracle& sums,
                                const std::vector<double>& z) {
  const activation::Function activation = *activation_of(p.epilogue);
  Reference result{test::unary_backward_oracle(activation, z, sums.value), {}};
  result.tolerance = [=, dz = result.value](std::string_view variant) {
    const std::vector<double> of_sums = sum_bounds(p, dtype, sums, variant.empty());
    if (variant.empty())
      return test::library_epilogue_gradient_tolerances(activation, dtype, z, sums.value, of_sums,
                                                        dz);
    std::vector<double> bounds =
        test::epilogue_gradient_tolerances(activation, dtype, z, sums.value, of_sums, dz);
    // In the limit the derivative is 0 or 1, so a finite result equals the product.
    const std::vector<double> limit = test::unary_slope_oracle(activation, z);
    for (std::size_t i = 0; i < z.size(); ++i)
      if (std::isinf(z[i]) && std::isfinite(dz[i]))
        bounds[i] = test::stored_tolerance(dtype, dz[i], limit[i] * of_sums[i]);
    return bounds;
  };
  return result;
}

// The epilogue with an added bias: for C, and for the stored z. `bias` has the elements of a row,
// or one for each element.
inline Reference activated(const Product& p, Dtype dtype, const test::GemmOracle& sums,
                           const std::vector<double>& bias, bool of_z = false) {
  const auto activation = activation_of(p.epilogue);
  const test::EpilogueOracle right = test::epilogue_oracle(activation, sums.value, bias);
  return {of_z ? right.z : right.y, [=](std::string_view variant) {
            const std::vector<double> of_sums = sum_bounds(p, dtype, sums, variant.empty());
            if (variant.empty())
              return test::library_epilogue_tolerances(activation, dtype, right, of_sums);
            const auto bounds = test::epilogue_tolerances(activation, dtype, right, of_sums);
            return of_z ? bounds.z : bounds.y;
          }};
}

inline Reference stored(const Product& p, Dtype dtype, const test::GemmOracle& sums,
                        const std::vector<double>& bias, const std::vector<double>& z) {
  Reference result{sums.value,
                   [=](std::string_view variant) {
                     std::vector<double> bounds = sum_bounds(p, dtype, sums, variant.empty());
                     for (std::size_t i = 0; i < bounds.size(); ++i)
                       if (std::isfinite(sums.value[i]))
                         bounds[i] = test::stored_tolerance(dtype, sums.value[i], bounds[i]);
                     return bounds;
                   },
                   test::error_units(dtype, sums.condition)};
  if (gemm::adds_bias(p.epilogue)) result = activated(p, dtype, sums, bias);
  if (gemm::differentiates(p.epilogue)) result = differentiated(p, dtype, sums, z);
  // Many of ReLU's results are zero.
  result.holds_zeros = activation_of(p.epilogue) == activation::Function::relu;
  return result;
}

// Sums of the columns of C, with C's errors, or of an operand.
inline Reference column_sums(const Product& p, Dtype dtype, const Reference& c,
                             const std::vector<double>& operand) {
  if (p.bias_gradient == gemm::BiasGradient::of_c) {
    const test::BiasGeluGradients right{c.value, test::column_sums(c.value, p.n)};
    return {right.dbias, [=, bounds = c.tolerance](std::string_view variant) {
              return test::with_column_bounds(dtype, bounds(variant), right).dbias;
            }};
  }
  const std::vector<double> sums = test::column_sums(operand, p.sums());
  return {sums,
          [=](std::string_view) { return test::column_sum_tolerances(dtype, operand, sums); }};
}

inline References references(const Problem& problem, const Inputs& inputs) {
  const Product p = product_of(problem);
  const auto values = [&](const char* name) {
    const auto found = inputs.find(name);
    return found == inputs.end() ? std::vector<double>() : found->second.values;
  };
  const test::GemmOracle sums =
      sums_of(p, problem.scalars.at("alpha"), p.accumulates ? problem.scalars.at("beta") : 0,
              values("a"), values("b"), values("c0"));
  References result;
  const Reference& c = result["c"] = stored(p, problem.dtype, sums, values("bias"), values("z"));
  if (p.keeps_z) result["z"] = activated(p, problem.dtype, sums, values("bias"), true);
  if (p.bias_gradient != gemm::BiasGradient::none)
    result["dbias"] =
        column_sums(p, problem.dtype, c,
                    p.bias_gradient == gemm::BiasGradient::of_a ? values("a") : values("b"));
  return result;
}

// dbias is the sum of the columns of the stored C.
inline std::string sums_are_of_c(const Problem& problem, const Inputs& outputs) {
  const Product p = product_of(problem);
  if (p.bias_gradient != gemm::BiasGradient::of_c) return "";
  const std::vector<double>& c = outputs.find("c")->second.values;
  const std::vector<double> sums = test::column_sums(c, p.n);
  const std::vector<double> bounds = test::column_sum_tolerances(problem.dtype, c, sums);
  const test::Comparison found =
      test::compare(outputs.find("dbias")->second, {problem.dtype, {p.n}, sums, bounds});
  return found.passed() ? "" : "dbias is not the sum of C's columns: " + found.text();
}

inline Reference dbias_elements(const Product& p, Dtype dtype, std::int64_t first,
                                std::int64_t count, const Values& values) {
  const bool of_c = p.bias_gradient == gemm::BiasGradient::of_c;
  const Elements operand = values(of_c                                          ? "c"
                                  : p.bias_gradient == gemm::BiasGradient::of_a ? "a"
                                                                                : "b");
  Reference result;
  std::vector<double> ours, theirs;
  for (std::int64_t column = first; column < first + count; ++column) {
    std::vector<double> terms;
    double rounding = 0; // a library may sum values before it rounds them
    for (std::int64_t row = 0; row < (of_c ? p.m : p.k); ++row) {
      terms.push_back(operand(row * p.sums() + column));
      rounding += unit_roundoff(dtype) * std::fabs(terms.back());
    }
    const std::vector<double> sum = test::column_sums(terms, 1);
    result.value.push_back(sum[0]);
    ours.push_back(test::column_sum_tolerances(dtype, terms, sum)[0]);
    theirs.push_back(ours.back() + rounding);
  }
  result.tolerance = [=](std::string_view variant) { return variant.empty() ? theirs : ours; };
  return result;
}

// Some elements of C, at O(k) each.
inline Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                          std::int64_t count, const Values& values) {
  const Product p = product_of(problem);
  if (output == "dbias") return dbias_elements(p, problem.dtype, first, count, values);
  const Elements a = values("a"), b = values("b");
  const Elements bias = gemm::adds_bias(p.epilogue) ? values("bias") : Elements();
  const Elements z = gemm::differentiates(p.epilogue) ? values("z") : Elements();
  Product dot{.m = 1, .n = 1, .k = p.k, .transpose_a = {}, .transpose_b = {}, .tf32 = p.tf32};
  test::GemmOracle sums;
  std::vector<double> added, kept;
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::int64_t matrix = i / (p.m * p.n), row = i / p.n % p.m, column = i % p.n;
    std::vector<double> of_a, of_b;
    for (std::int64_t l = 0; l < p.k; ++l) {
      of_a.push_back(a(p.of_a(matrix, row, l)));
      of_b.push_back(b(p.of_b(matrix, l, column)));
    }
    const test::GemmOracle one = sums_of(dot, 1, 0, of_a, of_b, {});
    sums.value.push_back(one.value[0]);
    sums.condition.push_back(one.condition[0]);
    if (bias) added.push_back(bias(column));
    if (z) kept.push_back(z(i));
  }
  return stored(p, problem.dtype, sums, added, kept);
}

// Which part of k the wrong elements of C miss.
inline std::string hint(const Problem& problem, const Inputs& inputs,
                        const test::Comparison& found) {
  const Product p = product_of(problem);
  if (found.first.empty() || !p.plain()) return "";
  const std::vector<double>& a = inputs.find("a")->second.values;
  const std::vector<double>& b = inputs.find("b")->second.values;
  std::vector<test::WrongSum> wrong;
  for (const test::Mismatch& mismatch : found.first) {
    test::WrongSum& sum = wrong.emplace_back();
    for (std::int64_t l = 0; l < p.k; ++l)
      sum.terms.push_back(problem.scalars.at("alpha") *
                          a[static_cast<std::size_t>(p.of_a(0, mismatch.index / p.n, l))] *
                          b[static_cast<std::size_t>(p.of_b(0, l, mismatch.index % p.n))]);
    sum.expected = mismatch.expected;
    sum.actual = mismatch.actual;
    sum.tolerance = mismatch.tolerance;
  }
  const std::string slice = test::slice_hint(wrong);
  return slice.empty() ? "" : "of k, " + slice;
}

} // namespace kg::card::gemm_references
