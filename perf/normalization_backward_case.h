// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The timed cases of rmsnorm_backward and layernorm_backward: rows that fit a warp, a block's
// registers, and neither. What differs between the two is a Norm; `run` takes everything,
// `run_vendor` too. The gradients' formulas take any statistics: these are not those of x, but what
// a library makes of the variance is exact.
#pragma once

#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_norm_backward.h"

#include "normalization/backward_variants.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kg::perf {

// dgamma and dbeta are of type Sum: T, or a library's f32.
template <class T, class Sum = T>
struct NormBackwardData {
  NormBackwardData(std::int64_t rows, std::int64_t cols, std::size_t workspace_bytes,
                   Stream& stream)
      : rows(rows), cols(cols), dy(rows * cols, test::Tensor::a, stream),
        x(rows * cols, test::Tensor::b, stream), gamma(cols, test::Tensor::c, stream),
        mean(rows, test::Tensor::a, stream), rstd(powers(rows, 1, stream)),
        variance(powers(rows, -2, stream)), dx(static_cast<std::size_t>(rows * cols)),
        dgamma(static_cast<std::size_t>(cols)), dbeta(static_cast<std::size_t>(cols)),
        workspace(workspace_bytes) {}

  // 1 / sqrt(variance) of `count` rows from `first` on: 1/2, 1 and 2 in turn.
  static std::vector<double> rstds(std::int64_t first, std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t row = first; row < first + count; ++row)
      values.push_back(std::ldexp(1.0, static_cast<int>(row % 3) - 1));
    return values;
  }

  std::int64_t rows;
  std::int64_t cols;
  RandomData<T> dy;
  RandomData<T> x;
  RandomData<T> gamma;
  RandomData<float> mean;
  DeviceBuffer<float> rstd;
  DeviceBuffer<float> variance;
  DeviceBuffer<T> dx;
  DeviceBuffer<Sum> dgamma;
  DeviceBuffer<Sum> dbeta;
  DeviceBuffer<unsigned char> workspace;

 private:
  static DeviceBuffer<float> powers(std::int64_t rows, int power, Stream& stream) {
    std::vector<float> values;
    for (const double rstd : rstds(0, rows))
      values.push_back(static_cast<float>(std::pow(rstd, power)));
    return DeviceBuffer<float>::from_host(values, stream);
  }
};

// What results are held to: the bounds of the correctness tests for the longest chains of
// additions, times slack.
struct NormBackwardAccuracy {
  std::int64_t row_chain;
  std::int64_t column_chain;
  double slack;
};

// Whole rows of dx, of large matrices some.
template <class Norm, class T, class Sum>
std::string verify_dx(const NormBackwardData<T, Sum>& d, const NormBackwardAccuracy& accuracy,
                      Stream& stream) {
  for (const Window window : windows(d.rows * d.cols, 1 << 17, d.cols)) {
    const std::int64_t rows = window.count / d.cols;
    const std::int64_t first = window.first / d.cols;
    const auto mean = Norm::kCentred ? d.mean.values(first, rows) : std::vector<double>{};
    const auto oracle = test::norm_backward_oracle(
        d.dy.values(window.first, window.count), d.x.values(window.first, window.count), rows,
        d.cols, d.gamma.values(0, d.cols), mean, d.rstds(first, rows));
    auto tolerance = test::norm_backward_dx_tolerances(oracle, dtype_of<T>, accuracy.row_chain);
    for (double& each : tolerance) each *= accuracy.slack;
    const test::Expectation expected{dtype_of<T>, {rows, d.cols}, oracle.dx, tolerance};
    const auto comparison = test::compare(observe(d.dx, window, stream), expected);
    if (!comparison.passed()) return "dx: " + comparison.text();
  }
  return "";
}

// Sixteen columns of dgamma and dbeta, the first and the last among them.
template <class Norm, class T, class Sum>
std::string verify_columns(const NormBackwardData<T, Sum>& d, const NormBackwardAccuracy& accuracy,
                           Stream& stream) {
  const std::int64_t count = std::min<std::int64_t>(d.cols, 16);
  std::vector<std::int64_t> columns;
  for (std::int64_t i = 0; i < count; ++i)
    columns.push_back(count == 1 ? 0 : i * (d.cols - 1) / (count - 1));
  std::vector<double> dy, x;
  for (std::int64_t row = 0; row < d.rows; ++row)
    for (const std::int64_t column : columns) {
      dy.push_back(test::to_double(d.dy.at(row * d.cols + column)));
      x.push_back(test::to_double(d.x.at(row * d.cols + column)));
    }
  const auto mean = Norm::kCentred ? d.mean.values(0, d.rows) : std::vector<double>{};
  const auto oracle =
      test::norm_backward_oracle(dy, x, d.rows, count, {}, mean, d.rstds(0, d.rows));
  const auto compared = [&](const char* what, const DeviceBuffer<Sum>& buffer,
                            const std::vector<double>& sums, const std::vector<double>& sums_abs) {
    const std::vector<Sum> all = buffer.to_host(stream);
    std::vector<Sum> some;
    for (const std::int64_t column : columns) some.push_back(all[static_cast<std::size_t>(column)]);
    auto tolerance =
        test::norm_backward_column_tolerances(sums, sums_abs, dtype_of<Sum>, accuracy.column_chain);
    for (double& each : tolerance) each *= accuracy.slack;
    const auto comparison =
        test::compare(test::observe(some), {dtype_of<Sum>, {count}, sums, tolerance});
    return comparison.passed() ? "" : std::string(what) + ": " + comparison.text();
  };
  const std::string wrong = compared("dgamma", d.dgamma, oracle.dgamma, oracle.dgamma_abs);
  if (!wrong.empty() || !Norm::kCentred) return wrong;
  return compared("dbeta", d.dbeta, oracle.dbeta, oracle.dbeta_abs);
}

template <class Norm, class T, class Sum, class Run>
Workload norm_backward_workload(std::string variant, std::int64_t rows, std::int64_t cols,
                                std::size_t workspace, NormBackwardAccuracy accuracy, Run run) {
  Stream stream;
  auto data = std::make_shared<NormBackwardData<T, Sum>>(rows, cols, workspace, stream);
  return {[=](Stream& s) { run(*data, s); },
          [=](Stream& s) {
            data->dx.poison(s);
            data->dgamma.poison(s);
            data->dbeta.poison(s);
          },
          [=](Stream& s) {
            const std::string wrong = verify_dx<Norm>(*data, accuracy, s);
            return wrong.empty() ? verify_columns<Norm>(*data, accuracy, s) : wrong;
          },
          std::move(variant)};
}

template <class Norm, class T>
Case norm_backward_case(std::int64_t rows, std::int64_t cols) {
  // On the executor shuffles and barriers cost more than the memory.
  Case result{backend == Backend::host ? Kind::sync : Kind::memory,
              Norm::work(dtype_of<T>, rows, cols),
              {}};
  result.automatic = normalization::backward::name(
      normalization::backward::resolved(normalization::backward::Variant::automatic, cols));
  for (const normalization::backward::Variant variant : normalization::backward::kVariants) {
    if (!normalization::backward::supports(variant, cols)) continue;
    const std::string name(normalization::backward::name(variant));
    result.variants.push_back(
        {name, false,
         [=] {
           return norm_backward_workload<Norm, T, T>(
               name, rows, cols, Norm::workspace_bytes(variant, rows, cols),
               {normalization::backward::row_chain(variant, cols),
                normalization::backward::column_chain(variant, rows, cols), 1},
               [=](const NormBackwardData<T>& d, Stream& s) {
                 Norm::template run<T>(d, variant, s);
               });
         },
         variant != normalization::backward::Variant::naive || is_timed_in_sequence(rows)});
  }
  for (const std::string_view variant : Norm::vendors(dtype_of<T>)) {
    const std::string name(variant);
    // A library may add one by one. Its accuracy is a matter of the correctness tests; here it must
    // have done the work.
    constexpr double kSlack = 4;
    const NormBackwardAccuracy accuracy{cols, rows, kSlack};
    const auto run = [=](const auto& d, Stream& s) { Norm::template run_vendor<T>(d, name, s); };
    const bool own_sums = Norm::vendor_sums(name, dtype_of<T>) == dtype_of<T>;
    result.variants.push_back(
        {name, true, [=] {
           return own_sums
                      ? norm_backward_workload<Norm, T, T>(name, rows, cols, 0, accuracy, run)
                      : norm_backward_workload<Norm, T, float>(name, rows, cols, 0, accuracy, run);
         }});
  }
  return result;
}

template <class Norm>
Operation norm_backward_operation(std::string name) {
  Operation operation{
      std::move(name), "normalization", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"rows32_cols512", true}, {"rows32_cols200"}, {"rows16_cols4096"}};
  else // a small one, and 0.75 GiB of f16 and more
    operation.shapes = {{"rows128_cols1024"},
                        {"rows262144_cols512"},
                        {"rows32768_cols4096", true},
                        {"rows16384_cols8192"},
                        {"rows4096_cols32768"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return norm_backward_case<Norm, f16>(rows, cols);
    if (dtype == Dtype::bf16) return norm_backward_case<Norm, bf16>(rows, cols);
    return norm_backward_case<Norm, float>(rows, cols);
  };
  return operation;
}

} // namespace kg::perf
