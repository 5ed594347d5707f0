// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of gates of feed-forward blocks, beside the libraries': far beyond the caches, at a
// size where the launch counts, and with rows that end within packs.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_gated_activation.h"
#include "vendor/gated_activation_backward/gated_activation_backward.h"

#include "gated_activation_backward/gated_activation_backward.h"

#include <memory>
#include <span>
#include <string>

namespace kg::perf {
namespace {

using gated_activation_backward::Form;

template <class T>
struct Arrays {
  Arrays(std::int64_t rows, std::int64_t cols, Stream& stream)
      : x(2 * rows * cols, test::Tensor::a, stream), dy(rows * cols, test::Tensor::b, stream),
        dx(static_cast<std::size_t>(2 * rows * cols)) {}
  RandomData<T> x;
  RandomData<T> dy;
  DeviceBuffer<T> dx;
};

using Bounds = test::Halves<double> (*)(test::UnaryOp, Dtype, const test::Halves<double>& x,
                                        std::span<const double> dy, const test::Halves<double>& dx);

// A library's accuracy is a matter of gated_activation_backward_test.cu; here it must have done the
// work.
test::Halves<double> vendor_bounds(test::UnaryOp op, Dtype dtype, const test::Halves<double>& x,
                                   std::span<const double> dy, const test::Halves<double>& dx) {
  constexpr double kSlack = 64;
  auto bounds = test::library_gated_gradient_tolerances(op, dtype, x, dy, dx);
  for (double& bound : bounds.gate) bound *= kSlack;
  for (double& bound : bounds.value) bound *= kSlack;
  return bounds;
}

// Large results through windows of whole rows.
template <class T>
std::string verify(const Arrays<T>& arrays, Form form, std::int64_t rows, std::int64_t cols,
                   Bounds bounds_of, Stream& stream) {
  const auto op = static_cast<test::UnaryOp>(gated_activation::function_of(form));
  for (const Window window : windows(rows * cols, 1 << 16, cols)) {
    const Window both{2 * window.first, 2 * window.count};
    const auto x = test::halves_of(arrays.x.values(both.first, both.count), cols);
    const std::vector<double> dy = arrays.dy.values(window.first, window.count);
    const auto gradients = test::gated_gradients_oracle(op, x, dy);
    const auto bounds = bounds_of(op, dtype_of<T>, x, dy, gradients);
    std::vector<double> dx = test::side_by_side(gradients, cols);
    if (form == Form::reglu)
      for (double& value : dx) value = test::round_to(dtype_of<T>, value);
    const std::vector<double> tolerance = test::side_by_side(bounds, cols);
    const auto comparison =
        test::compare(observe(arrays.dx, both, stream), {dtype_of<T>, {both.count}, dx, tolerance});
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Form form, std::int64_t rows, std::int64_t cols,
                  Bounds bounds, Run run) {
  Stream stream;
  auto arrays = std::make_shared<Arrays<T>>(rows, cols, stream);
  return {[=](Stream& s) { run(*arrays, s); }, [=](Stream& s) { arrays->dx.poison(s); },
          [=](Stream& s) { return verify(*arrays, form, rows, cols, bounds, s); },
          std::move(variant)};
}

template <class T>
Case make_case(Form form, std::int64_t rows, std::int64_t cols) {
  Case result{Kind::memory, gated_activation_backward::work(dtype_of<T>, rows, cols), {}};
  result.automatic = gated_activation_backward::name(
      gated_activation_backward::resolved(gated_activation_backward::Variant::automatic));
  for (const gated_activation_backward::Variant variant : gated_activation_backward::kVariants) {
    const std::string name(gated_activation_backward::name(variant));
    const auto run = [=](const Arrays<T>& a, Stream& s) {
      gated_activation_backward::run<T>(form, a.x.data(), a.dy.data(), a.dx.data(), rows, cols,
                                        variant, s);
    };
    result.variants.push_back({name, false, [=] {
                                 return workload<T>(name, form, rows, cols,
                                                    test::gated_gradient_tolerances, run);
                               }});
  }
  const auto theirs = static_cast<vendor::Activation>(gated_activation::function_of(form));
  for (const std::string_view variant :
       vendor::gated_activation_backward_variants(theirs, dtype_of<T>)) {
    const std::string name(variant);
    const auto run = [=](const Arrays<T>& a, Stream& s) {
      vendor::gated_activation_backward(name, theirs, dtype_of<T>, a.x.data(), a.dy.data(),
                                        a.dx.data(), rows, cols, s);
    };
    result.variants.push_back(
        {name, true, [=] { return workload<T>(name, form, rows, cols, vendor_bounds, run); }});
  }
  return result;
}

} // namespace

Operation gated_activation_backward_operation() {
  Operation operation{
      "gated_activation_backward", "activation", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"swiglu_rows64_cols1024", true}, {"geglu_rows64_cols1024"}};
  else // 640 MiB and more of traffic in all but the first
    operation.shapes = {{"swiglu_rows128_cols4864"},
                        {"swiglu_rows16384_cols4864", true},
                        {"geglu_rows16384_cols4864"},
                        {"swiglu_rows524289_cols197"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Form form = gated_activation_backward::kForms[shape.word({"swiglu", "geglu", "reglu"})];
    const std::int64_t rows = shape.number("rows");
    const std::int64_t cols = shape.number("cols");
    if (dtype == Dtype::f16) return make_case<f16>(form, rows, cols);
    if (dtype == Dtype::bf16) return make_case<bf16>(form, rows, cols);
    return make_case<float>(form, rows, cols);
  };
  return operation;
}

} // namespace kg::perf
