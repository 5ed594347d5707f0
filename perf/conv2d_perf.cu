// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The nine convolutions of the study (4 to 8 channels, squares of 32 to 128, kernels of 3 to 7),
// and what networks are made of: 3x3 of many channels, and depthwise ones of 3x3 and 7x7.
#include "perf/conv2d_case.h"
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/support/compare.h"
#include "tests/support/oracle.h"
#include "tests/support/strided.h"
#include "tests/support/tolerance.h"
#include "vendor/conv2d/conv2d.h"

#include "conv2d/conv2d.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

using conv2d::Geometry;

template <class T>
struct Images {
  Images(const Geometry& g, std::size_t workspace_bytes, Stream& stream)
      : x(g.inputs(), test::Tensor::a, stream), weights(g.weights(), test::Tensor::b, stream),
        bias(g.out_channels, test::Tensor::c, stream), y(static_cast<std::size_t>(g.outputs())),
        workspace(workspace_bytes) {}
  RandomData<T> x, weights, bias;
  DeviceBuffer<T> y;
  DeviceBuffer<std::byte> workspace;
  double worst_error = 0;
};

// Element `index` of y: the dot product of its window and filter, plus its bias.
template <class T>
test::GemmOracle oracle_at(const Images<T>& images, const Geometry& g, std::int64_t index) {
  const bool last = g.layout == conv2d::Layout::nhwc;
  const std::int64_t channel = (last ? index : index / g.out_places()) % g.out_channels;
  const std::int64_t place = (last ? index / g.out_channels : index) % g.out_places();
  const std::int64_t image = index / (g.out_channels * g.out_places());
  const std::int64_t first = channel / g.group_outputs() * g.group_inputs();
  std::vector<double> x, weights;
  for (std::int64_t c = 0; c < g.group_inputs(); ++c)
    for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
      const std::int64_t row =
          coordinate(g.vertical, place / g.out_width(), tap / g.horizontal.kernel);
      const std::int64_t column =
          coordinate(g.horizontal, place % g.out_width(), tap % g.horizontal.kernel);
      if (row < 0 || row >= g.height || column < 0 || column >= g.width) continue;
      const std::int64_t in_plane = row * g.width + column;
      const std::int64_t plane = g.height * g.width;
      x.push_back(static_cast<double>(
          images.x.at(last ? (image * plane + in_plane) * g.in_channels + first + c
                           : (image * g.in_channels + first + c) * plane + in_plane)));
      weights.push_back(static_cast<double>(
          images.weights.at(last ? (channel * g.taps() + tap) * g.group_inputs() + c
                                 : (channel * g.group_inputs() + c) * g.taps() + tap)));
    }
  const auto products = static_cast<std::int64_t>(x.size());
  const double bias = static_cast<double>(images.bias.at(channel));
  return test::gemm_oracle({test::contiguous({1, products}), test::contiguous({products, 1}),
                            test::contiguous({1, 1}), 1, 1},
                           weights, x, std::vector<double>{bias});
}

// The bound of conv2d_test.cu.
double tolerance_of(Dtype dtype, double expected, std::int64_t depth, double condition) {
  return dtype == Dtype::f32 ? test::gemm_f32_tolerance(depth, condition)
                             : test::gemm_xf16_tolerance(dtype, expected, depth, condition);
}

// The first and last elements of y and some between, O(depth) each.
template <class T>
std::string verify(Images<T>& images, const Geometry& g, Stream& stream) {
  constexpr std::int64_t kElements = 4096;
  for (const Window window : windows(g.outputs(), kElements)) {
    std::vector<double> expected, tolerance;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
      const test::GemmOracle right = oracle_at(images, g, i);
      expected.push_back(right.value[0]);
      tolerance.push_back(tolerance_of(dtype_of<T>, right.value[0], g.depth(), right.condition[0]));
    }
    const auto comparison = test::compare(observe(images.y, window, stream),
                                          {dtype_of<T>, {window.count}, expected, tolerance});
    images.worst_error = std::max(images.worst_error, comparison.max_error);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, const Geometry& g, std::size_t workspace_bytes, Run run) {
  Stream stream;
  auto images = std::make_shared<Images<T>>(g, workspace_bytes, stream);
  return {[=](Stream& s) { run(*images, s); },
          [=](Stream& s) { images->y.poison(s); },
          [=](Stream& s) { return verify(*images, g, s); },
          std::move(variant),
          {},
          [=] { return images->worst_error; }};
}

template <class T>
Workload our_workload(conv2d::Variant variant, const Geometry& g) {
  Workload made =
      workload<T>(std::string(conv2d::name(variant)), g, conv2d::workspace_bytes<T>(g, variant),
                  [=](const Images<T>& i, Stream& s) {
                    conv2d::run<T>({g, i.x.data(), i.weights.data(), i.bias.data(), i.y.data(),
                                    i.workspace.data()},
                                   variant, s);
                  });
  if (variant == conv2d::Variant::jit)
    made.compile_ns = [ns = 1e3 * conv2d::prepare_jit<T>(g).us] { return ns; };
  return made;
}

// Not where one launch would take longer than a few milliseconds: on the executor the matrix units,
// which 16-bit types are multiplied by.
template <class T>
constexpr bool is_timed(conv2d::Variant variant) {
  return backend != Backend::host || sizeof(T) == sizeof(float) ||
         (variant != conv2d::Variant::im2col && variant != conv2d::Variant::implicit_gemm);
}

// Groups of one channel leave the tiles of a matrix product empty.
template <class T>
bool is_listed(conv2d::Variant variant, const Geometry& g) {
  using conv2d::Variant;
  if (g.is_depthwise()) return variant == Variant::direct || variant == Variant::depthwise;
  return conv2d::supports<T>(variant, g);
}

template <class T>
Case make_case(const Geometry& g) {
  Case result{Kind::compute, conv2d::work(dtype_of<T>, g), {}};
  const auto add = [&](conv2d::Variant variant) {
    if (is_listed<T>(variant, g))
      result.variants.push_back({std::string(conv2d::name(variant)), false,
                                 [=] { return our_workload<T>(variant, g); },
                                 is_timed<T>(variant)});
  };
  for (const conv2d::Variant variant : conv2d::kVariants) add(variant);
  add(conv2d::Variant::jit);
  for (const std::string_view variant : vendor::conv2d_variants(dtype_of<T>, g)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(name, g, 0, [=](const Images<T>& i, Stream& s) {
                                   vendor::conv2d(name,
                                                  {dtype_of<T>, g, i.x.data(), i.weights.data(),
                                                   i.bias.data(), i.y.data()},
                                                  vendor::Math::fastest, s);
                                 });
                               }});
  }
  return result;
}

} // namespace

Operation conv2d_operation() {
  Operation operation{"conv2d", "convolution", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"nchw_n2_c4_h32_w32_o8_k3_s1_p1_g1", true},
                        {"nchw_n2_c4_h32_w32_o8_k5_s1_p2_g1"},
                        {"nhwc_n1_c16_h16_w16_o32_k3_s1_p1_g1"},
                        {"nchw_n1_c16_h24_w32_o16_k3_s1_p1_g16"},
                        {"nhwc_n1_c128_h8_w16_o128_k3_s1_p1_g128"}};
  else
    operation.shapes = {{"nchw_n2_c4_h32_w32_o8_k3_s1_p1_g1"},
                        {"nchw_n2_c4_h32_w32_o8_k5_s1_p2_g1"},
                        {"nchw_n2_c4_h32_w32_o8_k7_s1_p3_g1"},
                        {"nchw_n2_c4_h64_w64_o8_k3_s1_p1_g1"},
                        {"nchw_n2_c4_h64_w64_o8_k5_s1_p2_g1"},
                        {"nchw_n2_c4_h64_w64_o8_k7_s1_p3_g1"},
                        {"nchw_n2_c4_h128_w128_o8_k3_s1_p1_g1"},
                        {"nchw_n2_c4_h128_w128_o8_k5_s1_p2_g1"},
                        {"nchw_n2_c4_h128_w128_o8_k7_s1_p3_g1"},
                        {"nhwc_n32_c64_h56_w56_o64_k3_s1_p1_g1", true},
                        {"nhwc_n32_c256_h14_w14_o256_k3_s1_p1_g1"},
                        {"nhwc_n64_c256_h56_w56_o256_k3_s1_p1_g256"},
                        {"nhwc_n32_c192_h56_w56_o192_k7_s1_p3_g192"},
                        {"nchw_n64_c256_h56_w56_o256_k3_s1_p1_g256"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Geometry g = convolution_of(shape);
    if (dtype == Dtype::f16) return make_case<f16>(g);
    if (dtype == Dtype::bf16) return make_case<bf16>(g);
    return make_case<float>(g);
  };
  return operation;
}

} // namespace kg::perf
