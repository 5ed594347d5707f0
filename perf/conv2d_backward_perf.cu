// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of convolutions of 3x3 as networks have them, dense and depthwise; each by itself.
#include "perf/conv2d_case.h"
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_conv.h"
#include "vendor/conv2d_backward/conv2d_backward.h"

#include "conv2d_backward/conv2d_backward.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

using conv2d::Geometry;
using conv2d_backward::Gradient;

template <class T>
struct Images {
  Images(Gradient gradient, const Geometry& g, std::size_t workspace_bytes, Stream& stream)
      : dy(g.outputs(), test::Tensor::a, stream), x(g.inputs(), test::Tensor::b, stream),
        weights(g.weights(), test::Tensor::c, stream),
        result(static_cast<std::size_t>(conv2d_backward::elements(gradient, g))),
        workspace(workspace_bytes) {}
  RandomData<T> dy, x, weights;
  DeviceBuffer<T> result;
  DeviceBuffer<std::byte> workspace;
  double worst_error = 0;
};

// An element of a tensor of outer x channels x rows x columns in one of the layouts.
struct Element {
  std::int64_t outer, channel, row, column;
};
struct Tensor {
  conv2d::Layout layout;
  std::int64_t channels, rows, columns;

  std::int64_t index(const Element& e) const {
    return layout == conv2d::Layout::nhwc
               ? ((e.outer * rows + e.row) * columns + e.column) * channels + e.channel
               : ((e.outer * channels + e.channel) * rows + e.row) * columns + e.column;
  }
  Element at(std::int64_t index) const {
    if (layout == conv2d::Layout::nhwc) {
      const std::int64_t place = index / channels;
      return {place / columns / rows, index % channels, place / columns % rows, place % columns};
    }
    const std::int64_t plane = index / columns / rows;
    return {plane / channels, plane % channels, index / columns % rows, index % columns};
  }
};

struct Sum {
  double value = 0;
  double condition = 0;
  void add(double product) {
    value += product;
    condition += std::fabs(product);
  }
};

// Element `index` of a gradient.
template <class T>
Sum sum_at(const Images<T>& images, Gradient gradient, const Geometry& g, std::int64_t index) {
  const Tensor x{g.layout, g.in_channels, g.height, g.width};
  const Tensor y{g.layout, g.out_channels, g.out_height(), g.out_width()};
  const Tensor filters{g.layout, g.group_inputs(), g.vertical.kernel, g.horizontal.kernel};
  const auto number = [](const RandomData<T>& data, const Tensor& tensor, const Element& e) {
    return static_cast<double>(data.at(tensor.index(e)));
  };
  Sum sum;
  if (gradient == Gradient::input) {
    const Element e = x.at(index);
    const std::int64_t group = e.channel / g.group_inputs();
    for (std::int64_t r = 0; r < filters.rows; ++r)
      for (std::int64_t s = 0; s < filters.columns; ++s) {
        const std::int64_t row = e.row - coordinate(g.vertical, 0, r);
        const std::int64_t column = e.column - coordinate(g.horizontal, 0, s);
        if (row % g.vertical.stride != 0 || column % g.horizontal.stride != 0) continue;
        const Element window{e.outer, 0, row / g.vertical.stride, column / g.horizontal.stride};
        if (window.row < 0 || window.row >= y.rows || window.column < 0 ||
            window.column >= y.columns)
          continue;
        for (std::int64_t o = group * g.group_outputs(); o < (group + 1) * g.group_outputs(); ++o)
          sum.add(number(images.dy, y, {window.outer, o, window.row, window.column}) *
                  number(images.weights, filters, {o, e.channel % g.group_inputs(), r, s}));
      }
    return sum;
  }
  const Element e = gradient == Gradient::weights ? filters.at(index) : Element{index, 0, 0, 0};
  const std::int64_t channel = e.outer / g.group_outputs() * g.group_inputs() + e.channel;
  for (std::int64_t image = 0; image < g.batch; ++image)
    for (std::int64_t i = 0; i < y.rows; ++i)
      for (std::int64_t j = 0; j < y.columns; ++j) {
        const double dy = number(images.dy, y, {image, e.outer, i, j});
        const std::int64_t row = coordinate(g.vertical, i, e.row);
        const std::int64_t column = coordinate(g.horizontal, j, e.column);
        if (gradient == Gradient::bias)
          sum.add(dy);
        else if (row >= 0 && row < x.rows && column >= 0 && column < x.columns)
          sum.add(dy * number(images.x, x, {image, channel, row, column}));
      }
  return sum;
}

// The first and last elements and some between, by the bounds of conv2d_backward_test.cu.
template <class T>
std::string verify(Images<T>& images, Gradient gradient, const Geometry& g, Stream& stream) {
  const std::int64_t products =
      gradient == Gradient::input ? g.group_outputs() * g.taps() : g.batch * g.out_places();
  const std::int64_t most = std::clamp<std::int64_t>((1 << 22) / products, 64, 4096);
  for (const Window window : windows(conv2d_backward::elements(gradient, g), most)) {
    test::ConvolutionOracle right;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
      const Sum sum = sum_at(images, gradient, g, i);
      right.value.push_back(sum.value);
      right.condition.push_back(sum.condition);
    }
    const auto comparison = test::compare(observe(images.result, window, stream),
                                          {dtype_of<T>,
                                           {window.count},
                                           right.value,
                                           test::product_tolerances(dtype_of<T>, products, right)});
    images.worst_error = std::max(images.worst_error, comparison.max_error);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Gradient gradient, const Geometry& g,
                  std::size_t workspace_bytes, Run run) {
  Stream stream;
  auto images = std::make_shared<Images<T>>(gradient, g, workspace_bytes, stream);
  return {[=](Stream& s) { run(*images, s); },
          [=](Stream& s) { images->result.poison(s); },
          [=](Stream& s) { return verify(*images, gradient, g, s); },
          std::move(variant),
          {},
          [=] { return images->worst_error; }};
}

// Not where one launch would take longer than a few milliseconds: on the executor the matrix units,
// which convolutions of 16-bit types are multiplied by; on a GPU a thread's sum over all images.
template <class T>
bool is_timed(Gradient gradient, conv2d_backward::Variant variant, const Geometry& g) {
  using conv2d_backward::Variant;
  if (backend == Backend::host)
    return sizeof(T) == sizeof(float) || variant != Variant::implicit_gemm;
  return variant != Variant::direct || gradient == Gradient::input ||
         g.batch * g.out_places() <= 1 << 16;
}

template <class T>
Case make_case(Gradient gradient, const Geometry& g) {
  Case result{gradient == Gradient::bias ? Kind::memory : Kind::compute,
              conv2d_backward::work(gradient, dtype_of<T>, g),
              {},
              {},
              kProductsInTurns};
  for (const conv2d_backward::Variant variant : conv2d_backward::kVariants) {
    if (!conv2d_backward::supports<T>(gradient, variant, g)) continue;
    // Groups of one channel leave the tiles of a matrix product empty.
    if (g.is_depthwise() && variant == conv2d_backward::Variant::implicit_gemm) continue;
    const std::string name(conv2d_backward::name(variant));
    result.variants.push_back(
        {name, false,
         [=] {
           return workload<T>(
               name, gradient, g, conv2d_backward::workspace_bytes<T>(gradient, g, variant),
               [=](const Images<T>& i, Stream& s) {
                 conv2d_backward::run<T>(gradient,
                                         {g, i.dy.data(), i.x.data(), i.weights.data(),
                                          i.result.data(), i.workspace.data()},
                                         variant, s);
               });
         },
         is_timed<T>(gradient, variant, g)});
  }
  for (const std::string_view variant :
       vendor::conv2d_backward_variants(gradient, dtype_of<T>, g)) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           return workload<T>(name, gradient, g, 0, [=](const Images<T>& i, Stream& s) {
             vendor::conv2d_backward(name,
                                     {gradient, dtype_of<T>, g, i.dy.data(), i.x.data(),
                                      i.weights.data(), i.result.data()},
                                     vendor::Math::fastest, s);
           });
         }});
  }
  return result;
}

} // namespace

Operation conv2d_backward_operation() {
  Operation operation{
      "conv2d_backward", "convolution", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"input_nchw_n1_c16_h16_w16_o8_k3_s2_p1_g1"},
                        {"input_nhwc_n1_c32_h16_w16_o16_k3_s1_p1_g1", true},
                        {"input_nhwc_n1_c128_h8_w16_o128_k3_s1_p1_g128"},
                        {"input_nchw_n1_c16_h24_w32_o16_k3_s1_p1_g16"},
                        {"weights_nhwc_n1_c16_h16_w16_o32_k3_s1_p1_g1", true},
                        {"weights_nchw_n2_c4_h16_w16_o32_k3_s1_p1_g1"},
                        {"weights_nhwc_n1_c12_h16_w16_o32_k3_s1_p1_g1"},
                        {"weights_nhwc_n1_c3_h32_w32_o32_k3_s2_p1_g1"},
                        {"bias_nhwc_n1_c64_h32_w32_o64_k1_s1_p0_g1", true},
                        {"bias_nchw_n1_c64_h32_w32_o64_k1_s1_p0_g1"}};
  else
    operation.shapes = {{"input_nhwc_n32_c64_h56_w56_o64_k3_s1_p1_g1", true},
                        {"input_nhwc_n32_c256_h14_w14_o256_k3_s1_p1_g1"},
                        {"input_nhwc_n32_c128_h56_w56_o128_k3_s2_p1_g1"},
                        {"input_nchw_n32_c64_h56_w56_o64_k3_s1_p1_g1"},
                        {"input_nhwc_n64_c256_h56_w56_o256_k3_s1_p1_g256"},
                        {"weights_nhwc_n32_c64_h56_w56_o64_k3_s1_p1_g1", true},
                        {"weights_nhwc_n32_c256_h14_w14_o256_k3_s1_p1_g1"},
                        {"weights_nchw_n32_c64_h56_w56_o64_k3_s1_p1_g1"},
                        {"weights_nhwc_n32_c12_h112_w112_o64_k3_s1_p1_g1"},
                        {"weights_nhwc_n32_c3_h224_w224_o64_k7_s2_p3_g1"},
                        {"weights_nhwc_n4_c256_h28_w28_o256_k3_s1_p1_g256"},
                        {"bias_nhwc_n256_c256_h56_w56_o256_k1_s1_p0_g1", true},
                        {"bias_nchw_n256_c256_h56_w56_o256_k1_s1_p0_g1"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Gradient gradient = conv2d_backward::kGradients[shape.word({"input", "weights", "bias"})];
    const Geometry g = convolution_of(shape);
    if (dtype == Dtype::f16) return make_case<f16>(gradient, g);
    if (dtype == Dtype::bf16) return make_case<bf16>(gradient, g);
    return make_case<float>(gradient, g);
  };
  return operation;
}

} // namespace kg::perf
