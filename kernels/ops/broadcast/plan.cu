// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The host side of `broadcast`: shapes and the plan of their traversal.
#include "ops/broadcast/plan.h"

#include "runtime/error.h"

#include <algorithm>
#include <string>

namespace kg::broadcast {
namespace {

std::string text(Shape shape) {
  std::string list;
  for (const std::int64_t extent : shape)
    list += (list.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + list + "]";
}

void require_shape(const char* name, Shape shape) {
  require(shape.size() <= kMaxRank, std::string("broadcast: ") + name + " is " + text(shape) +
                                        "; the rank must be at most " + std::to_string(kMaxRank));
  require(std::all_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent >= 0; }),
          std::string("broadcast: ") + name + " is " + text(shape) +
              "; extents must not be negative");
}

// The extent of axis d, counted from the last; 1 if the shape lacks that axis.
std::int64_t extent_from_end(Shape shape, std::size_t d) {
  return d < shape.size() ? shape[shape.size() - 1 - d] : 1;
}

// Whether `outer` continues `inner`, so that both merge into one axis.
bool continues(const Axis& outer, const Axis& inner) {
  const auto next = [&](std::size_t k) { return inner.stride[k] * inner.extent.value; };
  return outer.stride[0] == next(0) && outer.stride[1] == next(1);
}

} // namespace

std::int64_t element_count(Shape shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::vector<std::int64_t> result_shape(Shape a, Shape b) {
  require_shape("a", a);
  require_shape("b", b);
  std::vector<std::int64_t> shape(std::max(a.size(), b.size()));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t of_a = extent_from_end(a, d);
    const std::int64_t of_b = extent_from_end(b, d);
    require(of_a == of_b || of_a == 1 || of_b == 1,
            "broadcast: a is " + text(a) + " and b is " + text(b) + "; extents " +
                std::to_string(of_a) + " and " + std::to_string(of_b) +
                " do not match, they must be equal or one of them 1");
    shape[shape.size() - 1 - d] = of_a == 1 ? of_b : of_a;
  }
  return shape;
}

Plan make_plan(Shape a, Shape b) {
  Plan plan;
  std::array<std::int64_t, 2> step{1, 1}; // packed strides
  for (std::size_t d = 0; d < std::max(a.size(), b.size()); ++d) {
    const std::array<std::int64_t, 2> own{extent_from_end(a, d), extent_from_end(b, d)};
    const std::int64_t extent = std::max(own[0], own[1]);
    if (extent == 1) continue;
    Axis axis{Divisor(extent), {}};
    for (std::size_t k = 0; k < 2; ++k) {
      axis.stride[k] = own[k] == 1 ? 0 : step[k];
      step[k] *= own[k];
    }
    Axis& last = plan.outer_axes == 0 ? plan.inner
                                      : plan.outer[static_cast<std::size_t>(plan.outer_axes - 1)];
    if (plan.size == 1)
      plan.inner = axis;
    else if (continues(axis, last))
      last.extent = Divisor(last.extent.value * extent);
    else
      plan.outer[static_cast<std::size_t>(plan.outer_axes++)] = axis;
    plan.size *= extent;
  }
  plan.dense = {step[0] == plan.size, step[1] == plan.size};
  return plan;
}

Work work(Dtype dtype, Shape a, Shape b) {
  const auto size = static_cast<double>(element_count(result_shape(a, b)));
  const auto operands =
      static_cast<double>(element_count(a)) + static_cast<double>(element_count(b));
  return {.bytes = (operands + size) * static_cast<double>(size_of(dtype)),
          .written = size * static_cast<double>(size_of(dtype)),
          .flops = size};
}

} // namespace kg::broadcast
