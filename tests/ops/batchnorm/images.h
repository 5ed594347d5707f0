// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the cards of batchnorm and its gradient. A shape names the layout and the extents; the
// spatial axes are merged: "nhwc_n2_c64_s196".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/batchnorm/problem.h"
#include "ops/batchnorm/variants.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/ops/batchnorm/channels.h"
#include "tests/oracle/fills.h"

namespace kg::card::images {

using batchnorm::Layout;
using Images = batchnorm::Problem;

inline ShapeGrammar<Images> images_grammar() {
  return ShapeGrammar<Images>()
      .one_of(&Images::layout, {{"nchw", Layout::nchw}, {"nhwc", Layout::nhwc}})
      .number("n", &Images::batch)
      .number("c", &Images::channels)
      .number("s", &Images::spatial);
}

// With the extents of x.
inline Images images_of(const Problem& problem, Layout layout) {
  const std::vector<std::int64_t>& x = problem.tensor("x").extents;
  if (layout == Layout::nchw) return {x[0], x[1], x[2], layout};
  return {x[0], x[2], x[1], layout};
}
inline bool is_valid(const Images& p) { return p.batch >= 0 && p.channels >= 0 && p.spatial >= 0; }

inline std::vector<Images> in_layouts(std::initializer_list<Images> planes,
                                      std::initializer_list<Images> columns) {
  std::vector<Images> all = planes;
  for (Images p : columns) {
    p.layout = Layout::nhwc;
    all.push_back(p);
  }
  return all;
}

inline std::vector<std::string> shapes_of(const std::vector<Images>& all) {
  std::vector<std::string> shapes;
  for (const Images& p : all) shapes.push_back(test::text(p));
  return shapes;
}

// In the last shapes of each layout a thread makes several iterations: a plane of one element is a
// pack, and with channels that do not fill whole packs a block takes fewer rows at once.
inline std::vector<std::string> long_sums() {
  return shapes_of(in_layouts({{3, 5, 49}, {2, 3, 1023}, {1, 2, 8200}, {1100, 2, 1}, {70, 8, 49}},
                              {{3, 5, 49}, {9, 200, 5}, {2, 35, 100}}));
}

// The usual shapes: in nhwc with and without whole packs.
inline std::vector<std::string> usual() {
  return shapes_of(
      in_layouts({{3, 4, 49}, {2, 3, 1500}, {33, 8, 49}}, {{20, 24, 5}, {20, 5, 7}, {7, 40, 30}}));
}
inline std::vector<std::string> beside_libraries() {
  return shapes_of(in_layouts({{4, 5, 77}, {2, 3, 1024}}, {{4, 16, 77}, {3, 70, 30}}));
}
inline std::vector<std::string> misaligned(Dtype dtype) {
  const std::int64_t pack = batchnorm::pack_elements(dtype);
  return shapes_of(
      in_layouts({{2, 3, 49}, {2, 3, 8 * pack}, {32, 8, 35}}, {{30, 2 * pack, 3}, {9, 11, 4}}));
}
inline std::vector<std::string> empty() {
  return shapes_of(in_layouts({{0, 3, 5}, {2, 0, 5}, {2, 3, 0}}, {{0, 3, 5}, {2, 3, 0}}));
}

// Planes around packs and warps, channels around packs and tiles. For training also numbers of rows
// around those that a block takes at once, and around two parts.
inline std::vector<std::string> planes_and_columns() {
  std::vector<Images> all;
  for (const std::int64_t spatial : {1, 2, 3, 5, 7, 8, 9, 15, 17, 33, 65, 257})
    all.push_back({spatial < 4 ? 37 : 3, 3, spatial});
  for (const std::int64_t channels : {1, 2, 3, 4, 6, 7, 8, 9, 12, 31, 32, 33, 64, 129, 264})
    all.push_back({1, channels, 37, Layout::nhwc});
  return shapes_of(all);
}
// Planes reduced by columns, or just beyond that: few images, images that are not whole packs, long
// planes; columns around a block's; and channels of one column.
inline std::vector<Images> around_short_planes() {
  return {{32, 8, 37},  {31, 8, 37},  {32, 9, 37},  {32, 1, 512},
          {32, 1, 520}, {260, 2, 12}, {33, 264, 1}, {65, 24, 11}};
}
inline std::vector<std::string> numbers_of_rows(Dtype dtype) {
  std::vector<Images> all = around_short_planes();
  for (const std::int64_t rows : {2, 31, 32, 33, 127, 129, 1023, 1025, 2049})
    all.push_back({rows, batchnorm::pack_elements(dtype), 1, Layout::nhwc});
  for (const std::int64_t channels : {33, 65}) all.push_back({2, channels, 9});
  return shapes_of(all);
}

// True if the channel sums start with sums of columns (kernels/ops/batchnorm/short_planes.h): rows
// are whole packs, aligned to 16 bytes, in at least 4 times as many rows as 256 threads with up to
// 32 adjacent packs take at once; planes have at most 512 elements. `start`: of the tensors.
inline bool sums_by_columns(Dtype dtype, const Images& p, std::int64_t start) {
  const std::int64_t pack = batchnorm::pack_elements(dtype), columns = p.channels * p.spatial;
  std::int64_t side_by_side = 1;
  while (side_by_side < 32 && side_by_side * pack < columns) side_by_side *= 2;
  return p.layout == Layout::nchw && p.spatial <= 512 && columns % pack == 0 && start % pack == 0 &&
         p.batch * side_by_side >= 4 * 256;
}

// The longest chain of additions of a variant; a library may sum a channel sequentially.
template <class Chain>
std::int64_t chain_of(Chain chain, std::string_view variant, Dtype dtype, const Images& p) {
  if (variant.empty()) return p.per_channel();
  return chain(enumerator_of(batchnorm::kVariants, variant), dtype, p);
}

inline Tensor per_channel(const std::string& name, std::int64_t channels) {
  return {.name = name, .dtype = Dtype::f32, .extents = {channels}, .derived = true};
}

inline std::vector<double> values_or_none(const Inputs& inputs, std::string_view tensor) {
  const auto found = inputs.find(tensor);
  return found == inputs.end() ? std::vector<double>() : found->second.values;
}
inline std::vector<double> by_channel(const Inputs& inputs, std::string_view tensor,
                                      const Images& p) {
  return test::by_channel(inputs.find(tensor)->second.values, p);
}

// `x` is channel by channel.
inline test::Observed in_layout(Dtype dtype, const std::vector<double>& x, const Images& p) {
  return values(dtype, test::in_layout(x, p));
}

// The elements of one channel.
inline std::vector<double> elements_of(const Elements& tensor, const Images& p,
                                       std::int64_t channel) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < p.per_channel(); ++i)
    result.push_back(tensor(static_cast<std::int64_t>(test::place_of(p, channel, i))));
  return result;
}

// Normal data with one special value at each position that a thread, a pack, a plane or a part
// could miss: in channels 1, 2 and 4, channel by channel.
inline std::vector<double> with_special(Dtype dtype, const Images& p, test::Tensor tensor,
                                        double special) {
  std::vector<double> result = test::normal(dtype, p.elements(), tensor).values;
  for (const auto& [channel, i] :
       {std::pair{1, std::int64_t{0}}, {2, p.per_channel() / 2}, {4, p.per_channel() - 1}})
    result[static_cast<std::size_t>(channel * p.per_channel() + i)] = special;
  return result;
}

} // namespace kg::card::images
