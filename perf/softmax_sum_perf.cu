// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The mixed operation of eight candidates, beside the libraries' softmax and product: far beyond
// the caches, and at a size where the launch counts.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_softmax_sum.h"
#include "vendor/softmax_sum/softmax_sum.h"

#include "softmax_sum/softmax_sum.h"

#include <memory>
#include <string>
#include <type_traits>

namespace kg::perf {
namespace {

template <class T>
struct Arrays {
  Arrays(std::int64_t terms, std::int64_t n, Stream& stream)
      : x(terms * n, test::Tensor::a, stream), alpha(terms, test::Tensor::b, stream),
        y(static_cast<std::size_t>(n)) {}
  RandomData<T> x;
  RandomData<T> alpha;
  DeviceBuffer<T> y;
};

// Large results through windows.
template <class T>
std::string verify(const Arrays<T>& arrays, std::int64_t terms, std::int64_t n, Stream& stream) {
  const std::vector<double> alpha = arrays.alpha.values(0, terms);
  for (const Window window : windows(n, 1 << 16)) {
    std::vector<double> x;
    for (std::int64_t k = 0; k < terms; ++k) {
      const std::vector<double> term = arrays.x.values(k * n + window.first, window.count);
      x.insert(x.end(), term.begin(), term.end());
    }
    const auto expected = test::softmax_sum_oracle(dtype_of<T>, x, alpha);
    const auto comparison =
        test::compare(observe(arrays.y, window, stream),
                      {dtype_of<T>, {window.count}, expected.value, expected.tolerance});
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, std::int64_t terms, std::int64_t n, Run run) {
  Stream stream;
  auto arrays = std::make_shared<Arrays<T>>(terms, n, stream);
  return {[=](Stream& s) { run(*arrays, s); }, [=](Stream& s) { arrays->y.poison(s); },
          [=](Stream& s) { return verify(*arrays, terms, n, s); }, std::move(variant)};
}

template <class T>
Case make_case(std::int64_t terms, std::int64_t n) {
  Case result{Kind::memory, softmax_sum::work(dtype_of<T>, terms, n), {}};
  result.automatic = softmax_sum::name(softmax_sum::resolved(softmax_sum::Variant::automatic));
  for (const softmax_sum::Variant variant : softmax_sum::kVariants) {
    const std::string name(softmax_sum::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return workload<T>(name, terms, n, [=](const Arrays<T>& a, Stream& s) {
             softmax_sum::run<T>(a.x.data(), a.alpha.data(), a.y.data(), terms, n, variant, s);
           });
         }});
  }
  if constexpr (std::is_same_v<T, float>)
    for (const std::string_view variant : vendor::softmax_sum_variants()) {
      const std::string name(variant);
      result.variants.push_back(
          {name, true, [=] {
             return workload<T>(name, terms, n, [=](const Arrays<T>& a, Stream& s) {
               vendor::softmax_sum(name, a.x.data(), a.alpha.data(), a.y.data(), terms, n, s);
             });
           }});
    }
  return result;
}

} // namespace

Operation softmax_sum_operation() {
  Operation operation{"softmax_sum", "softmax", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"k8_n32768", true}, {"k3_n65536"}};
  else // 576 MiB and more of traffic in the second and third
    operation.shapes = {{"k8_n65536"}, {"k8_n33554432", true}, {"k3_n67108864"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const std::int64_t terms = shape.number("k");
    const std::int64_t n = shape.number("n");
    if (dtype == Dtype::f16) return make_case<f16>(terms, n);
    if (dtype == Dtype::bf16) return make_case<bf16>(terms, n);
    return make_case<float>(terms, n);
  };
  return operation;
}

} // namespace kg::perf
