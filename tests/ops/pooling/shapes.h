// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How shapes name poolings: windows alike along both axes (k3_s2_p1) or along each, vertical first,
// with the padding before and behind (k2.3_s1.2_p0.1.2.2_d1.4), and ceil where the count of windows
// is rounded up. avgpad divides by the padding, too.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pooling/problem.h"
#include "tests/contract/samples.h"

namespace kg::card {

inline pooling::Kind kind_of(const Problem& problem) {
  if (problem.shape.starts_with("max_")) return pooling::Kind::max;
  return problem.shape.starts_with("avgpad_") ? pooling::Kind::average_include_padding
                                              : pooling::Kind::average_exclude_padding;
}

inline std::vector<std::string> with_each_kind(const std::vector<std::string>& shapes) {
  return in_each_form({"max", "avgpad", "avg"}, shapes);
}

// Of an axis: the only number, or its own.
inline std::int64_t of_axis(const std::vector<std::int64_t>& numbers, std::size_t axis) {
  return numbers.at(numbers.size() == 1 ? 0 : axis);
}

inline pooling::Problem images_of(const Shape& shape) {
  shape.word({"max", "avg", "avgpad"});
  pooling::Problem p{shape.number("n"), shape.number("c"), shape.number("h"), shape.number("w")};
  p.layout = shape.word({"nchw", "nhwc"}) == 0 ? pooling::Layout::nchw : pooling::Layout::nhwc;
  p.ceil_mode = shape.has("ceil");
  const auto kernel = shape.numbers("k"), stride = shape.numbers("s"), pad = shape.numbers("p");
  const bool dilated = shape.text().find("_d") != std::string::npos;
  const auto dilation = dilated ? shape.numbers("d") : std::vector<std::int64_t>{1};
  pooling::Axis* const axes[] = {&p.vertical, &p.horizontal};
  for (std::size_t i = 0; i < 2; ++i)
    *axes[i] = {.kernel = of_axis(kernel, i),
                .stride = of_axis(stride, i),
                .pad_before = of_axis(pad, 2 * i),
                .pad_after = of_axis(pad, 2 * i + 1),
                .dilation = of_axis(dilation, i)};
  return p;
}

// With the extents of x, or of its gradient, as they are here.
inline pooling::Problem images_of(const Problem& problem, std::string_view tensor) {
  pooling::Problem p = images_of(Shape::parse(problem.shape));
  const std::vector<std::int64_t>& x = problem.tensor(tensor).extents;
  const bool first = p.layout == pooling::Layout::nchw;
  p.batch = x[0];
  p.channels = x[first ? 1 : 3];
  p.height = x[first ? 2 : 1];
  p.width = x[first ? 3 : 2];
  return p;
}

// oneDNN divides by the whole area where padding counts, windows that stick out of it included, and
// has results of its own for windows without input.
inline std::set<std::string_view> libraries_on_host(const Problem& problem) {
  const pooling::Problem p = images_of(Shape::parse(problem.shape));
  const auto both = [&](auto holds) {
    return holds(p.height, p.vertical, p.ceil_mode) && holds(p.width, p.horizontal, p.ceil_mode);
  };
  const bool counts = kind_of(problem) == pooling::Kind::average_include_padding;
  if (!both(pooling::windows_have_input) || (counts && !both(pooling::windows_fit))) return {};
  return {"onednn"};
}

inline std::string shape_of(const pooling::Problem& p) {
  const auto both = [](const char* key, std::int64_t vertical, std::int64_t horizontal) {
    return key + std::to_string(vertical) + "." + std::to_string(horizontal);
  };
  const pooling::Axis &v = p.vertical, &h = p.horizontal;
  return std::string(name(p.layout)) + "_n" + std::to_string(p.batch) + "_c" +
         std::to_string(p.channels) + "_h" + std::to_string(p.height) + "_w" +
         std::to_string(p.width) + both("_k", v.kernel, h.kernel) + both("_s", v.stride, h.stride) +
         both("_p", v.pad_before, v.pad_after) + both(".", h.pad_before, h.pad_after) +
         both("_d", v.dilation, h.dilation) + (p.ceil_mode ? "_ceil" : "");
}

inline std::vector<std::string> shapes_of(const std::vector<pooling::Problem>& problems) {
  std::vector<std::string> shapes;
  for (const pooling::Problem& p : problems) shapes.push_back(shape_of(p));
  return shapes;
}

} // namespace kg::card
