// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of pooling and convolution windows in shapes: equal along both axes (k3_s2_p1), or along
// each, vertical first, with the padding before and after (k2.3_s1.2_p0.1.2.2_d1.4). Without d
// there is no dilation. An axis has kernel, stride, pad_before, pad_after and dilation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/contract/call.h"
#include "tests/contract/shape.h"
#include "tests/contract/shape_grammar.h"

namespace kg::card {

template <class Axis>
void read_windows(const Shape& shape, Axis& vertical, Axis& horizontal) {
  const bool dilated = shape.has_number("d");
  const auto kernel = shape.numbers("k"), stride = shape.numbers("s"), pad = shape.numbers("p");
  const auto dilation = dilated ? shape.numbers("d") : std::vector<std::int64_t>{1};
  const auto of = [](const std::vector<std::int64_t>& numbers, std::size_t i) {
    return numbers.at(numbers.size() == 1 ? 0 : i);
  };
  Axis* const axes[] = {&vertical, &horizontal};
  for (std::size_t i = 0; i < 2; ++i)
    *axes[i] = {.kernel = of(kernel, i),
                .stride = of(stride, i),
                .pad_before = of(pad, 2 * i),
                .pad_after = of(pad, 2 * i + 1),
                .dilation = of(dilation, i)};
}

// "_k2.3_s1.2_p0.1.2.2_d1.4"; equal values only once: "_k3_s1_p1".
template <class Axis>
std::string windows_text(const Axis& vertical, const Axis& horizontal) {
  const auto numbers = [](const char* key, const std::vector<std::int64_t>& values) {
    std::string text = key + std::to_string(values[0]);
    if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end())
      return text;
    for (std::size_t i = 1; i < values.size(); ++i) text += "." + std::to_string(values[i]);
    return text;
  };
  const Axis &v = vertical, &h = horizontal;
  return numbers("_k", {v.kernel, h.kernel}) + numbers("_s", {v.stride, h.stride}) +
         numbers("_p", {v.pad_before, v.pad_after, h.pad_before, h.pad_after}) +
         (v.dilation == 1 && h.dilation == 1 ? "" : numbers("_d", {v.dilation, h.dilation}));
}

// For a struct with the axes `vertical` and `horizontal`.
template <class P>
ShapeGrammar<P> windows_grammar() {
  return ShapeGrammar<P>().part(
      "k<numbers> s<numbers> p<numbers> [d<numbers>]",
      [](const Shape& shape, P& p) { read_windows(shape, p.vertical, p.horizontal); },
      [](P& p) { return windows_text(p.vertical, p.horizontal).substr(1); });
}

// The windows as arguments of a candidate kernel, after `extents`.
template <class Axis>
std::vector<Integers> with_windows(std::vector<Integers> extents, const Axis& vertical,
                                   const Axis& horizontal) {
  const Axis &v = vertical, &h = horizontal;
  const std::vector<Integers> windows = {
      {"kernel_h", {v.kernel}},     {"kernel_w", {h.kernel}},     {"stride_h", {v.stride}},
      {"stride_w", {h.stride}},     {"pad_top", {v.pad_before}},  {"pad_bottom", {v.pad_after}},
      {"pad_left", {h.pad_before}}, {"pad_right", {h.pad_after}}, {"dilation_h", {v.dilation}},
      {"dilation_w", {h.dilation}}};
  extents.insert(extents.end(), windows.begin(), windows.end());
  return extents;
}

} // namespace kg::card
