// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The nine convolutions of the study (4 to 8 channels, squares of 32 to 128, kernels of 3 to 7),
// and what networks are made of: 3x3 of many channels, first layers, whose few channels are no
// whole packs, depthwise ones of 3x3 and 7x7, and depthwise-separable ones (conv2d_separable.h).
// All add a bias but those called nobias.
#include "perf/conv2d_case.h"
#include "perf/conv2d_oracle.h"
#include "perf/conv2d_separable.h"
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
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

// With a bias, as layers have it, and without, as it is where a normalisation follows: of two rows
// the one that costs a library a pass more than us, or us than it, then shows by itself.
struct Problem {
  Geometry geometry;
  bool biased;
};

template <class T>
struct Images {
  Images(const Problem& p, std::size_t workspace_bytes, Stream& stream)
      : x(p.geometry.inputs(), test::Tensor::a, stream),
        weights(p.geometry.weights(), test::Tensor::b, stream),
        bias(p.biased ? p.geometry.out_channels : 0, test::Tensor::c, stream), biased(p.biased),
        y(static_cast<std::size_t>(p.geometry.outputs())), workspace(workspace_bytes) {}
  const T* bias_or_null() const { return biased ? bias.data() : nullptr; }

  RandomData<T> x, weights, bias;
  bool biased;
  DeviceBuffer<T> y;
  DeviceBuffer<std::byte> workspace;
  double worst_error = 0;
};

// The first and last elements of y and some between, O(depth) each.
template <class T>
std::string verify(Images<T>& images, const Geometry& g, Stream& stream) {
  constexpr std::int64_t kElements = 4096;
  for (const Window window : windows(g.outputs(), kElements)) {
    std::vector<double> expected, tolerance;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
      const ImagePlace at = image_place(g.layout, g.out_channels, g.out_places(), i);
      const double bias = images.biased ? static_cast<double>(images.bias.at(at.channel)) : 0;
      const Element right = element_of_y(g, images.x, images.weights, bias, at);
      expected.push_back(right.value);
      tolerance.push_back(product_tolerance(dtype_of<T>, g.depth(), right));
    }
    const auto comparison = test::compare(observe(images.y, window, stream),
                                          {dtype_of<T>, {window.count}, expected, tolerance});
    images.worst_error = std::max(images.worst_error, comparison.max_error);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, const Problem& p, std::size_t workspace_bytes, Run run) {
  Stream stream;
  auto images = std::make_shared<Images<T>>(p, workspace_bytes, stream);
  return {[=](Stream& s) { run(*images, s); },
          [=](Stream& s) { images->y.poison(s); },
          [=](Stream& s) { return verify(*images, p.geometry, s); },
          std::move(variant),
          {},
          [=] { return images->worst_error; }};
}

template <class T>
Workload our_workload(conv2d::Variant variant, const Problem& p) {
  const Geometry& g = p.geometry;
  Workload made =
      workload<T>(std::string(conv2d::name(variant)), p, conv2d::workspace_bytes<T>(g, variant),
                  [=](const Images<T>& i, Stream& s) {
                    conv2d::run<T>({g, i.x.data(), i.weights.data(), i.bias_or_null(), i.y.data(),
                                    i.workspace.data()},
                                   variant, s);
                  });
  if (variant == conv2d::Variant::jit)
    made.compile_ns = [ns = 1e3 * conv2d::prepare_jit<T>(g).us] { return ns; };
  return made;
}

// Groups of one channel leave the tiles of a matrix product empty.
template <class T>
bool is_listed(conv2d::Variant variant, const Geometry& g) {
  using conv2d::Variant;
  if (g.is_depthwise()) return variant == Variant::direct || variant == Variant::depthwise;
  return conv2d::supports<T>(variant, g);
}

template <class T>
Case make_case(const Problem& p) {
  const Geometry& g = p.geometry;
  Case result{Kind::compute, conv2d::work(dtype_of<T>, g), {}, {}, kProductsInTurns};
  const auto add = [&](conv2d::Variant variant) {
    if (is_listed<T>(variant, g))
      result.variants.push_back({std::string(conv2d::name(variant)), false,
                                 [=] { return our_workload<T>(variant, p); },
                                 is_timed_conv2d<T>(variant)});
  };
  for (const conv2d::Variant variant : conv2d::kVariants) add(variant);
  add(conv2d::Variant::jit);
  for (const std::string_view variant : vendor::conv2d_variants(dtype_of<T>, g)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(name, p, 0, [=](const Images<T>& i, Stream& s) {
                                   vendor::conv2d(name,
                                                  {dtype_of<T>, p.geometry, i.x.data(),
                                                   i.weights.data(), i.bias_or_null(), i.y.data()},
                                                  vendor::Math::fastest, s);
                                 });
                               }});
  }
  return result;
}

// Beside each convolution of a GPU's list, whose rows all have a bias, the same without.
void add_without_bias(std::vector<ListedShape>& shapes) {
  if (backend == Backend::host) return;
  const std::vector<ListedShape> biased = shapes;
  for (const ListedShape& shape : biased)
    if (!shape.text.starts_with("separable"))
      shapes.push_back({shape.text + "_nobias", shape.fast});
}

template <class T>
Case case_of(const Shape& shape) {
  if (shape.has("separable")) return separable_case<T>(separable_of(shape));
  return make_case<T>({convolution_of(shape), !shape.has("nobias")});
}

} // namespace

Operation conv2d_operation() {
  Operation operation{"conv2d", "convolution", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"nchw_n2_c4_h32_w32_o8_k3_s1_p1_g1", true},
                        {"nchw_n2_c4_h32_w32_o8_k5_s1_p2_g1"},
                        {"nhwc_n1_c16_h16_w16_o32_k3_s1_p1_g1"},
                        {"nchw_n1_c16_h24_w32_o16_k3_s1_p1_g16"},
                        {"nhwc_n1_c128_h8_w16_o128_k3_s1_p1_g128"},
                        {"nhwc_n1_c12_h16_w16_o32_k3_s1_p1_g1"},
                        {"nhwc_n1_c3_h32_w32_o32_k3_s2_p1_g1"},
                        {"separable_nhwc_n1_c32_h14_w14_o64_k3_s1_p1"},
                        {"separable_nchw_n1_c32_h28_w28_o64_k3_s2_p1"}};
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
                        {"nchw_n64_c256_h56_w56_o256_k3_s1_p1_g256"},
                        {"nhwc_n32_c3_h224_w224_o64_k7_s2_p3_g1"},
                        {"nhwc_n32_c12_h112_w112_o64_k3_s1_p1_g1"},
                        {"separable_nhwc_n32_c64_h112_w112_o128_k3_s2_p1"},
                        {"separable_nhwc_n32_c512_h14_w14_o512_k3_s1_p1"},
                        {"separable_nchw_n32_c64_h112_w112_o128_k3_s2_p1"}};
  add_without_bias(operation.shapes);
  operation.make = [](Dtype dtype, const Shape& shape) {
    if (dtype == Dtype::f16) return case_of<f16>(shape);
    if (dtype == Dtype::bf16) return case_of<bf16>(shape);
    return case_of<float>(shape);
  };
  return operation;
}

} // namespace kg::perf
