// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cheapest activation, whose time is the memory's, and costly ones; far beyond the caches, and
// at a size where the launch counts.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/tolerance_unary.h"
#include "vendor/activation/activation.h"

#include "activation/activation.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

namespace kg::perf {
namespace {

using activation::Function;

template <class T>
struct Arrays {
  Arrays(std::int64_t n, Stream& stream)
      : x(n, test::Tensor::a, stream), y(static_cast<std::size_t>(n)) {}
  RandomData<T> x;
  DeviceBuffer<T> y;
  double worst_error = 0;
};

using Bounds = std::vector<double> (*)(test::UnaryOp, Dtype, std::span<const double> x,
                                       std::span<const double> y);

// A library's accuracy is a matter of activation_test.cu; here it must have done the work.
std::vector<double> vendor_bounds(test::UnaryOp op, Dtype dtype, std::span<const double> x,
                                  std::span<const double> y) {
  constexpr double kSlack = 64;
  std::vector<double> bounds = test::library_tolerances(op, dtype, x, y);
  for (double& bound : bounds) bound *= kSlack;
  return bounds;
}

// Large results through windows.
template <class T>
std::string verify(Arrays<T>& arrays, Function function, std::int64_t n, Bounds bounds,
                   Stream& stream) {
  const auto op = static_cast<test::UnaryOp>(function);
  for (const Window window : windows(n, 1 << 16)) {
    const std::vector<double> x = arrays.x.values(window.first, window.count);
    const std::vector<double> y = test::unary_oracle(op, x);
    const std::vector<double> tolerance = bounds(op, dtype_of<T>, x, y);
    const test::Expectation expected{dtype_of<T>, {window.count}, y, tolerance};
    const auto comparison = test::compare(observe(arrays.y, window, stream), expected);
    arrays.worst_error = std::max(arrays.worst_error, comparison.max_error);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Function function, std::int64_t n, Bounds bounds, Run run) {
  Stream stream;
  auto arrays = std::make_shared<Arrays<T>>(n, stream);
  return {[=](Stream& s) { run(*arrays, s); },
          [=](Stream& s) { arrays->y.poison(s); },
          [=](Stream& s) { return verify(*arrays, function, n, bounds, s); },
          std::move(variant),
          {},
          [=] { return arrays->worst_error; }};
}

template <class T>
Case make_case(Function function, std::int64_t n) {
  Case result{Kind::memory, activation::work(dtype_of<T>, n), {}};
  result.automatic = activation::name(activation::resolved(activation::Variant::automatic));
  for (const activation::Variant variant : activation::kVariants) {
    const std::string name(activation::name(variant));
    result.variants.push_back({name, false, [=] {
                                 return workload<T>(name, function, n, test::unary_tolerances,
                                                    [=](const Arrays<T>& a, Stream& s) {
                                                      activation::run<T>(function, a.x.data(),
                                                                         a.y.data(), n, variant, s);
                                                    });
                               }});
  }
  const auto theirs = static_cast<vendor::Activation>(function);
  for (const std::string_view variant : vendor::activation_variants(theirs, dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           return workload<T>(name, function, n, vendor_bounds, [=](const Arrays<T>& a, Stream& s) {
             vendor::activation(name, theirs, dtype_of<T>, a.x.data(), a.y.data(), n, s);
           });
         }});
  }
  return result;
}

} // namespace

Operation activation_operation() {
  Operation operation{"activation", "activation", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"silu_n65536", true}, {"gelu_n65536"}, {"relu_n524288"}};
  else // 512 MiB and more of traffic at 2^27
    operation.shapes = {{"silu_n65536"},          {"relu_n1048576"},   {"relu_n4194304"},
                        {"relu_n16777216", true}, {"relu_n134217728"}, {"tanh_n134217728"},
                        {"silu_n134217728"},      {"gelu_n134217728"}, {"relu_n536870912"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Function function =
        activation::kFunctions[shape.word({"relu", "sigmoid", "tanh", "gelu", "gelutanh", "silu"})];
    const std::int64_t n = shape.number("n");
    if (dtype == Dtype::f16) return make_case<f16>(function, n);
    if (dtype == Dtype::bf16) return make_case<bf16>(function, n);
    return make_case<float>(function, n);
  };
  return operation;
}

} // namespace kg::perf
