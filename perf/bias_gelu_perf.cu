// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bias and gelu as a feed-forward block has them, beside the libraries' chain of two operations:
// far beyond the caches, at a size where the launch counts, and with rows that end within packs.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_bias_gelu.h"
#include "vendor/bias_gelu/bias_gelu.h"

#include "bias_gelu/bias_gelu.h"

#include <memory>
#include <span>
#include <string>

namespace kg::perf {
namespace {

using bias_gelu::Form;

template <class T>
struct Arrays {
  Arrays(std::int64_t rows, std::int64_t cols, Stream& stream)
      : x(rows * cols, test::Tensor::a, stream), bias(cols, test::Tensor::b, stream),
        y(static_cast<std::size_t>(rows * cols)) {}
  RandomData<T> x;
  RandomData<T> bias;
  DeviceBuffer<T> y;
};

using Bounds = std::vector<double> (*)(test::UnaryOp, Dtype, std::span<const double> sums,
                                       std::span<const double> y);

// A library's accuracy is a matter of bias_gelu_test.cu; here it must have done the work.
std::vector<double> vendor_bounds(test::UnaryOp op, Dtype dtype, std::span<const double> sums,
                                  std::span<const double> y) {
  constexpr double kSlack = 64;
  std::vector<double> bounds = test::library_bias_gelu_tolerances(op, dtype, sums, y);
  for (double& bound : bounds) bound *= kSlack;
  return bounds;
}

// Large results through windows of whole rows.
template <class T>
std::string verify(const Arrays<T>& arrays, Form form, std::int64_t rows, std::int64_t cols,
                   Bounds bounds, Stream& stream) {
  const auto op = form == Form::erf ? test::UnaryOp::gelu : test::UnaryOp::gelu_tanh;
  const std::vector<double> bias = arrays.bias.values(0, cols);
  for (const Window window : windows(rows * cols, 1 << 16, cols)) {
    const std::vector<double> sums =
        test::bias_sums(arrays.x.values(window.first, window.count), bias);
    const std::vector<double> y = test::unary_oracle(op, sums);
    const std::vector<double> tolerance = bounds(op, dtype_of<T>, sums, y);
    const auto comparison = test::compare(observe(arrays.y, window, stream),
                                          {dtype_of<T>, {window.count}, y, tolerance});
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Form form, std::int64_t rows, std::int64_t cols,
                  Bounds bounds, Run run) {
  Stream stream;
  auto arrays = std::make_shared<Arrays<T>>(rows, cols, stream);
  return {[=](Stream& s) { run(*arrays, s); }, [=](Stream& s) { arrays->y.poison(s); },
          [=](Stream& s) { return verify(*arrays, form, rows, cols, bounds, s); },
          std::move(variant)};
}

template <class T>
Case make_case(Form form, std::int64_t rows, std::int64_t cols) {
  Case result{Kind::memory, bias_gelu::work(dtype_of<T>, rows, cols), {}};
  result.automatic = bias_gelu::name(bias_gelu::resolved(bias_gelu::Variant::automatic));
  for (const bias_gelu::Variant variant : bias_gelu::kVariants) {
    const std::string name(bias_gelu::name(variant));
    result.variants.push_back({name, false, [=] {
                                 return workload<T>(
                                     name, form, rows, cols, test::bias_gelu_tolerances,
                                     [=](const Arrays<T>& a, Stream& s) {
                                       bias_gelu::run<T>(form, a.x.data(), a.bias.data(),
                                                         a.y.data(), rows, cols, variant, s);
                                     });
                               }});
  }
  const vendor::Gelu theirs = form == Form::erf ? vendor::Gelu::erf : vendor::Gelu::tanh;
  for (const std::string_view variant : vendor::bias_gelu_variants(theirs, dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(name, form, rows, cols, vendor_bounds,
                                                    [=](const Arrays<T>& a, Stream& s) {
                                                      vendor::bias_gelu(name, theirs, dtype_of<T>,
                                                                        a.x.data(), a.bias.data(),
                                                                        a.y.data(), rows, cols, s);
                                                    });
                               }});
  }
  return result;
}

} // namespace

Operation bias_gelu_operation() {
  Operation operation{"bias_gelu", "elementwise", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"erf_rows64_cols1024", true}, {"tanh_rows64_cols1024"}};
  else // 512 MiB and more of traffic in all but the first
    operation.shapes = {{"erf_rows512_cols3072"},
                        {"erf_rows65536_cols4096", true},
                        {"tanh_rows65536_cols4096"},
                        {"erf_rows1048577_cols197"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Form form = bias_gelu::kForms[shape.word({"erf", "tanh"})];
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return make_case<f16>(form, rows, cols);
    if (dtype == Dtype::bf16) return make_case<bf16>(form, rows, cols);
    return make_case<float>(form, rows, cols);
  };
  return operation;
}

} // namespace kg::perf
