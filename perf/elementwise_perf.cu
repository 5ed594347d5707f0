// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adding and dividing arrays: bandwidth far beyond the caches, and sizes where the launch counts.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"
#include "vendor/elementwise/elementwise.h"

#include "elementwise/elementwise.h"

#include <algorithm>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

using elementwise::Op;

template <class T>
struct Arrays {
  Arrays(std::int64_t n, Stream& stream)
      : a(n, test::Tensor::a, stream), b(n, test::Tensor::b, stream),
        out(static_cast<std::size_t>(n)) {}
  RandomData<T> a;
  RandomData<T> b;
  DeviceBuffer<T> out;
  double worst_error = 0;
};

// Exact, since each element has one right value; large results through windows.
template <class T>
std::string verify(Arrays<T>& arrays, Op op, std::int64_t n, Stream& stream) {
  for (const Window window : windows(n, 1 << 16)) {
    const std::vector<double> expected = test::elementwise_oracle(
        static_cast<test::BinaryOp>(op), dtype_of<T>, arrays.a.values(window.first, window.count),
        arrays.b.values(window.first, window.count));
    const auto comparison = test::compare(observe(arrays.out, window, stream),
                                          test::exactly(dtype_of<T>, {window.count}, expected));
    arrays.worst_error = std::max(arrays.worst_error, comparison.max_error);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Op op, std::int64_t n, Run run) {
  Stream stream;
  auto arrays = std::make_shared<Arrays<T>>(n, stream);
  return {[=](Stream& s) { run(*arrays, s); },
          [=](Stream& s) { arrays->out.poison(s); },
          [=](Stream& s) { return verify(*arrays, op, n, s); },
          std::move(variant),
          {},
          [=] { return arrays->worst_error; }};
}

template <class T>
Case make_case(Op op, std::int64_t n) {
  Case result{Kind::memory, elementwise::work(dtype_of<T>, n), {}};
  result.automatic = elementwise::name(elementwise::resolved(elementwise::Variant::automatic));
  for (const elementwise::Variant variant : elementwise::kVariants) {
    const std::string name(elementwise::name(variant));
    result.variants.push_back(
        {name, false, [=] {
           return workload<T>(name, op, n, [=](const Arrays<T>& x, Stream& s) {
             elementwise::run<T>(op, x.a.data(), x.b.data(), x.out.data(), n, variant, s);
           });
         }});
  }
  const auto theirs = static_cast<vendor::Binary>(op);
  for (const std::string_view variant : vendor::elementwise_variants(theirs, dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(
                                     name, op, n, [=](const Arrays<T>& x, Stream& s) {
                                       vendor::elementwise(name, theirs, dtype_of<T>, x.a.data(),
                                                           x.b.data(), x.out.data(), n, s);
                                     });
                               }});
  }
  return result;
}

} // namespace

Operation elementwise_operation() {
  Operation operation{"elementwise",
                      "elementwise",
                      {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::i32},
                      {},
                      {}};
  if (backend == Backend::host)
    operation.shapes = {{"add_n65536", true}, {"add_n1048576"}, {"div_n524288"}};
  else // 768 MiB and more of traffic at 2^27
    operation.shapes = {{"add_n1024"},      {"add_n10240"},          {"add_n65536"},
                        {"add_n102400"},    {"add_n16777216", true}, {"add_n134217728"},
                        {"div_n134217728"}, {"add_n536870912"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Op op = elementwise::kOps[shape.word({"add", "sub", "mul", "div"})];
    const std::int64_t n = shape.number("n");
    if (dtype == Dtype::f16) return make_case<f16>(op, n);
    if (dtype == Dtype::bf16) return make_case<bf16>(op, n);
    if (!elementwise::supports(op, dtype)) return Case{}; // no variants
    if (dtype == Dtype::f64) return make_case<double>(op, n);
    if (dtype == Dtype::i32) return make_case<int>(op, n);
    return make_case<float>(op, n);
  };
  return operation;
}

} // namespace kg::perf
