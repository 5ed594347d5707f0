// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The slopes of the cheapest activation, whose time is the memory's, and of costly ones; far beyond
// the caches, and at a size where the launch counts.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/tolerance_unary_backward.h"
#include "vendor/activation_backward/activation_backward.h"

#include "activation_backward/activation_backward.h"

#include <memory>
#include <span>
#include <string>

namespace kg::perf {
namespace {

using activation::Function;

template <class T>
struct Arrays {
  Arrays(std::int64_t n, Stream& stream)
      : x(n, test::Tensor::a, stream), dy(n, test::Tensor::b, stream),
        dx(static_cast<std::size_t>(n)) {}
  RandomData<T> x;
  RandomData<T> dy;
  DeviceBuffer<T> y; // of vendors
  DeviceBuffer<T> dx;
};

using Bounds = std::vector<double> (*)(test::UnaryOp, Dtype, std::span<const double> x,
                                       std::span<const double> dy, std::span<const double> dx);

// A library's accuracy is a matter of activation_backward_test.cu; here it must have done the work.
std::vector<double> vendor_bounds(test::UnaryOp op, Dtype dtype, std::span<const double> x,
                                  std::span<const double> dy, std::span<const double> dx) {
  constexpr double kSlack = 64;
  std::vector<double> bounds = test::library_backward_tolerances(op, dtype, x, dy, dx);
  for (double& bound : bounds) bound *= kSlack;
  return bounds;
}

// Large results through windows.
template <class T>
std::string verify(const Arrays<T>& arrays, Function function, std::int64_t n, Bounds bounds,
                   Stream& stream) {
  const auto op = static_cast<test::UnaryOp>(function);
  for (const Window window : windows(n, 1 << 16)) {
    const std::vector<double> x = arrays.x.values(window.first, window.count);
    const std::vector<double> dy = arrays.dy.values(window.first, window.count);
    const std::vector<double> dx = test::unary_backward_oracle(op, x, dy);
    const std::vector<double> tolerance = bounds(op, dtype_of<T>, x, dy, dx);
    const test::Expectation expected{dtype_of<T>, {window.count}, dx, tolerance};
    const auto comparison = test::compare(observe(arrays.dx, window, stream), expected);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Function function, std::int64_t n, Bounds bounds,
                  std::shared_ptr<Arrays<T>> arrays, Run run) {
  return {[=](Stream& s) { run(*arrays, s); }, [=](Stream& s) { arrays->dx.poison(s); },
          [=](Stream& s) { return verify(*arrays, function, n, bounds, s); }, std::move(variant)};
}

template <class T>
Workload our_workload(Function function, std::int64_t n, activation_backward::Variant variant) {
  Stream stream;
  return workload(
      std::string(activation_backward::name(variant)), function, n, test::unary_backward_tolerances,
      std::make_shared<Arrays<T>>(n, stream), [=](const Arrays<T>& a, Stream& s) {
        activation_backward::run<T>(function, a.x.data(), a.dy.data(), a.dx.data(), n, variant, s);
      });
}

// With the y of the library's own forward pass.
template <class T>
Workload vendor_workload(Function function, std::int64_t n, const std::string& name) {
  Stream stream;
  const auto theirs = static_cast<vendor::Activation>(function);
  auto arrays = std::make_shared<Arrays<T>>(n, stream);
  arrays->y = DeviceBuffer<T>(static_cast<std::size_t>(n));
  vendor::activation(name, theirs, dtype_of<T>, arrays->x.data(), arrays->y.data(), n, stream);
  stream.synchronize();
  return workload(name, function, n, vendor_bounds, arrays, [=](const Arrays<T>& a, Stream& s) {
    vendor::activation_backward(name, theirs, dtype_of<T>, a.x.data(), a.y.data(), a.dy.data(),
                                a.dx.data(), n, s);
  });
}

template <class T>
Case make_case(Function function, std::int64_t n) {
  Case result{Kind::memory, activation_backward::work(dtype_of<T>, n), {}};
  result.automatic = activation_backward::name(
      activation_backward::resolved(activation_backward::Variant::automatic));
  for (const activation_backward::Variant variant : activation_backward::kVariants)
    result.variants.push_back({std::string(activation_backward::name(variant)), false,
                               [=] { return our_workload<T>(function, n, variant); }});
  const auto theirs = static_cast<vendor::Activation>(function);
  for (const std::string_view variant : vendor::activation_backward_variants(theirs, dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] { return vendor_workload<T>(function, n, name); }});
  }
  return result;
}

} // namespace

Operation activation_backward_operation() {
  Operation operation{
      "activation_backward", "activation", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"silu_n65536", true}, {"gelu_n65536"}, {"relu_n524288"}};
  else // 768 MiB and more of traffic at 2^27
    operation.shapes = {{"silu_n65536"},     {"relu_n16777216", true}, {"relu_n134217728"},
                        {"tanh_n134217728"}, {"silu_n134217728"},      {"gelu_n134217728"},
                        {"gelu_n268435456"}};
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
