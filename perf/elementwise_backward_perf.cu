// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of products and quotients: bandwidth far beyond the caches, and a size where the launch
// counts.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_elementwise.h"

#include "elementwise_backward/elementwise_backward.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

using elementwise_backward::Op;

template <class T>
struct Arrays {
  Arrays(std::int64_t n, Stream& stream)
      : dy(n, test::Tensor::a, stream), a(n, test::Tensor::b, stream),
        b(n, test::Tensor::c, stream), da(static_cast<std::size_t>(n)),
        db(static_cast<std::size_t>(n)) {}
  RandomData<T> dy;
  RandomData<T> a;
  RandomData<T> b;
  DeviceBuffer<T> da;
  DeviceBuffer<T> db;
};

// Exact, since each element has one right value; large results through windows.
template <class T>
std::string verify(const Arrays<T>& arrays, Op op, std::int64_t n, Stream& stream) {
  const test::BinaryOp of = op == Op::mul ? test::BinaryOp::mul : test::BinaryOp::div;
  for (const Window window : windows(n, 1 << 16)) {
    const test::BinaryGradients expected = test::binary_gradients_oracle(
        of, dtype_of<T>, arrays.dy.values(window.first, window.count),
        arrays.a.values(window.first, window.count), arrays.b.values(window.first, window.count));
    const auto wrong = [&](const DeviceBuffer<T>& result, const std::vector<double>& value) {
      const auto comparison = test::compare(observe(result, window, stream),
                                            test::exactly(dtype_of<T>, {window.count}, value));
      return comparison.passed() ? std::string() : comparison.text();
    };
    const std::string text = wrong(arrays.da, expected.da) + wrong(arrays.db, expected.db);
    if (!text.empty()) return text;
  }
  return "";
}

template <class T>
Workload workload(elementwise_backward::Variant variant, Op op, std::int64_t n) {
  Stream stream;
  auto arrays = std::make_shared<Arrays<T>>(n, stream);
  return {[=](Stream& s) {
            elementwise_backward::run<T>(op, arrays->dy.data(), arrays->a.data(), arrays->b.data(),
                                         arrays->da.data(), arrays->db.data(), n, variant, s);
          },
          [=](Stream& s) {
            arrays->da.poison(s);
            arrays->db.poison(s);
          },
          [=](Stream& s) { return verify(*arrays, op, n, s); },
          std::string(elementwise_backward::name(variant))};
}

// No vendor has these gradients.
template <class T>
Case make_case(Op op, std::int64_t n) {
  Case result{Kind::memory, elementwise_backward::work(op, dtype_of<T>, n), {}};
  result.automatic = elementwise_backward::name(
      elementwise_backward::resolved(elementwise_backward::Variant::automatic));
  for (const elementwise_backward::Variant variant : elementwise_backward::kVariants)
    result.variants.push_back({std::string(elementwise_backward::name(variant)), false,
                               [=] { return workload<T>(variant, op, n); }});
  return result;
}

} // namespace

Operation elementwise_backward_operation() {
  Operation operation{
      "elementwise_backward", "elementwise", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"mul_n65536", true}, {"div_n262144"}};
  else // 640 MiB and more of traffic at 2^26
    operation.shapes = {{"mul_n65536"}, {"mul_n67108864", true}, {"div_n67108864"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Op op = elementwise_backward::kOps[shape.word({"mul", "div"})];
    const std::int64_t n = shape.number("n");
    if (dtype == Dtype::f16) return make_case<f16>(op, n);
    if (dtype == Dtype::bf16) return make_case<bf16>(op, n);
    return make_case<float>(op, n);
  };
  return operation;
}

} // namespace kg::perf
