// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test data of batchnorm's card.
#pragma once

#include <bit>
#include <cmath>

#include "tests/ops/batchnorm/images.h"

namespace kg::card::batchnorm_samples {

using images::Images;
using images::in_layouts;

inline std::string shape_of(const char* mode, const Images& p) {
  return std::string(mode) + "_" + test::text(p);
}

// `x` is channel by channel. The statistics of its channels may all be equal.
inline Sample sample(Dtype dtype, const std::string& fill, const char* mode, const Images& p,
                     const std::vector<double>& x) {
  return {.fill = fill,
          .shape = shape_of(mode, p),
          .inputs = {{"x", images::in_layout(dtype, x, p)}},
          .vacuous_outputs = {"mean", "rstd", "running_mean", "running_variance"}};
}

// One f32 per channel.
template <class Value>
test::Observed each_channel(const Images& p, Value value) {
  std::vector<double> all;
  for (std::int64_t c = 0; c < p.channels; ++c) all.push_back(static_cast<float>(value(c)));
  return values(Dtype::f32, std::move(all));
}
inline double whole_gamma(std::int64_t c) { return static_cast<double>(c * 17 % 60) + 1; }
inline double whole_beta(std::int64_t c) { return static_cast<double>(c * 29 % 61) - 30; }
inline double whole_mean(std::int64_t c) { return static_cast<double>(c * 23 % 81) - 40; }

// As many m + d as m - d, in Thue-Morse order: neighbors, and rows any power of two apart, have
// opposite signs. Whatever a thread combines has exactly mean m and deviation d, and the result is
// beta +- gamma. Planes are even; in nhwc the numbers of rows are multiples of 512.
inline void add_pairs(std::vector<Sample>& samples, Dtype dtype) {
  for (const Images& p : in_layouts({{2, 3, 64}, {3, 5, 6}, {1, 2, 8200}, {64, 40, 8}},
                                    {{8, 8, 64}, {2, 3, 512}, {16, 40, 32}})) {
    std::vector<double> x, expected;
    for (std::int64_t c = 0; c < p.channels; ++c)
      for (std::int64_t i = 0; i < p.per_channel(); ++i) {
        const double sign = std::popcount(static_cast<std::uint64_t>(i)) % 2 ? -1 : 1;
        x.push_back(whole_mean(c) + sign * std::ldexp(1.0, static_cast<int>(c % 4)));
        expected.push_back(sign * whole_gamma(c) + whole_beta(c));
      }
    Sample pairs = sample(dtype, "m + d and m - d", "train", p, x);
    pairs.inputs["gamma"] = each_channel(p, whole_gamma);
    pairs.inputs["beta"] = each_channel(p, whole_beta);
    pairs.scalars["epsilon"] = 0;
    pairs.expected["y"] = test::in_layout(expected, p);
    samples.push_back(std::move(pairs));
  }
}

// Integers with variances that are powers of 4: only the final store rounds.
inline void add_integers(std::vector<Sample>& samples, Dtype dtype) {
  for (const Images& p :
       in_layouts({{2, 3, 64}, {5, 4, 7}, {1, 3, 2100}}, {{3, 8, 50}, {70, 7, 3}, {3, 96, 7}})) {
    Sample integers = sample(dtype, "integers", "infer", p,
                             test::integers(dtype, p.elements(), 64, test::Tensor::a).values);
    integers.inputs["gamma"] = each_channel(p, whole_gamma);
    integers.inputs["beta"] = each_channel(p, whole_beta);
    integers.inputs["running_mean"] = each_channel(p, whole_mean);
    integers.inputs["running_variance"] = each_channel(
        p, [](std::int64_t c) { return std::ldexp(1.0, 2 * static_cast<int>(c % 3)); });
    integers.scalars["epsilon"] = 0;
    samples.push_back(std::move(integers));
  }
}

// An x whose y is beta.
inline Sample gives_beta(Dtype dtype, const std::string& fill, const Images& p,
                         const std::vector<double>& x) {
  Sample result = sample(dtype, fill, "train", p, x);
  const std::vector<double> beta = test::normal(Dtype::f32, p.channels, test::Tensor::c).values;
  std::vector<double> y;
  for (std::int64_t i = 0; i < p.elements(); ++i)
    y.push_back(test::round_to(dtype, beta[static_cast<std::size_t>(i / p.per_channel())]));
  result.expected["y"] = test::in_layout(y, p);
  result.inputs["beta"] = values(Dtype::f32, beta);
  return result;
}

// Channels of equal elements, and of one element, if epsilon is not 0. Means so far apart that the
// square of their distance overflows f32, so rstd is 0.
inline std::vector<Sample> exact(Dtype dtype) {
  std::vector<Sample> samples;
  add_pairs(samples, dtype);
  add_integers(samples, dtype);
  for (const Images& p :
       in_layouts({{3, 5, 49}, {1, 9, 1}, {1, 3, 8200}, {32, 16, 17}}, {{3, 16, 49}, {1, 9, 1}})) {
    std::vector<double> x;
    for (std::int64_t i = 0; i < p.elements(); ++i)
      x.push_back(static_cast<double>(i / p.per_channel() * 3 - 5));
    samples.push_back(gives_beta(dtype, "equal elements", p, x));
    Sample undefined = sample(dtype, "equal elements, epsilon 0", "train", p, x);
    undefined.scalars["epsilon"] = 0;
    undefined.expected["y"] = std::vector<double>(x.size(), kNan);
    undefined.may_be_vacuous = true;
    samples.push_back(std::move(undefined));
  }
  if (dtype == Dtype::f16) return samples; // f16 has no number this large
  for (const Images& p : in_layouts({{3, 3, 50}}, {{10, 8, 8}})) {
    std::vector<double> x;
    for (std::int64_t i = 0; i < p.elements(); ++i) x.push_back(i % 2 ? 0x1p70 : -0x1p70);
    samples.push_back(gives_beta(dtype, "2^70", p, x));
    samples.back().expected["rstd"] = std::vector<double>(static_cast<std::size_t>(p.channels));
    samples.back().without = {"running_mean", "running_variance"};
  }
  return samples;
}

// Without the optional tensors, and with other momentums.
inline void add_options(std::vector<Sample>& samples) {
  const std::string running_mean = "running_mean", running_variance = "running_variance";
  for (const std::string& images : images::shapes_of(in_layouts({{3, 3, 50}}, {{5, 16, 9}}))) {
    for (const double momentum : {0.0F, 0.1F, 1.0F})
      samples.push_back(
          {.fill = "momentum", .shape = "train_" + images, .scalars = {{"momentum", momentum}}});
    for (const std::string mode : {"train_", "infer_"})
      for (const std::vector<std::string>& without :
           {std::vector<std::string>{"gamma"}, {"gamma", "beta"}, {"beta"}})
        samples.push_back({.fill = "without", .shape = mode + images, .without = without});
    samples.push_back({.fill = "no running statistics",
                       .shape = "train_" + images,
                       .without = {running_mean, running_variance}});
  }
}

// Magnitudes up to 2^40 (f16: 2^12), with significant and insignificant epsilons.
inline void add_scales(std::vector<Sample>& samples, Dtype dtype) {
  const bool narrow = dtype == Dtype::f16;
  for (const Images& p : in_layouts({{2, 3, 70}}, {{5, 8, 28}}))
    for (const double epsilon : {0.0F, 1e-12F, 2.0F})
      for (const int exponent : {narrow ? -6 : -30, narrow ? 12 : 40}) {
        // Skip results that epsilon makes too small for a 16-bit type.
        if (narrow && epsilon > 1 && exponent < 0) continue;
        std::vector<double> x = test::normal(dtype, p.elements(), test::Tensor::a).values;
        for (double& value : x) value = test::round_to(dtype, std::ldexp(value, exponent));
        samples.push_back(sample(dtype, "scaled", "train", p, x));
        samples.back().scalars["epsilon"] = epsilon;
      }
}

// A mean of 10,000 deviations (16-bit types: as many as their significand allows): for these,
// E[x^2] - mean^2 loses the variance.
inline void add_far_from_zero(std::vector<Sample>& samples, Dtype dtype) {
  const double most = dtype == Dtype::f32 ? 10000 : 1000;
  const double width = dtype == Dtype::bf16 ? 8 : 1;
  for (const Images& p :
       in_layouts({{2, 3, 530}, {1, 1, 9001}, {34, 8, 49}}, {{5, 8, 230}, {3, 9, 201}})) {
    std::vector<double> x;
    for (const double value : test::normal(Dtype::f32, p.elements(), test::Tensor::a).values)
      x.push_back(test::round_to(dtype, most + width * value));
    for (const char* const mode : {"train", "infer"})
      samples.push_back(sample(dtype, "far from zero", mode, p, x));
    samples.back().inputs["running_mean"] =
        each_channel(p, [&](std::int64_t c) { return most + 0.5 * static_cast<double>(c % 5); });
  }
}

inline std::vector<Sample> random(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string& shape : in_each_form({"train", "infer"}, images::long_sums()))
    samples.push_back({"normal", shape});
  add_options(samples);
  add_scales(samples, dtype);
  add_far_from_zero(samples, dtype);
  return samples;
}

// Training with infinities gives NaN or infinite statistics, depending on the order of additions;
// one of the operation's own tests covers that.
inline std::vector<Sample> special(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Images& p : in_layouts({{3, 5, 49}, {1, 5, 4100}, {30, 5, 1}, {33, 8, 49}},
                                    {{5, 24, 9}, {40, 5, 7}, {1, 8, 1030}}))
    for (const double each : {kNan, kInfinity, -kInfinity})
      for (const char* const mode : {"train", "infer"})
        if (mode[0] == 'i' || std::isnan(each))
          samples.push_back(sample(dtype, "special", mode, p,
                                   images::with_special(dtype, p, test::Tensor::a, each)));
  return samples;
}

} // namespace kg::card::batchnorm_samples
