// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Concatenating parts along an axis, and splitting them again. Extents along the axis are p1.2.5
// or, for e8, four of 8, 16, 4 and 4. The axes inside of the concatenated one are a tensor's
// columns.
#include "ops/concat/concat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include "libraries/concat.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"

namespace kg::card {
namespace {

using Extents = std::vector<std::int64_t>;

struct Parts {
  concat::Op op;
  std::int64_t outer;
  Extents extents;
  std::int64_t inner;
};
Extents four_parts(std::int64_t e) { return {e, 2 * e, e / 2, e / 2}; }
ShapeGrammar<Parts> grammar() {
  return ShapeGrammar<Parts>()
      .enumerator(&Parts::op, concat::kOps)
      .number("outer", &Parts::outer)
      .part(
          "(e<number>|p<numbers>)",
          [](const Shape& shape, Parts& p) {
            p.extents = shape.has_number("e") ? four_parts(shape.number("e")) : shape.numbers("p");
          },
          [](const Parts& p) {
            const std::int64_t first = p.extents.front();
            if (p.extents == four_parts(first)) return "e" + std::to_string(first);
            return fmt::format("p{}", fmt::join(p.extents, "."));
          })
      .number("inner", &Parts::inner);
}
concat::Op op_of(const Problem& problem) { return problem.parameters.as<Parts>().op; }
const std::vector<Tensor>& parts_of(const Problem& problem) {
  return op_of(problem) == concat::Op::concat ? problem.inputs : problem.outputs;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Parts parameters = grammar().parse(shape);
  const auto& [op, outer, extents, inner] = parameters;
  Problem result{dtype, shape.text(), concat::work(dtype, {outer, inner, extents}), 0};
  const std::int64_t sum = std::accumulate(extents.begin(), extents.end(), std::int64_t{0});
  std::vector<Tensor> parts;
  for (const std::int64_t extent : extents)
    parts.push_back({"part" + std::to_string(parts.size()), dtype, {outer, extent * inner}});
  (op == concat::Op::concat ? result.inputs : result.outputs) = std::move(parts);
  Tensor whole{"whole", dtype, {outer, sum * inner}};
  whole.derived = true;
  (op == concat::Op::concat ? result.outputs : result.inputs).push_back(std::move(whole));
  result.parameters = parameters;
  result.scalars = {{"inner", static_cast<double>(inner)}};
  result.calling = {std::string(name(op)) + std::to_string(extents.size()),
                    {{"outer", {outer}}, {"inner", {inner}}, {"extents", extents, true}}};
  return result;
}

// The arguments of a call of our kernels and of libraries.
struct Arguments {
  explicit Arguments(const Call& call)
      : op(op_of(call.problem())), inner(static_cast<std::int64_t>(call.scalar("inner"))),
        whole(call.address("whole")) {
    for (const Tensor& part : parts_of(call.problem())) {
      outer = part.extents[0];
      const std::int64_t cols = part.extents[1];
      extents.push_back(cols > 0 ? cols / inner : cols);
      parts.push_back(call.address(part.name));
    }
  }
  std::vector<const void*> sources() const { return {parts.begin(), parts.end()}; }

  concat::Op op;
  std::int64_t outer = 0, inner;
  Extents extents;
  void* whole;
  std::vector<void*> parts;
};

constexpr auto kRun = [](const Call& call, concat::Variant variant, Stream& stream) {
  const Arguments a(call);
  const concat::Problem p{a.outer, a.inner, a.extents};
  const std::size_t bytes = size_of(call.problem().dtype);
  if (a.op == concat::Op::concat)
    return concat::run_concat(a.sources(), a.whole, p, bytes, variant, stream);
  return concat::run_split(a.whole, a.parts, p, bytes, variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Arguments a(call);
  const vendor::ConcatShape shape{a.outer, a.inner, a.extents};
  const Dtype dtype = call.problem().dtype;
  if (a.op == concat::Op::concat)
    vendor::concat(vendor, dtype, a.sources(), a.whole, shape, stream);
  else
    vendor::split(vendor, dtype, a.whole, a.parts, shape, stream);
}

SourceOfElement sources(const Problem& problem, std::string_view output, const Bits&) {
  const std::int64_t cols = problem.tensor(output).extents[1];
  if (op_of(problem) == concat::Op::concat)
    return [&problem, cols](std::int64_t i) -> Source {
      std::int64_t col = i % cols;
      const Tensor* part = problem.inputs.data();
      for (; col >= part->extents[1]; ++part) col -= part->extents[1];
      return {part->name, i / cols * part->extents[1] + col};
    };
  std::int64_t first = 0;
  for (const Tensor& part : problem.outputs) {
    if (part.name == output) break;
    first += part.extents[1];
  }
  return [first, cols, whole = problem.inputs[0].extents[1]](std::int64_t i) -> Source {
    return {"whole", i / cols * whole + first + i % cols};
  };
}

std::size_t launches(std::string_view, const Problem& problem) {
  std::size_t parts = 0;
  for (const Tensor& part : parts_of(problem)) parts += part.size() > 0 ? 1u : 0u;
  return (parts + concat::kPartsPerLaunch - 1) / concat::kPartsPerLaunch;
}

// Concatenation and split.
std::vector<std::string> shapes(const std::vector<std::string>& each) {
  return in_each_form({"concat", "split"}, each);
}

std::string shape_of(std::int64_t outer, const Extents& extents, std::int64_t inner) {
  std::string parts;
  for (const std::int64_t extent : extents)
    parts += (parts.empty() ? "_p" : ".") + std::to_string(extent);
  return "outer" + std::to_string(outer) + parts + "_inner" + std::to_string(inner);
}

std::vector<std::string> sizes(Dtype dtype) {
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype));
  std::vector<std::string> each = {shape_of(1, {1}, 1), shape_of(5, {7}, 33),
                                   shape_of(2, {1, 500}, 9)};
  for (const std::int64_t outer : {1, 2, 33})
    for (const std::int64_t inner : {1, 3, 6, 8, 12, 17})
      each.push_back(shape_of(outer, {1, 2, 5}, inner));
  // Rows that start at every second, or fourth, element of a pack.
  for (const std::int64_t inner : {pack + 2, 20 * pack + 2, 20 * pack + 4})
    for (const std::int64_t last : {2, 4}) each.push_back(shape_of(5, {1, 2, last}, inner));
  // Rows of whole packs, with every row of every part aligned.
  each.push_back(shape_of(9, {1, 3, 2}, pack));
  each.push_back(shape_of(3, {8, 32, 33}, 4 * pack));
  each.push_back(shape_of(2, {1100, 5}, pack));
  // More parts than a launch takes, and empty parts.
  each.push_back(shape_of(3, {1, 2, 3, 4, 5, 6, 7, 8}, 2));
  each.push_back(shape_of(3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 2));
  each.push_back(shape_of(3, Extents(20, 1), 5));
  each.push_back(shape_of(3, {0, 4, 0, 0, 2, 0}, 5));
  return shapes(each);
}

} // namespace

Card concat_card() {
  Card card(grammar());
  only_moves(card, sources);
  card.problem = problem;
  card.forms = {"concat", "split"};
  run_by(card, concat::kVariants, kRun);
  card.vendors = {[](const Problem& p) { return names(vendor::concat_table, p.dtype); },
                  run_vendor};
  card.vendors.on_host = always({"memcpy", "onednn", "thrust"});
  // Every bit pattern of the types with few.
  card.exact_samples = [](Dtype dtype) {
    std::vector<Sample> samples;
    const std::int64_t patterns = size_of(dtype) == 1 ? 1 << 8 : 1 << 16;
    for (const std::string& shape : shapes({shape_of(1, {77, patterns - 77}, 1)}))
      samples.push_back({"all patterns", shape});
    return samples;
  };
  card.usual = [](Dtype) {
    return shapes({shape_of(13, {3, 8, 0, 1}, 10), shape_of(7, {3, 0, 12}, 11)});
  };
  card.sizes = sizes;
  card.misaligned = [](Dtype dtype) {
    const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype));
    return shapes({shape_of(4, {2, 3}, 3 * pack), shape_of(4, {2, 3}, 5 * pack + 1),
                   shape_of(1, {40 * pack, 3}, 1)});
  };
  card.outputs_may_meet = true;
  card.empty = shapes({shape_of(0, {1, 2}, 3), shape_of(4, {0, 0}, 3), shape_of(4, {1, 2}, 0)});
  card.kernel_name = as_the_variant("concat");
  card.launches = launches;
  card.timed_on_host = {{"concat_outer64_e8_inner64", true},
                        {"split_outer64_e8_inner64"},
                        {"concat_outer32_e18_inner33"}};
  // A small one, and at least 512 MiB of traffic.
  card.timed_on_gpu = {{"concat_outer64_e8_inner64"},
                       {"concat_outer4096_e256_inner64", true},
                       {"split_outer4096_e256_inner64"},
                       {"concat_outer4096_e258_inner65"}};
  return card;
}

} // namespace kg::card
