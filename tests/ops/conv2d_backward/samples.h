// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test data for conv2d_backward, generated in nchw, and its sizes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ops/conv2d_backward/conv2d_backward.h"
#include "tests/contract/samples.h"
#include "tests/ops/conv2d/convolutions.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card::conv2d_backward_samples {

using conv2d::Geometry;
using conv2d_backward::Gradient;
using test::in_both_layouts;
using test::kThree;

struct Convolution {
  Gradient gradient;
  Geometry geometry;
};
inline ShapeGrammar<Convolution> grammar() {
  return ShapeGrammar<Convolution>()
      .enumerator(&Convolution::gradient,
                  std::array{Gradient::input, Gradient::weights, Gradient::bias})
      .nested(test::geometry_grammar(), &Convolution::geometry);
}
inline std::string shape_of(Gradient gradient, const Geometry& g) {
  return grammar().print({gradient, g});
}
inline std::vector<std::string> of_each(const std::vector<Geometry>& geometries) {
  return in_each_form({"input", "weights", "bias"}, test::texts(geometries));
}

// The number of products summed per element.
inline std::int64_t products_of(Gradient gradient, const Geometry& g) {
  return gradient == Gradient::input ? g.group_outputs() * g.taps() : g.batch * g.out_places();
}

// A sample of one gradient, which reads dy and at most one factor: x or the weights.
inline Sample sample_of(Dtype dtype, std::string fill, Gradient gradient, const Geometry& g,
                        const std::vector<double>& dy, const std::vector<double>& factor) {
  Sample sample{std::move(fill), shape_of(gradient, g)};
  sample.inputs["dy"] = values(dtype, test::y_in_layout(dy, g));
  if (gradient == Gradient::input)
    sample.inputs["weights"] = values(dtype, test::weights_in_layout(factor, g));
  if (gradient == Gradient::weights)
    sample.inputs["x"] = values(dtype, test::x_in_layout(factor, g));
  return sample;
}
inline std::int64_t factors(Gradient gradient, const Geometry& g) {
  return gradient == Gradient::input ? g.weights() : g.inputs();
}

// For the input's gradient, the weights are A of an exact product, one row per input channel, and
// dy takes numbers of its B, whichever windows share them. For the other gradients, dy is A, one
// row per output channel, and x takes numbers of B.
inline Sample exact_product(Dtype dtype, Gradient gradient, const Geometry& g,
                            test::ProductRange range) {
  const bool of_input = gradient == Gradient::input;
  const std::int64_t rows = of_input ? g.in_channels : g.out_channels;
  const std::int64_t products = products_of(gradient, g);
  const std::int64_t numbers = of_input ? g.outputs() : g.inputs();
  test::FillPair pair =
      test::exact_product(dtype, dtype, range, {rows, numbers / products + 1, products}, 0);
  pair.b.resize(static_cast<std::size_t>(numbers));
  // Rows of A are contiguous; in nchw and oihw they are the second axis.
  std::vector<double> a;
  const auto add = [&](std::int64_t first, std::int64_t outer, std::int64_t middle,
                       std::int64_t inner) {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t m = 0; m < middle; ++m)
        for (std::int64_t i = 0; i < inner; ++i)
          a.push_back(pair.a[static_cast<std::size_t>(first + (m * outer + o) * inner + i)]);
  };
  if (!of_input) {
    add(0, g.batch, g.out_channels, g.out_places());
    return sample_of(dtype, pair.name, gradient, g, a, pair.b);
  }
  for (std::int64_t group = 0; group < g.groups; ++group)
    add(group * g.group_inputs() * products, g.group_outputs(), g.group_inputs(), g.taps());
  return sample_of(dtype, pair.name, gradient, g, pair.b, a);
}

// Group channels, or base addresses, without whole 16-byte accesses: for f16 and bf16 with 4, 2 and
// 1 elements, equal and different in x and dy; around the tiles.
inline std::vector<Geometry> narrow_accesses() {
  return in_both_layouts({{2, 12, 5, 9, 20, kThree, kThree},
                          {1, 20, 4, 9, 16, kThree, kThree},
                          {1, 10, 5, 8, 132, {.kernel = 2, .stride = 2}, kThree},
                          {1, 16, 5, 7, 12, {}, kThree},
                          {1, 16, 5, 7, 130, {}, {}},
                          {3, 8, 3, 12, 11, {}, kThree},
                          {1, 12, 5, 7, 20, kThree, {}, 2},
                          {1, 3, 12, 11, 24, {.kernel = 7}, kThree}});
}

// The weights' gradient for whole packs of channels in nhwc, with tiles of 128 by 128 and of 64 by
// 256: more channels than a tile, more positions than a window table or a part, strided windows,
// and groups.
inline void add_packs(std::vector<Sample>& samples, Dtype dtype) {
  constexpr auto kLast = conv2d::Layout::nhwc;
  const conv2d::Axis dilated{
      .kernel = 3, .stride = 2, .pad_before = 2, .pad_after = 1, .dilation = 2};
  for (const Geometry& g : {Geometry{3, 32, 10, 11, 72, kThree, kThree, 1, kLast},
                            Geometry{2, 48, 9, 22, 80, dilated, kThree, 2, kLast},
                            Geometry{1, 8, 26, 27, 16, kThree, kThree, 1, kLast},
                            Geometry{3, 8, 10, 11, 128, kThree, dilated, 1, kLast},
                            Geometry{2, 136, 11, 13, 248, {}, {}, 1, kLast}})
    samples.push_back(exact_product(dtype, Gradient::weights, g, test::ProductRange::r1));
}

// Subnormal numbers times 1, 0 and -1, with sums that stay subnormal and therefore exact: reveals a
// flush to zero of a factor, a product, a part or a sum.
inline void add_subnormals(std::vector<Sample>& samples, Dtype dtype) {
  constexpr std::int64_t kMostProducts = 127;
  const double least = test::min_subnormal(dtype);
  const auto normals = static_cast<std::int64_t>(0.5 / unit_roundoff(dtype)); // times least
  const auto ones = [&](std::int64_t count, test::Tensor tensor) {
    return test::integers(dtype, count, 1, tensor).values;
  };
  const auto subnormal = [&](std::int64_t count, test::Tensor tensor) {
    std::vector<double> numbers =
        test::integers(dtype, count, normals / (kMostProducts + 1), tensor).values;
    for (double& number : numbers) number *= least;
    return numbers;
  };
  for (const Geometry& g : in_both_layouts({{2, 16, 4, 6, 8, kThree, kThree},
                                            {1, 16, 5, 8, 64, {}, {}},
                                            {2, 8, 5, 8, 8, kThree, kThree, 8},
                                            {1, 8, 5, 6, 16, kThree, {.kernel = 2}, 4}}))
    for (const Gradient gradient : conv2d_backward::kGradients) {
      samples.push_back(sample_of(dtype, "subnormal dy", gradient, g,
                                  subnormal(g.outputs(), test::Tensor::a),
                                  ones(factors(gradient, g), test::Tensor::b)));
      if (gradient == Gradient::bias) continue;
      samples.push_back(sample_of(dtype, "subnormal factors", gradient, g,
                                  ones(g.outputs(), test::Tensor::a),
                                  subnormal(factors(gradient, g), test::Tensor::b)));
    }
}

// Also sums over so many positions that all variants for the weights add partial sums: reveals
// partial sums that are rounded to f16 or bf16.
inline std::vector<Sample> exact_samples(Dtype dtype) {
  using enum test::ProductRange;
  std::vector<Sample> samples;
  std::vector<Geometry> all = test::convolutions();
  for (const Geometry& g : in_both_layouts({{3, 8, 5, 40, 16, {}, {}}})) all.push_back(g);
  for (const Gradient gradient : conv2d_backward::kGradients) {
    for (const Geometry& g : all)
      for (const auto range : {r1, r1w_a, r1w_b})
        samples.push_back(exact_product(dtype, gradient, g, range));
    for (const Geometry& g : narrow_accesses())
      samples.push_back(exact_product(dtype, gradient, g, r1));
  }
  if (dtype != Dtype::f32) add_packs(samples, dtype);
  add_subnormals(samples, dtype);
  return samples;
}

inline std::vector<Sample> normals() {
  std::vector<Sample> samples;
  for (const std::string& shape : of_each(test::convolutions()))
    samples.push_back({"normal", shape});
  return samples;
}

// NaN and infinities reach the gradients that depend on them. Positive factors: an infinity only
// meets zeros of the padding.
inline std::vector<Sample> special_samples(Dtype dtype) {
  const auto normal = [&](std::int64_t count, test::Tensor tensor) {
    return test::normal(dtype, count, tensor).values;
  };
  std::vector<Sample> samples;
  for (const Geometry& g : in_both_layouts({{2, 4, 6, 7, 9, kThree, {}},
                                            {2, 8, 5, 6, 16, {.kernel = 3}, {.stride = 2}, 2},
                                            {2, 8, 5, 6, 8, {.kernel = 3}, {.kernel = 2}, 8}})) {
    Geometry inside = g;
    inside.vertical.pad_before = inside.vertical.pad_after = 0;
    for (const Gradient gradient : conv2d_backward::kGradients) {
      const auto positive =
          test::positive(dtype, factors(gradient, inside), test::Tensor::b).values;
      for (const double special : {kNan, kInfinity, -kInfinity}) {
        std::vector<double> dy = normal(inside.outputs(), test::Tensor::a);
        const std::size_t middle = dy.size() / 2;
        dy[middle] = special;
        samples.push_back(sample_of(dtype, "special dy", gradient, inside, dy, positive));
        dy[middle + 1] = -special;
        samples.push_back(
            sample_of(dtype, "special dy, of both signs", gradient, inside, dy, positive));
      }
    }
    std::vector<double> x = normal(g.inputs(), test::Tensor::b);
    x[x.size() / 2] = kNan;
    samples.push_back(sample_of(dtype, "NaN in x", Gradient::weights, g,
                                normal(g.outputs(), test::Tensor::a), x));
  }
  for (const Geometry& g : in_both_layouts({{2, 4, 3, 5, 8, {}, {}}, {1, 8, 3, 4, 8, {}, {}, 8}})) {
    std::vector<double> weights = normal(g.weights(), test::Tensor::b);
    weights[weights.size() / 2] = kNan;
    samples.push_back(sample_of(dtype, "NaN in the weights", Gradient::input, g,
                                normal(g.outputs(), test::Tensor::a), weights));
  }
  return samples;
}

// Around tiles of 64 output channels and 64 filter elements (f16 and bf16: 128), slices of 16
// positions (32), parts of 256 (512), slices with positions of several images, parts of the bias,
// and phases without taps or without elements.
inline std::vector<std::string> sizes(Dtype) {
  const conv2d::Axis by_three{.kernel = 2, .stride = 3, .pad_before = 2, .dilation = 2};
  const conv2d::Axis wide{.kernel = 3, .stride = 2, .pad_before = 3, .pad_after = 4};
  return of_each(in_both_layouts({{1, 4, 8, 8, 64, {}, {}},
                                  {3, 5, 5, 5, 65, {}, {}},
                                  {1, 7, 3, 5, 9, kThree, kThree},
                                  {1, 33, 1, 15, 2, {}, {.kernel = 2}},
                                  {5, 2, 7, 17, 3, {}, kThree},
                                  {1, 3, 2, 257, 8, {}, {}},
                                  {1, 1, 2, 4200, 1, {}, {}},
                                  {1, 136, 2, 8, 136, {}, {}},
                                  {1, 9, 3, 5, 129, {}, {}},
                                  {1, 8, 7, 8, 8, by_three, {.kernel = 3, .stride = 2}},
                                  {2, 4, 4, 1, 8, wide, {.stride = 2}}}));
}

} // namespace kg::card::conv2d_backward_samples
