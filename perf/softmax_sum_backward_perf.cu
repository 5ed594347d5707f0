// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of the mixed operation of eight candidates, beside the libraries' softmax and
// products: far beyond the caches, and at a size where the launches count.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_softmax_sum_backward.h"
#include "vendor/softmax_sum_backward/softmax_sum_backward.h"

#include "softmax_sum_backward/softmax_sum_backward.h"

#include <memory>
#include <string>
#include <type_traits>

namespace kg::perf {
namespace {

using softmax_sum_backward::Variant;

template <class T>
struct Gradients {
  Gradients(std::int64_t terms, std::int64_t n, std::size_t workspace_bytes, Stream& stream)
      : x(terms * n, test::Tensor::a, stream), alpha(terms, test::Tensor::b, stream),
        dy(n, test::Tensor::c, stream), dx(static_cast<std::size_t>(terms * n)),
        dalpha(static_cast<std::size_t>(terms)), workspace(workspace_bytes) {}
  RandomData<T> x;
  RandomData<T> alpha;
  RandomData<T> dy;
  DeviceBuffer<T> dx;
  DeviceBuffer<T> dalpha;
  DeviceBuffer<unsigned char> workspace;
};

// dx through windows of dy; dalpha, which has all of x in it, up to 2^22 elements.
template <class T>
std::string verify(const Gradients<T>& data, std::int64_t terms, std::int64_t n, Stream& stream) {
  constexpr std::int64_t kMost = std::int64_t{1} << 22;
  const std::vector<double> alpha = data.alpha.values(0, terms);
  const std::int64_t most = terms * n <= kMost ? n : 1 << 16;
  for (const Window window : windows(n, most)) {
    std::vector<double> x;
    for (std::int64_t k = 0; k < terms; ++k) {
      const std::vector<double> term = data.x.values(k * n + window.first, window.count);
      x.insert(x.end(), term.begin(), term.end());
    }
    const auto right = test::softmax_sum_gradients_oracle(
        dtype_of<T>, x, alpha, data.dy.values(window.first, window.count));
    const std::span<const double> value(right.dx), tolerance(right.dx_tolerance);
    for (std::int64_t k = 0; k < terms; ++k) {
      const auto from = static_cast<std::size_t>(k * window.count);
      const auto count = static_cast<std::size_t>(window.count);
      const auto dx = test::compare(observe(data.dx, {k * n + window.first, window.count}, stream),
                                    {dtype_of<T>,
                                     {window.count},
                                     value.subspan(from, count),
                                     tolerance.subspan(from, count)});
      if (!dx.passed()) return dx.text();
    }
    if (window.count < n) continue;
    const auto dalpha = test::compare(observe(data.dalpha, {0, terms}, stream),
                                      {dtype_of<T>, {terms}, right.dalpha, right.dalpha_tolerance});
    if (!dalpha.passed()) return "dalpha: " + dalpha.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, std::int64_t terms, std::int64_t n,
                  std::size_t workspace_bytes, Run run) {
  Stream stream;
  auto data = std::make_shared<Gradients<T>>(terms, n, workspace_bytes, stream);
  return {[=](Stream& s) { run(*data, s); },
          [=](Stream& s) {
            data->dx.poison(s);
            data->dalpha.poison(s);
          },
          [=](Stream& s) { return verify(*data, terms, n, s); }, std::move(variant)};
}

template <class T>
Case make_case(std::int64_t terms, std::int64_t n) {
  Case result{Kind::memory, softmax_sum_backward::work(dtype_of<T>, terms, n), {}};
  result.automatic = softmax_sum_backward::name(
      softmax_sum_backward::resolved(softmax_sum_backward::Variant::automatic));
  for (const Variant variant : softmax_sum_backward::kVariants) {
    const std::string name(softmax_sum_backward::name(variant));
    const auto run = [=](const Gradients<T>& g, Stream& s) {
      softmax_sum_backward::run<T>(
          {g.x.data(), g.alpha.data(), g.dy.data(), g.dx.data(), g.dalpha.data()},
          g.workspace.data(), terms, n, variant, s);
    };
    result.variants.push_back(
        {name, false, [=] {
           return workload<T>(name, terms, n,
                              softmax_sum_backward::workspace_bytes<T>(variant, terms, n), run);
         }});
  }
  if constexpr (std::is_same_v<T, float>)
    for (const std::string_view variant : vendor::softmax_sum_backward_variants()) {
      const std::string name(variant);
      const auto run = [=](const Gradients<T>& g, Stream& s) {
        vendor::softmax_sum_backward(
            name, {g.x.data(), g.alpha.data(), g.dy.data(), g.dx.data(), g.dalpha.data()}, terms, n,
            s);
      };
      result.variants.push_back({name, true, [=] { return workload<T>(name, terms, n, 0, run); }});
    }
  return result;
}

} // namespace

Operation softmax_sum_backward_operation() {
  Operation operation{
      "softmax_sum_backward", "softmax", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"k8_n16384", true}, {"k3_n32768"}};
  else // 896 MiB and more of traffic in the second and third
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
