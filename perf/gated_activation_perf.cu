// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gates of feed-forward blocks: far beyond the caches, at a size where the launch counts, and
// with rows that end within packs.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_gated_activation.h"
#include "vendor/gated_activation/gated_activation.h"

#include "gated_activation/gated_activation.h"

#include <memory>
#include <span>
#include <string>

namespace kg::perf {
namespace {

using gated_activation::Form;

template <class T>
struct Arrays {
  Arrays(std::int64_t rows, std::int64_t cols, Stream& stream)
      : x(2 * rows * cols, test::Tensor::a, stream), y(static_cast<std::size_t>(rows * cols)) {}
  RandomData<T> x;
  DeviceBuffer<T> y;
};

using Bounds = std::vector<double> (*)(test::UnaryOp, Dtype, const test::Halves<double>& x,
                                       std::span<const double> y);

// A library's accuracy is a matter of gated_activation_test.cu; here it must have done the work.
std::vector<double> vendor_bounds(test::UnaryOp op, Dtype dtype, const test::Halves<double>& x,
                                  std::span<const double> y) {
  constexpr double kSlack = 64;
  std::vector<double> bounds = test::library_gated_tolerances(op, dtype, x, y);
  for (double& bound : bounds) bound *= kSlack;
  return bounds;
}

// Large results through windows of whole rows.
template <class T>
std::string verify(const Arrays<T>& arrays, Form form, std::int64_t rows, std::int64_t cols,
                   Bounds bounds, Stream& stream) {
  const auto op = static_cast<test::UnaryOp>(gated_activation::function_of(form));
  for (const Window window : windows(rows * cols, 1 << 16, cols)) {
    const auto x = test::halves_of(arrays.x.values(2 * window.first, 2 * window.count), cols);
    std::vector<double> y = test::gated_oracle(op, x);
    const std::vector<double> tolerance = bounds(op, dtype_of<T>, x, y);
    if (form == Form::reglu)
      for (double& value : y) value = test::round_to(dtype_of<T>, value);
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
  Case result{Kind::memory, gated_activation::work(dtype_of<T>, rows, cols), {}};
  result.automatic =
      gated_activation::name(gated_activation::resolved(gated_activation::Variant::automatic));
  for (const gated_activation::Variant variant : gated_activation::kVariants) {
    const std::string name(gated_activation::name(variant));
    const auto run = [=](const Arrays<T>& a, Stream& s) {
      gated_activation::run<T>(form, a.x.data(), a.y.data(), rows, cols, variant, s);
    };
    result.variants.push_back(
        {name, false,
         [=] { return workload<T>(name, form, rows, cols, test::gated_tolerances, run); }});
  }
  const auto theirs = static_cast<vendor::Activation>(gated_activation::function_of(form));
  for (const std::string_view variant : vendor::gated_activation_variants(theirs, dtype_of<T>)) {
    const std::string name(variant);
    const auto run = [=](const Arrays<T>& a, Stream& s) {
      vendor::gated_activation(name, theirs, dtype_of<T>, a.x.data(), a.y.data(), rows, cols, s);
    };
    result.variants.push_back(
        {name, true, [=] { return workload<T>(name, form, rows, cols, vendor_bounds, run); }});
  }
  return result;
}

} // namespace

Operation gated_activation_operation() {
  Operation operation{
      "gated_activation", "activation", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"swiglu_rows64_cols1024", true}, {"geglu_rows64_cols1024"}};
  else // 384 MiB and more of traffic in all but the first
    operation.shapes = {{"swiglu_rows128_cols4864"},
                        {"swiglu_rows16384_cols4864", true},
                        {"geglu_rows16384_cols4864"},
                        {"reglu_rows16384_cols4864"},
                        {"swiglu_rows524289_cols197"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Form form = gated_activation::kForms[shape.word({"swiglu", "geglu", "reglu"})];
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return make_case<f16>(form, rows, cols);
    if (dtype == Dtype::bf16) return make_case<bf16>(form, rows, cols);
    return make_case<float>(form, rows, cols);
  };
  return operation;
}

} // namespace kg::perf
