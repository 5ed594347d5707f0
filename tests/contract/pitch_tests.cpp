// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/pitch_tests.h"

#include "tests/contract/rows.h"

#include <numeric>
#include <set>

namespace kg::card {
namespace {

// The number of axes with a free stride.
std::size_t free_axes(const Tensor& tensor) {
  if (tensor.extents.size() < 2) return 0;
  return tensor.strided ? tensor.extents.size() - 1 : 1;
}

// Each stride is rounded up to whole packs, plus `wider` packs, plus the free axis' entry of `off`.
Place pitched(const Tensor& tensor, std::int64_t wider, const std::vector<std::int64_t>& off) {
  const std::int64_t pack = elements_per_pack(tensor.dtype);
  std::vector<std::int64_t> strides(off.size());
  std::int64_t inside = tensor.extents.back() + tensor.gap;
  for (std::size_t d = off.size(); d-- > 0;) {
    const std::int64_t whole = (inside + pack - 1) / pack * pack;
    strides[d] = whole + wider * pack + off[d];
    inside = strides[d] * tensor.extents[tensor.extents.size() - 1 - off.size() + d];
  }
  Place place{.gap = strides.back() - tensor.extents.back() - tensor.gap};
  if (tensor.strided) place.strides = std::move(strides);
  return place;
}

// First whole packs everywhere; then one stride off, all strides of one tensor off, and all off.
std::vector<Layout> layouts(const std::vector<const Tensor*>& tensors) {
  const auto whole = [&](std::int64_t wider, std::int64_t off) {
    Layout layout;
    for (const Tensor* tensor : tensors)
      layout[tensor->name] =
          pitched(*tensor, wider, std::vector<std::int64_t>(free_axes(*tensor), off));
    return layout;
  };
  std::vector<Layout> result{whole(0, 0), whole(1, 0), whole(1, 1)};
  for (const Tensor* tensor : tensors) {
    const std::size_t axes = free_axes(*tensor);
    for (const std::int64_t off : std::set{std::int64_t{1}, elements_per_pack(tensor->dtype) / 2}) {
      for (std::size_t axis = 0; axis < axes; ++axis) {
        std::vector<std::int64_t> alone(axes, 0);
        alone[axis] = off;
        result.push_back(whole(1, 0));
        result.back()[tensor->name] = pitched(*tensor, 1, alone);
      }
      if (axes == 1) continue;
      result.push_back(whole(1, 0));
      result.back()[tensor->name] = pitched(*tensor, 1, std::vector<std::int64_t>(axes, off));
    }
  }
  return result;
}

} // namespace

void pitches(Judge& judge) {
  std::set<std::int64_t> ends; // of rows of the operation's type, relative to a pack
  const std::int64_t pack = elements_per_pack(judge.dtype());
  for (const std::string& shape : judge.card().pitches(judge.dtype())) {
    Sample sample = judge.random(shape);
    const Problem problem = problem_of(judge.card(), judge.dtype(), sample);
    ASSERT_TRUE(problem.gaps) << shape << ": its rows must not lie apart";
    std::vector<const Tensor*> tensors;
    for (const auto* group : {&problem.inputs, &problem.outputs})
      for (const Tensor& tensor : *group) {
        if (free_axes(tensor) == 0 || (group == &problem.outputs && problem.updates(tensor.name)))
          continue;
        tensors.push_back(&tensor);
        if (tensor.dtype == judge.dtype()) ends.insert(tensor.extents.back() % pack);
      }
    sample.inputs = completed(problem, std::move(sample.inputs));
    judge.check_at(layouts(tensors), sample, judge.card().references(problem, sample.inputs));
  }
  for (const std::int64_t end : std::set{std::int64_t{0}, 1 % pack, pack / 2, pack - 1})
    EXPECT_TRUE(ends.contains(end))
        << "no row of `pitches` ends " << end << " elements behind whole vectors of " << pack;
}

} // namespace kg::card
