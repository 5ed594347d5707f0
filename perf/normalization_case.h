// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The timed cases of rmsnorm and layernorm: rows that fit a warp, a block's registers, and neither.
// What differs between the two is a Norm; `run` takes everything, `run_vendor` too.
#pragma once

#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/tolerance_rows.h"

#include "normalization/variants.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kg::perf {

inline constexpr float kNormEpsilon = 1e-5f;

template <class T>
struct NormData {
  NormData(std::int64_t rows, std::int64_t cols, Stream& stream)
      : rows(rows), cols(cols), x(rows * cols, test::Tensor::a, stream),
        gamma(cols, test::Tensor::b, stream), beta(cols, test::Tensor::c, stream),
        y(static_cast<std::size_t>(rows * cols)) {}
  std::int64_t rows;
  std::int64_t cols;
  RandomData<T> x;
  RandomData<T> gamma;
  RandomData<T> beta;
  DeviceBuffer<T> y;
};

// Whole rows; of large matrices some. `slack` widens the bound of the correctness tests.
template <class Norm, class T>
std::string verify_norm(const NormData<T>& d, std::int64_t chain, double slack, Stream& stream) {
  for (const Window window : windows(d.rows * d.cols, 1 << 17, d.cols)) {
    const std::int64_t rows = window.count / d.cols;
    const auto oracle =
        Norm::oracle(d.x.values(window.first, window.count), rows, d.cols,
                     d.gamma.values(0, d.cols), d.beta.values(0, d.cols), kNormEpsilon);
    std::vector<double> tolerance;
    for (std::size_t i = 0; i < oracle.value.size(); ++i)
      tolerance.push_back(slack * test::stored_tolerance(dtype_of<T>, oracle.value[i],
                                                         Norm::f32_tolerance(oracle, i, chain)));
    const test::Expectation expected{dtype_of<T>, {rows, d.cols}, oracle.value, tolerance};
    const auto comparison = test::compare(observe(d.y, window, stream), expected);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class Norm, class T, class Run>
Workload norm_workload(std::string variant, std::int64_t rows, std::int64_t cols,
                       std::int64_t chain, double slack, Run run) {
  Stream stream;
  auto data = std::make_shared<NormData<T>>(rows, cols, stream);
  return {[=](Stream& s) { run(*data, s); }, [=](Stream& s) { data->y.poison(s); },
          [=](Stream& s) { return verify_norm<Norm>(*data, chain, slack, s); }, std::move(variant)};
}

template <class Norm, class T>
Case norm_case(std::int64_t rows, std::int64_t cols) {
  // On the executor shuffles and barriers cost more than the memory.
  Case result{backend == Backend::host ? Kind::sync : Kind::memory,
              Norm::work(dtype_of<T>, rows, cols),
              {}};
  result.automatic =
      normalization::name(normalization::resolved(normalization::Variant::automatic, cols));
  for (const normalization::Variant variant : normalization::kVariants) {
    if (!normalization::supports(variant, cols)) continue;
    const std::string name(normalization::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return norm_workload<Norm, T>(
               name, rows, cols, normalization::chain(variant, cols), 1,
               [=](const NormData<T>& d, Stream& s) { Norm::template run<T>(d, variant, s); });
         }});
  }
  for (const std::string_view variant : Norm::vendors(dtype_of<T>)) {
    const std::string name(variant);
    // A library may add a row up one by one. Its accuracy is a matter of the correctness tests;
    // here it must have done the work.
    constexpr double kSlack = 4;
    result.variants.push_back(
        {name, true, [=] {
           return norm_workload<Norm, T>(
               name, rows, cols, cols, kSlack,
               [=](const NormData<T>& d, Stream& s) { Norm::template run_vendor<T>(d, name, s); });
         }});
  }
  return result;
}

template <class Norm>
Operation norm_operation(std::string name) {
  Operation operation{
      std::move(name), "normalization", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"rows32_cols512", true}, {"rows32_cols1000"}, {"rows16_cols4096"}};
  else // a small one, and 0.25 GiB of f16 and more
    operation.shapes = {{"rows128_cols1024"},
                        {"rows131072_cols1024", true},
                        {"rows16384_cols8192"},
                        {"rows4096_cols32768"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return norm_case<Norm, f16>(rows, cols);
    if (dtype == Dtype::bf16) return norm_case<Norm, bf16>(rows, cols);
    return norm_case<Norm, float>(rows, cols);
  };
  return operation;
}

} // namespace kg::perf
