// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise-separable convolutions as cases: a depthwise convolution and, on what it stored, one of
// 1x1; separable_nhwc_n32_c64_h112_w112_o128_k3_s2_p1 is a layer of MobileNet (Howard et al., arXiv
// 1704.04861). Ours and the library's are chains of two calls, without biases. The floor is that of
// both at once: what lies between need not be moved.
#pragma once

#include "perf/conv2d_case.h"
#include "perf/conv2d_oracle.h"
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/buffer.h"
#include "tests/oracle/compare.h"
#include "vendor/conv2d/conv2d.h"

#include "conv2d/conv2d.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::perf {

struct Separable {
  conv2d::Geometry depthwise, pointwise;
};

inline Separable separable_of(const Shape& shape) {
  conv2d::Geometry depthwise = window_of(shape);
  depthwise.out_channels = depthwise.groups = depthwise.in_channels;
  return {depthwise,
          {.batch = depthwise.batch,
           .in_channels = depthwise.out_channels,
           .height = depthwise.out_height(),
           .width = depthwise.out_width(),
           .out_channels = shape.number("o"),
           .layout = depthwise.layout}};
}

template <class T>
struct Chain {
  Chain(const Separable& s, std::size_t workspace_bytes, Stream& stream)
      : x(s.depthwise.inputs(), test::Tensor::a, stream),
        filters(s.depthwise.weights(), test::Tensor::b, stream),
        mixing(s.pointwise.weights(), test::Tensor::c, stream),
        between(static_cast<std::size_t>(s.depthwise.outputs())),
        y(static_cast<std::size_t>(s.pointwise.outputs())), workspace(workspace_bytes) {}
  RandomData<T> x, filters, mixing;
  DeviceBuffer<T> between, y;
  DeviceBuffer<std::byte> workspace;
  double worst_error = 0;
};

// An element of y, and how far off it may be: as conv2d_separable_tests.h derives it.
struct ChainElement {
  double value, tolerance;
};
template <class T>
ChainElement element_of_chain(const Chain<T>& chain, const Separable& s, const ImagePlace& at) {
  const std::int64_t channels = s.pointwise.in_channels;
  Element sum{};
  double passed_on = 0; // of the first convolution's errors
  for (std::int64_t c = 0; c < channels; ++c) {
    const Element between =
        element_of_y(s.depthwise, chain.x, chain.filters, 0, {at.image, c, at.place});
    const double tolerance = product_tolerance(dtype_of<T>, s.depthwise.taps(), between);
    const auto weight = static_cast<double>(chain.mixing.at(at.channel * channels + c));
    sum.value += weight * between.value;
    sum.condition += std::fabs(weight) * (std::fabs(between.value) + tolerance);
    passed_on += std::fabs(weight) * tolerance;
  }
  const Element largest{std::fabs(sum.value) + passed_on, sum.condition};
  return {sum.value, product_tolerance(dtype_of<T>, channels, largest) + passed_on};
}

template <class T>
std::string verify(Chain<T>& chain, const Separable& s, Stream& stream) {
  const std::int64_t products = s.depthwise.taps() * s.pointwise.in_channels;
  const std::int64_t most = std::clamp<std::int64_t>((1 << 22) / products, 64, 4096);
  const conv2d::Geometry& last = s.pointwise;
  for (const Window window : windows(last.outputs(), most)) {
    std::vector<double> expected, tolerance;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
      const ChainElement right = element_of_chain(
          chain, s, image_place(last.layout, last.out_channels, last.out_places(), i));
      expected.push_back(right.value);
      tolerance.push_back(right.tolerance);
    }
    const auto comparison = test::compare(observe(chain.y, window, stream),
                                          {dtype_of<T>, {window.count}, expected, tolerance});
    chain.worst_error = std::max(chain.worst_error, comparison.max_error);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload chain_workload(std::string variant, const Separable& s, std::size_t workspace_bytes,
                        Run run) {
  Stream stream;
  auto chain = std::make_shared<Chain<T>>(s, workspace_bytes, stream);
  return {[=](Stream& st) { run(*chain, st); },
          [=](Stream& st) {
            chain->between.poison(st);
            chain->y.poison(st);
          },
          [=](Stream& st) { return verify(*chain, s, st); },
          std::move(variant),
          {},
          [=] { return chain->worst_error; }};
}

template <class T>
Case separable_case(const Separable& s) {
  using conv2d::Variant;
  const Work first = conv2d::work(dtype_of<T>, s.depthwise);
  const Work second = conv2d::work(dtype_of<T>, s.pointwise);
  const auto between =
      2 * static_cast<double>(s.depthwise.outputs()) * static_cast<double>(sizeof(T));
  Case result{Kind::compute,
              {.bytes = first.bytes + second.bytes - between,
               .written = second.written,
               .flops = first.flops + second.flops},
              {},
              {},
              kProductsInTurns};
  const auto add = [&](std::string name, Variant depthwise, Variant pointwise) {
    if (!conv2d::supports<T>(depthwise, s.depthwise) ||
        !conv2d::supports<T>(pointwise, s.pointwise))
      return;
    const auto make = [=] {
      return chain_workload<T>(
          name, s, conv2d::workspace_bytes<T>(s.pointwise, pointwise),
          [=](const Chain<T>& c, Stream& stream) {
            conv2d::run<T>({s.depthwise, c.x.data(), c.filters.data(), nullptr, c.between.data()},
                           depthwise, stream);
            conv2d::run<T>({s.pointwise, c.between.data(), c.mixing.data(), nullptr, c.y.data(),
                            c.workspace.data()},
                           pointwise, stream);
          });
    };
    result.variants.push_back({name, false, make, is_timed_conv2d<T>(pointwise)});
  };
  add("direct", Variant::direct, Variant::direct);
  add("depthwise_im2col", Variant::depthwise, Variant::im2col);
  add("depthwise_implicit_gemm", Variant::depthwise, Variant::implicit_gemm);
  for (const std::string_view variant : vendor::conv2d_variants(dtype_of<T>, s.depthwise)) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           return chain_workload<T>(name, s, 0, [=](const Chain<T>& c, Stream& stream) {
             vendor::conv2d(name,
                            {dtype_of<T>, s.depthwise, c.x.data(), c.filters.data(), nullptr,
                             c.between.data()},
                            vendor::Math::fastest, stream);
             vendor::conv2d(
                 name,
                 {dtype_of<T>, s.pointwise, c.between.data(), c.mixing.data(), nullptr, c.y.data()},
                 vendor::Math::fastest, stream);
           });
         }});
  }
  return result;
}

} // namespace kg::perf
