// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of poolings in shapes: their windows (windows.h), and ceil if the number of windows is
// rounded up. avgpad counts the padding in the divisor.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ops/pooling/problem.h"
#include "tests/contract/samples.h"
#include "tests/ops/windows.h"

namespace kg::card {

struct Pools {
  pooling::Kind kind;
  pooling::Problem images;
};
inline ShapeGrammar<Pools> pools_grammar() {
  using pooling::Kind, pooling::Layout, pooling::Problem;
  return ShapeGrammar<Pools>()
      .one_of(&Pools::kind, {{"max", Kind::max},
                             {"avg", Kind::average_exclude_padding},
                             {"avgpad", Kind::average_include_padding}})
      .nested(ShapeGrammar<Problem>()
                  .one_of(&Problem::layout, {{"nchw", Layout::nchw}, {"nhwc", Layout::nhwc}})
                  .number("n", &Problem::batch)
                  .number("c", &Problem::channels)
                  .number("h", &Problem::height)
                  .number("w", &Problem::width)
                  .nested(windows_grammar<Problem>())
                  .flag("ceil", &Problem::ceil_mode),
              &Pools::images);
}

inline pooling::Kind kind_of(const Problem& problem) { return problem.parameters.as<Pools>().kind; }

inline std::vector<std::string> with_each_kind(const std::vector<std::string>& shapes) {
  return in_each_form({"max", "avgpad", "avg"}, shapes);
}

// With the extents of this problem's x, or of its gradient.
inline pooling::Problem images_of(const Problem& problem, std::string_view tensor) {
  pooling::Problem p = problem.parameters.as<Pools>().images;
  const std::vector<std::int64_t>& x = problem.tensor(tensor).extents;
  const bool first = p.layout == pooling::Layout::nchw;
  p.batch = x[0];
  p.channels = x[first ? 1 : 3];
  p.height = x[first ? 2 : 1];
  p.width = x[first ? 3 : 2];
  return p;
}

// oneDNN divides by the whole area if padding counts, including windows that exceed the padding,
// and defines its own results for windows without input.
inline std::set<std::string_view> libraries_on_host(const Problem& problem) {
  const pooling::Problem& p = problem.parameters.as<Pools>().images;
  const auto both = [&](auto holds) {
    return holds(p.height, p.vertical, p.ceil_mode) && holds(p.width, p.horizontal, p.ceil_mode);
  };
  const bool counts = kind_of(problem) == pooling::Kind::average_include_padding;
  if (!both(pooling::windows_have_input) || (counts && !both(pooling::windows_fit))) return {};
  return {"onednn"};
}

// The call of a candidate kernel. In ceil mode the candidate sees only y's extents.
inline Calling calling_of(const pooling::Problem& p, pooling::Kind kind) {
  return {std::string(kind == pooling::Kind::max                       ? "max_"
                      : kind == pooling::Kind::average_include_padding ? "avgpad_"
                                                                       : "avg_") +
              std::string(name(p.layout)),
          with_windows({{"n", {p.batch}},
                        {"c", {p.channels}},
                        {"h", {p.height}},
                        {"w", {p.width}},
                        {"out_h", {p.out_height()}},
                        {"out_w", {p.out_width()}}},
                       p.vertical, p.horizontal)};
}

inline std::string shape_of(const pooling::Problem& p) {
  return std::string(name(p.layout)) + "_n" + std::to_string(p.batch) + "_c" +
         std::to_string(p.channels) + "_h" + std::to_string(p.height) + "_w" +
         std::to_string(p.width) + windows_text(p.vertical, p.horizontal) +
         (p.ceil_mode ? "_ceil" : "");
}

inline std::vector<std::string> shapes_of(const std::vector<pooling::Problem>& problems) {
  std::vector<std::string> shapes;
  for (const pooling::Problem& p : problems) shapes.push_back(shape_of(p));
  return shapes;
}

// The parts that the cards of pooling and of its gradient share.
inline Card pooling_family() {
  Card card(pools_grammar());
  card.refuses_overlap = false;
  card.batches = [](Dtype) { // numbers of images
    return with_each_kind({"nchw_n*_c3_h7_w9_k3_s1_p1", "nhwc_n*_c8_h7_w9_k3_s1_p1",
                           "nchw_n*_c3_h7_w9_k3_s2_p1", "nhwc_n*_c8_h7_w9_k3_s2_p1"});
  };
  card.empty = with_each_kind({"nchw_n0_c5_h4_w4_k2_s1_p0", "nhwc_n0_c5_h4_w4_k2_s1_p0",
                               "nchw_n5_c0_h4_w4_k2_s1_p0", "nhwc_n5_c0_h4_w4_k2_s1_p0"});
  card.timed_on_host = {{"max_nhwc_n1_c32_h32_w32_k3_s2_p1", true},
                        {"max_nchw_n1_c32_h32_w32_k3_s2_p1"},
                        {"avg_nchw_n1_c8_h32_w32_k3_s1_p1"},
                        {"avg_nhwc_n2_c64_h14_w14_k14_s1_p0"},
                        {"avg_nchw_n2_c256_h7_w7_k7_s1_p0"}};
  // A small one, and at least 256 MiB of 16-bit elements.
  card.timed_on_gpu = {
      {"max_nhwc_n1_c64_h56_w56_k3_s2_p1"},     {"max_nhwc_n256_c64_h112_w112_k3_s2_p1", true},
      {"max_nchw_n256_c64_h112_w112_k3_s2_p1"}, {"avg_nhwc_n256_c128_h56_w56_k3_s1_p1"},
      {"avg_nchw_n256_c128_h56_w56_k3_s1_p1"},  {"avg_nhwc_n2048_c2048_h7_w7_k7_s1_p0"},
      {"avg_nchw_n2048_c2048_h7_w7_k7_s1_p0"}};
  return card;
}

} // namespace kg::card
