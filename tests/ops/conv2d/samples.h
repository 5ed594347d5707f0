// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test data for conv2d, generated in nchw, and its sizes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/conv2d/convolutions.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card::conv2d_samples {

using conv2d::Geometry;
using test::in_both_layouts;
using test::kThree;

inline Inputs inputs_of(Dtype dtype, const Geometry& g, const std::vector<double>& x,
                        const std::vector<double>& weights, const std::vector<double>& bias) {
  Inputs inputs = {{"x", values(dtype, test::x_in_layout(x, g))},
                   {"weights", values(dtype, test::weights_in_layout(weights, g))}};
  if (!bias.empty()) inputs["bias"] = values(dtype, bias);
  return inputs;
}

inline std::vector<double> x_of(Dtype dtype, const Geometry& g) {
  return test::normal(dtype, g.inputs(), test::Tensor::a).values;
}
inline std::vector<double> bias_of(Dtype dtype, const Geometry& g) {
  return test::normal(dtype, g.out_channels, test::Tensor::c).values;
}

// The weights are A of an exact product, and x takes numbers of its B, whichever windows share
// them. Every sum uses at most half of the exact range; the bias stays well inside the other half.
inline Sample exact_product(Dtype dtype, const Geometry& g, test::ProductRange range) {
  const std::int64_t most_bias = dtype == Dtype::bf16 ? 250 : 1000; // that the type represents
  const std::int64_t columns = g.inputs() / g.depth() + 1;
  test::FillPair pair = test::exact_product(
      dtype, dtype, range, {g.out_channels, columns, g.depth()}, test::exact_limit(dtype) / 2);
  pair.b.resize(static_cast<std::size_t>(g.inputs()));
  return {pair.name, test::text(g),
          inputs_of(dtype, g, pair.b, pair.a,
                    test::integers(dtype, g.out_channels, most_bias, test::Tensor::c).values)};
}

// Group channels without whole 16-byte accesses: for f16 and bf16 with 4, 2 and 1 elements, around
// the tiles. Then filters of every length modulo 8, so that their alignments all differ, in whole
// tiles.
inline std::vector<Geometry> narrow_accesses() {
  return in_both_layouts({{2, 12, 7, 9, 20, kThree, kThree},
                          {1, 20, 5, 7, 132, kThree, {.kernel = 2}},
                          {3, 10, 6, 8, 24, {.kernel = 2, .stride = 2}, kThree},
                          {1, 12, 5, 26, 16, kThree, {}, 2},
                          {1, 7, 12, 11, 130, {}, kThree},
                          {1, 5, 4, 9, 130, {}, {}},
                          {1, 10, 4, 9, 130, {}, {}},
                          {1, 19, 4, 9, 66, {}, {}},
                          {1, 20, 4, 9, 66, {}, {}},
                          {1, 3, 4, 9, 66, {}, kThree},
                          {1, 10, 4, 9, 66, {}, kThree},
                          {1, 13, 4, 9, 66, {}, kThree}});
}

// Each kind of tile for 16-bit types in nhwc, at its edges: more positions and channels than one
// tile has, slices over several taps, slices that end within a tap, groups, and group outputs that
// are not whole packs.
inline void add_tiles(std::vector<Sample>& samples, Dtype dtype) {
  constexpr auto kLast = conv2d::Layout::nhwc;
  const conv2d::Axis dilated{
      .kernel = 3, .stride = 2, .pad_before = 2, .pad_after = 1, .dilation = 2};
  for (const auto& [tile, channels] :
       {std::pair{"_narrow", 64}, std::pair{"", 128}, std::pair{"_wide", 256}})
    for (const Geometry& g : {Geometry{1, 8, 5, 53, channels + 8, kThree, kThree, 1, kLast},
                              Geometry{2, 48, 9, 11, channels + 16, dilated, kThree, 2, kLast},
                              Geometry{1, 40, 3, 5, channels - 1, {}, kThree, 1, kLast}}) {
      samples.push_back(exact_product(dtype, g, test::ProductRange::r1));
      samples.back().shape += tile;
    }
}

// Subnormal numbers times 1, 0 and -1, with sums that stay subnormal and therefore exact: reveals a
// flush to zero of a factor, the bias, a product or a sum.
inline void add_subnormals(std::vector<Sample>& samples, Dtype dtype) {
  constexpr std::int64_t kMostProducts = 72;
  const double least = test::min_subnormal(dtype);
  const auto normals = static_cast<std::int64_t>(0.5 / unit_roundoff(dtype)); // times least
  const auto subnormal = [&](std::int64_t count, test::Tensor tensor) {
    std::vector<double> numbers =
        test::integers(dtype, count, normals / (kMostProducts + 1), tensor).values;
    for (double& number : numbers) number *= least;
    return numbers;
  };
  const auto ones = [&](std::int64_t count, test::Tensor tensor) {
    return test::integers(dtype, count, 1, tensor).values;
  };
  for (const Geometry& g : in_both_layouts({{1, 8, 4, 6, 16, kThree, kThree},
                                            {2, 64, 3, 5, 64, {}, {}},
                                            {1, 8, 5, 6, 8, kThree, kThree, 8},
                                            {1, 8, 4, 6, 16, kThree, {.kernel = 2}, 4}})) {
    const std::vector<double> bias = subnormal(g.out_channels, test::Tensor::c);
    samples.push_back({"subnormal x", test::text(g),
                       inputs_of(dtype, g, subnormal(g.inputs(), test::Tensor::a),
                                 ones(g.weights(), test::Tensor::b), bias)});
    samples.push_back({"subnormal weights", test::text(g),
                       inputs_of(dtype, g, ones(g.inputs(), test::Tensor::a),
                                 subnormal(g.weights(), test::Tensor::b), bias)});
  }
}

// A kernel with 1 in its center and 0 elsewhere reproduces every bit of x.
inline void add_identities(std::vector<Sample>& samples, Dtype dtype) {
  for (const Geometry& g :
       in_both_layouts({{2, 9, 5, 8, 9, kThree, kThree}, {2, 9, 5, 8, 9, kThree, kThree, 9}})) {
    const std::vector<double> x = x_of(dtype, g);
    std::vector<double> weights(static_cast<std::size_t>(g.weights()));
    for (std::int64_t o = 0; o < g.out_channels; ++o)
      weights[static_cast<std::size_t>((o * g.group_inputs() + o % g.group_inputs()) * 9 + 4)] = 1;
    samples.push_back({"identity", test::text(g), inputs_of(dtype, g, x, weights, {})});
    samples.back().expected["y"] = test::x_in_layout(x, g);
    samples.back().without = {"bias"};
  }
}

// Small enough for the intermediate result to be exact in any type.
inline constexpr const char* kSeparable[] = {"separable_nhwc_n2_c8_h6_w7_o16_k3_s1_p1",
                                             "separable_nchw_n2_c8_h6_w7_o16_k3_s1_p1"};

inline std::vector<Sample> exact_samples(Dtype dtype) {
  using enum test::ProductRange;
  std::vector<Sample> samples;
  for (const Geometry& g : test::convolutions())
    for (const auto range : {r1, r1w_a, r1w_b}) samples.push_back(exact_product(dtype, g, range));
  for (const Geometry& g : narrow_accesses()) samples.push_back(exact_product(dtype, g, r1));
  if (dtype != Dtype::f32) add_tiles(samples, dtype);
  add_subnormals(samples, dtype);
  add_identities(samples, dtype);
  for (const std::string shape : kSeparable) {
    const auto small = [&](std::int64_t count, test::Tensor tensor) {
      return values(dtype, test::integers(dtype, count, 2, tensor).values);
    };
    samples.push_back({"integers",
                       shape,
                       {{"x", small(2 * 8 * 6 * 7, test::Tensor::a)},
                        {"weights", small(8 * 9, test::Tensor::b)},
                        {"mixing", small(16 * 8, test::Tensor::c)}}});
  }
  return samples;
}

inline std::vector<Sample> random_of(const std::vector<std::string>& shapes) {
  std::vector<Sample> samples;
  for (const std::string& shape : shapes) samples.push_back({"normal", shape});
  return samples;
}

// Shapes of MobileNet layers, but smaller: stride 1 and 2, with more output channels.
inline std::vector<std::string> separables() {
  std::vector<std::string> shapes;
  for (const std::string layout : {"nchw", "nhwc"})
    for (const std::string shape : {"_n1_c32_h7_w7_o64_k3_s1_p1", "_n2_c24_h9_w8_o48_k3_s2_p1",
                                    "_n1_c20_h10_w9_o40_k5_s2_p2"})
      shapes.push_back("separable_" + layout + shape);
  return shapes;
}

inline std::vector<Sample> vendor_samples(Dtype) {
  std::vector<Sample> samples = random_of(test::texts(test::convolutions()));
  for (Sample& sample : random_of(separables())) samples.push_back(std::move(sample));
  return samples;
}

inline std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples = vendor_samples(dtype);
  for (const std::string& shape :
       test::texts(in_both_layouts({{2, 8, 6, 7, 24, kThree, kThree},
                                    {1, 5, 4, 5, 3},
                                    {1, 8, 4, 5, 8, kThree, kThree, 8}}))) {
    samples.push_back({"normal", shape});
    samples.back().without = {"bias"};
  }
  return samples;
}

// NaN and infinities in x reach exactly the outputs whose windows contain them; in the weights, the
// outputs of their channel. Positive data: an infinity only meets zeros of the padding.
inline std::vector<Sample> special_samples(Dtype dtype) {
  const auto positive = [&](std::int64_t count, test::Tensor tensor) {
    return test::positive(dtype, count, tensor).values;
  };
  std::vector<Sample> samples;
  for (const Geometry& g : in_both_layouts({{2, 4, 7, 9, 18, kThree, kThree},
                                            {2, 8, 5, 6, 16, kThree, {}, 2},
                                            {2, 8, 5, 6, 8, kThree, kThree, 8},
                                            test::compiled_geometry()})) {
    const std::vector<double> bias = bias_of(dtype, g);
    std::vector<double> weights = positive(g.weights(), test::Tensor::b);
    for (const double special : {kNan, kInfinity, -kInfinity})
      for (const bool both_signs : {false, true}) {
        std::vector<double> x = x_of(dtype, g);
        const auto middle = static_cast<std::size_t>(g.inputs() / 2 + g.width);
        x[middle] = special;
        // In nhwc the last rows, where taps after the last one of earlier windows would be.
        for (std::size_t i = x.size() - x.size() * 2 / 7; i < x.size(); ++i) x[i] = special;
        if (both_signs) x[middle + 1] = -special;
        samples.push_back({"special", test::text(g), inputs_of(dtype, g, x, weights, bias)});
      }
    weights[static_cast<std::size_t>(g.weights() - g.depth() / 2 - 1)] = kNan;
    Geometry inside = g;
    inside.vertical = {.kernel = g.vertical.kernel};
    inside.horizontal = {.kernel = g.horizontal.kernel};
    samples.push_back(
        {"NaN in the weights", test::text(inside),
         inputs_of(dtype, inside, positive(g.inputs(), test::Tensor::a), weights, bias)});
  }
  for (const std::string shape : kSeparable) {
    std::vector<double> x = test::normal(dtype, 2 * 8 * 6 * 7, test::Tensor::a).values;
    x[x.size() / 2 + 7] = kNan;
    samples.push_back({"special", shape, {{"x", values(dtype, x)}}});
  }
  return samples;
}

// Around tiles of 64 positions and 64 channels (f16 and bf16: 128), slices of 16 and 32, a block of
// columns, and tiles with positions of several images.
inline std::vector<std::string> sizes(Dtype) {
  return test::texts(in_both_layouts({{1, 4, 8, 8, 64, kThree, kThree},
                                      {3, 5, 5, 5, 65, {}, {}},
                                      {3, 16, 5, 5, 63, {.kernel = 2}, {.kernel = 2}},
                                      {1, 1, 1, 65, 1, {}, {.kernel = 3}},
                                      {2, 3, 9, 15, 129, {.kernel = 2}, {}},
                                      {1, 17, 1, 130, 4, {}, {.kernel = 2}},
                                      {1, 40, 2, 2, 70, {.kernel = 2}, {.kernel = 2}},
                                      {1, 130, 3, 5, 130, {}, {}, 2},
                                      {1, 40, 3, 43, 129, {}, {}}}));
}

// One for each path of each variant.
inline std::vector<std::string> usual(Dtype) {
  std::vector<std::string> shapes = test::texts(in_both_layouts({{2, 8, 6, 7, 24, kThree, kThree},
                                                                 {2, 8, 6, 7, 8, kThree, kThree, 8},
                                                                 test::compiled_geometry()}));
  for (const char* const shape : kSeparable) shapes.emplace_back(shape);
  return shapes;
}

// Numbers of images, for each variant.
inline std::vector<std::string> batches(Dtype) {
  std::string of_jit = test::text(test::compiled_geometry());
  of_jit.replace(of_jit.find("_n2_"), 4, "_n*_");
  return {of_jit,
          "nchw_n*_c8_h6_w7_o24_k3_s1_p1_g1",
          "nhwc_n*_c8_h6_w7_o24_k3_s1_p1_g1",
          "nchw_n*_c8_h6_w7_o8_k3_s1_p1_g8",
          "nhwc_n*_c8_h6_w7_o8_k3_s1_p1_g8",
          "separable_nhwc_n*_c8_h6_w7_o16_k3_s1_p1"};
}

inline std::vector<TimedShape> timed_on_host() {
  return {
      {"nchw_n2_c4_h32_w32_o8_k3_s1_p1_g1", true},   {"nchw_n2_c4_h32_w32_o8_k5_s1_p2_g1"},
      {"nhwc_n1_c16_h16_w16_o32_k3_s1_p1_g1"},       {"nchw_n1_c16_h24_w32_o16_k3_s1_p1_g16"},
      {"nhwc_n1_c128_h8_w16_o128_k3_s1_p1_g128"},    {"nhwc_n1_c12_h16_w16_o32_k3_s1_p1_g1"},
      {"nhwc_n1_c3_h32_w32_o32_k3_s2_p1_g1"},        {"nhwc_n1_c32_h8_w16_o128_k3_s1_p1_g1"},
      {"nhwc_n1_c32_h8_w16_o256_k3_s1_p1_g1_wide"},  {"separable_nhwc_n1_c32_h14_w14_o64_k3_s1_p1"},
      {"separable_nchw_n1_c32_h28_w28_o64_k3_s2_p1"}};
}

// A GPU's list has each convolution with a bias, as in layers, and without, as before a
// normalization. If either costs the library, or our kernel, an extra pass, the comparison of both
// rows shows it.
inline std::vector<TimedShape> without_bias(std::vector<TimedShape> shapes) {
  for (TimedShape& shape : shapes) shape.shape += "_nobias";
  return shapes;
}

// The nine convolutions of the study (4 to 8 channels, squares of 32 to 128, kernels of 3 to 7),
// and typical network layers: 3x3 with many channels, first layers, whose few channels are not
// whole packs, depthwise 3x3 and 7x7, and depthwise-separable ones.
inline std::vector<TimedShape> timed_on_gpu() {
  std::vector<TimedShape> shapes = {
      {"nchw_n2_c4_h32_w32_o8_k3_s1_p1_g1"},        {"nchw_n2_c4_h32_w32_o8_k5_s1_p2_g1"},
      {"nchw_n2_c4_h32_w32_o8_k7_s1_p3_g1"},        {"nchw_n2_c4_h64_w64_o8_k3_s1_p1_g1"},
      {"nchw_n2_c4_h64_w64_o8_k5_s1_p2_g1"},        {"nchw_n2_c4_h64_w64_o8_k7_s1_p3_g1"},
      {"nchw_n2_c4_h128_w128_o8_k3_s1_p1_g1"},      {"nchw_n2_c4_h128_w128_o8_k5_s1_p2_g1"},
      {"nchw_n2_c4_h128_w128_o8_k7_s1_p3_g1"},      {"nhwc_n32_c64_h56_w56_o64_k3_s1_p1_g1", true},
      {"nhwc_n32_c256_h14_w14_o256_k3_s1_p1_g1"},   {"nhwc_n32_c256_h56_w56_o256_k3_s1_p1_g1"},
      {"nhwc_n64_c256_h56_w56_o256_k3_s1_p1_g256"}, {"nhwc_n32_c192_h56_w56_o192_k7_s1_p3_g192"},
      {"nchw_n64_c256_h56_w56_o256_k3_s1_p1_g256"}, {"nhwc_n32_c3_h224_w224_o64_k7_s2_p3_g1"},
      {"nhwc_n32_c12_h112_w112_o64_k3_s1_p1_g1"}};
  const std::vector<TimedShape> bare = without_bias(shapes);
  shapes.insert(shapes.end(), {{"separable_nhwc_n32_c64_h112_w112_o128_k3_s2_p1"},
                               {"separable_nhwc_n32_c512_h14_w14_o512_k3_s1_p1"},
                               {"separable_nchw_n32_c64_h112_w112_o128_k3_s2_p1"}});
  shapes.insert(shapes.end(), bare.begin(), bare.end());
  return shapes;
}

} // namespace kg::card::conv2d_samples
