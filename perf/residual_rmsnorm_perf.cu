// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sum with a residual and its rmsnorm: rows that fit a warp, a block's registers, and neither.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/tolerance_rows.h"
#include "vendor/residual_rmsnorm/residual_rmsnorm.h"

#include "residual_rmsnorm/residual_rmsnorm.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::perf {
namespace {

constexpr float kEpsilon = 1e-5f;

template <class T>
struct Data {
  Data(std::int64_t rows, std::int64_t cols, Stream& stream)
      : rows(rows), cols(cols), x(rows * cols, test::Tensor::a, stream),
        residual(rows * cols, test::Tensor::c, stream), gamma(cols, test::Tensor::b, stream),
        z(static_cast<std::size_t>(rows * cols)), y(static_cast<std::size_t>(rows * cols)) {}
  std::int64_t rows;
  std::int64_t cols;
  RandomData<T> x;
  RandomData<T> residual;
  RandomData<T> gamma;
  DeviceBuffer<T> z;
  DeviceBuffer<T> y;
};

// Whole rows; of large matrices some. `slack` widens the bound of the correctness tests.
template <class T>
std::string verify(const Data<T>& d, std::int64_t chain, double slack, Stream& stream) {
  constexpr Dtype kDtype = dtype_of<T>;
  for (const Window window : windows(d.rows * d.cols, 1 << 17, d.cols)) {
    const std::int64_t rows = window.count / d.cols;
    std::vector<double> z = d.x.values(window.first, window.count);
    const std::vector<double> residual = d.residual.values(window.first, window.count);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = test::round_to(kDtype, z[i] + residual[i]);
    const auto oracle = test::rms_norm_oracle(z, rows, d.cols, d.gamma.values(0, d.cols), kEpsilon);
    std::vector<double> tolerance;
    for (const double value : oracle.value)
      tolerance.push_back(slack * test::stored_tolerance(
                                      kDtype, value, test::rms_norm_f32_tolerance(value, chain)));
    const auto sums =
        test::compare(observe(d.z, window, stream), test::exactly(kDtype, {rows, d.cols}, z));
    if (!sums.passed()) return sums.text();
    const test::Expectation expected{kDtype, {rows, d.cols}, oracle.value, tolerance};
    const auto norms = test::compare(observe(d.y, window, stream), expected);
    if (!norms.passed()) return norms.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, std::int64_t rows, std::int64_t cols, std::int64_t chain,
                  double slack, Run run) {
  Stream stream;
  auto data = std::make_shared<Data<T>>(rows, cols, stream);
  const auto poison = [=](Stream& s) {
    data->z.poison(s);
    data->y.poison(s);
  };
  return {[=](Stream& s) { run(*data, s); }, poison,
          [=](Stream& s) { return verify(*data, chain, slack, s); }, std::move(variant)};
}

template <class T>
void run_ours(const Data<T>& d, residual_rmsnorm::Variant variant, Stream& stream) {
  residual_rmsnorm::run<T>({matrix<const T>(d.x.data(), d.rows, d.cols),
                            matrix<const T>(d.residual.data(), d.rows, d.cols),
                            matrix<T>(d.z.data(), d.rows, d.cols),
                            matrix<T>(d.y.data(), d.rows, d.cols)},
                           d.gamma.data(), kEpsilon, nullptr, variant, stream);
}

template <class T>
Case make_case(std::int64_t rows, std::int64_t cols) {
  // On the executor shuffles and barriers cost more than the memory.
  Case result{backend == Backend::host ? Kind::sync : Kind::memory,
              residual_rmsnorm::work(dtype_of<T>, rows, cols),
              {}};
  result.automatic =
      normalization::name(normalization::resolved(normalization::Variant::automatic, cols));
  for (const residual_rmsnorm::Variant variant : residual_rmsnorm::kVariants) {
    if (!residual_rmsnorm::supports(variant, cols)) continue;
    const std::string name(residual_rmsnorm::name(variant));
    result.variants.push_back({name, false, [=] {
                                 return workload<T>(
                                     name, rows, cols, residual_rmsnorm::chain(variant, cols), 1,
                                     [=](const Data<T>& d, Stream& s) { run_ours(d, variant, s); });
                               }});
  }
  for (const std::string_view variant : vendor::residual_rmsnorm_variants(dtype_of<T>)) {
    const std::string name(variant);
    // A library may add a row up one by one. Its accuracy is a matter of the correctness tests;
    // here it must have done the work.
    constexpr double kSlack = 4;
    result.variants.push_back(
        {name, true, [=] {
           return workload<T>(name, rows, cols, cols, kSlack, [=](const Data<T>& d, Stream& s) {
             vendor::residual_rmsnorm(name, dtype_of<T>,
                                      {d.x.data(), d.residual.data(), d.gamma.data(), kEpsilon,
                                       d.z.data(), d.y.data(), d.rows, d.cols},
                                      s);
           });
         }});
  }
  return result;
}

} // namespace

Operation residual_rmsnorm_operation() {
  Operation operation{
      "residual_rmsnorm", "normalization", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"rows32_cols512", true}, {"rows32_cols1000"}, {"rows16_cols4096"}};
  else // a small one, and 0.5 GiB of f16 and more
    operation.shapes = {{"rows128_cols1024"},
                        {"rows65536_cols1024", true},
                        {"rows16384_cols8192"},
                        {"rows4096_cols32768"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return make_case<f16>(rows, cols);
    if (dtype == Dtype::bf16) return make_case<bf16>(rows, cols);
    return make_case<float>(rows, cols);
  };
  return operation;
}

} // namespace kg::perf
