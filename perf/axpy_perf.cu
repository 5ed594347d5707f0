// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// alpha x + y out of place: bandwidth far beyond the caches, and a size where the launch counts.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/support/compare.h"
#include "tests/support/oracle_elementwise.h"
#include "vendor/axpy/axpy.h"

#include "axpy/axpy.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

constexpr float kAlpha = 0.7F;

template <class T>
struct Arrays {
  Arrays(std::int64_t n, Stream& stream)
      : x(n, test::Tensor::a, stream), y(n, test::Tensor::b, stream),
        out(static_cast<std::size_t>(n)) {}
  RandomData<T> x;
  RandomData<T> y;
  DeviceBuffer<T> out;
};

// Ours is exact; a vendor may round the product by itself. Large results through windows.
template <class T>
std::string verify(const Arrays<T>& arrays, bool exact, std::int64_t n, Stream& stream) {
  for (const Window window : windows(n, 1 << 16)) {
    const std::vector<double> x = arrays.x.values(window.first, window.count);
    const std::vector<double> expected =
        test::axpy_oracle(dtype_of<T>, kAlpha, x, arrays.y.values(window.first, window.count));
    const std::vector<double> tolerance =
        test::unfused_axpy_tolerance(dtype_of<T>, kAlpha, x, expected);
    test::Expectation expectation = test::exactly(dtype_of<T>, {window.count}, expected);
    if (!exact) expectation.tolerance = tolerance;
    const auto comparison = test::compare(observe(arrays.out, window, stream), expectation);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, bool exact, std::int64_t n, Run run) {
  Stream stream;
  auto arrays = std::make_shared<Arrays<T>>(n, stream);
  return {[=](Stream& s) { run(*arrays, s); }, [=](Stream& s) { arrays->out.poison(s); },
          [=](Stream& s) { return verify(*arrays, exact, n, s); }, std::move(variant)};
}

template <class T>
Case make_case(std::int64_t n) {
  Case result{Kind::memory, axpy::work(dtype_of<T>, n), {}};
  result.automatic = axpy::name(axpy::resolved(axpy::Variant::automatic));
  for (const axpy::Variant variant : axpy::kVariants) {
    const std::string name(axpy::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return workload<T>(name, true, n, [=](const Arrays<T>& a, Stream& s) {
             axpy::run<T>(kAlpha, a.x.data(), a.y.data(), a.out.data(), n, variant, s);
           });
         }});
  }
  for (const std::string_view variant : vendor::axpy_variants(dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           return workload<T>(name, false, n, [=](const Arrays<T>& a, Stream& s) {
             vendor::axpy(name, dtype_of<T>, kAlpha, a.x.data(), a.y.data(), a.out.data(), n, s);
           });
         }});
  }
  return result;
}

} // namespace

Operation axpy_operation() {
  Operation operation{"axpy", "elementwise", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"n65536", true}, {"n524288"}};
  else // 768 MiB and more of traffic at 2^27
    operation.shapes = {{"n65536"}, {"n16777216", true}, {"n134217728"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const std::int64_t n = shape.number("n");
    if (dtype == Dtype::f16) return make_case<f16>(n);
    if (dtype == Dtype::bf16) return make_case<bf16>(n);
    return make_case<float>(n);
  };
  return operation;
}

} // namespace kg::perf
