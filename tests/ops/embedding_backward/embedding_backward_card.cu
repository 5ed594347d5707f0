// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of embedding tables. Lookups favor the first rows, like word frequencies: some rows are
// looked up often, and most rows of a large table never.
#include "ops/embedding_backward/embedding_backward.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance.h"

namespace kg::card {
namespace {

struct Extents {
  std::int64_t rows, count, inner;
};
ShapeGrammar<Extents> grammar() {
  return ShapeGrammar<Extents>()
      .number("rows", &Extents::rows)
      .number("count", &Extents::count)
      .number("inner", &Extents::inner);
}
const Extents& extents_of(const Problem& problem) { return problem.parameters.as<Extents>(); }

// The row of each lookup: the last, the first, then random rows with a density proportional to
// u^(-2/3).
std::int64_t looked_up(std::int64_t lookup, std::int64_t rows) {
  if (lookup < 2) return lookup == 0 ? rows - 1 : 0;
  const std::uint32_t mixed = static_cast<std::uint32_t>(lookup) * 2654435761U;
  const double u = mixed * 0x1p-32;
  return static_cast<std::int64_t>(static_cast<double>(rows) * u * u * u);
}

struct Lists {
  std::vector<std::uint64_t> order, offsets;
};
std::shared_ptr<const Lists> lists_of(const Extents& e) {
  auto lists = std::make_shared<Lists>();
  lists->offsets.assign(static_cast<std::size_t>(e.rows) + 1, 0);
  if (e.rows == 0) return lists;
  for (std::int64_t i = 0; i < e.count; ++i) {
    lists->order.push_back(static_cast<std::uint64_t>(i));
    ++lists->offsets[static_cast<std::size_t>(looked_up(i, e.rows)) + 1];
  }
  for (std::size_t r = 0; r < static_cast<std::size_t>(e.rows); ++r)
    lists->offsets[r + 1] += lists->offsets[r];
  std::stable_sort(lists->order.begin(), lists->order.end(), [&](auto a, auto b) {
    return looked_up(static_cast<std::int64_t>(a), e.rows) <
           looked_up(static_cast<std::int64_t>(b), e.rows);
  });
  return lists;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Extents e = grammar().parse(shape);
  Problem result{dtype, shape.text(),
                 dispatch(dtype,
                          [&]<class T>() {
                            return embedding_backward::work(
                                embedding_backward::Problem<T>{e.count, e.rows, e.inner});
                          }),
                 static_cast<double>(e.count) * static_cast<double>(e.inner)};
  result.parameters = e;
  result.inputs = {{"x", dtype, {e.count, e.inner}, false}};
  result.outputs = {{"y", dtype, {e.rows, e.inner}}};
  const auto list = [&](const char* name, std::int64_t size, auto member) {
    return Tensor{
        .name = name,
        .dtype = Dtype::i32,
        .extents = {size},
        .by_row = false,
        .derived = true,
        .element = [lists = std::shared_ptr<const Lists>(), e, member](std::int64_t i) mutable {
          if (!lists) lists = lists_of(e); // once, and not if only extents are needed
          return ((*lists).*member)[static_cast<std::size_t>(i)];
        }};
  };
  result.inputs.push_back(list("order", e.count, &Lists::order));
  result.inputs.push_back(list("offsets", e.rows + 1, &Lists::offsets));
  result.calling = {"", {{"count", {e.count}}, {"rows", {e.rows}}, {"inner", {e.inner}}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, embedding_backward::Variant variant,
                                  Stream& stream) {
  return embedding_backward::run(
      embedding_backward::Problem<T>{call.extent("x", 0), call.extent("y", 0), call.extent("y", 1),
                                     call.in<T>("x"), call.in<std::int32_t>("order"),
                                     call.in<std::int32_t>("offsets"), call.out<T>("y")},
      variant, stream);
};

// get(tensor, index) returns an element. Values that overflow f32 in between stay infinite.
template <class Get>
Reference summed(const Problem& problem, std::int64_t first, std::int64_t count, Get get) {
  const std::int64_t inner = extents_of(problem).inner;
  Reference result;
  std::vector<double> bounds;
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::int64_t row = i / inner;
    const auto begin = static_cast<std::int64_t>(get("offsets", row));
    const auto end = static_cast<std::int64_t>(get("offsets", row + 1));
    double sum = 0, squares = 0, sum_abs = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const auto lookup = static_cast<std::int64_t>(get("order", j));
      const double x = get("x", lookup * inner + i % inner);
      sum += x;
      if (std::isinf(test::round_to(Dtype::f32, sum))) sum = std::copysign(kInfinity, sum);
      squares += x * x;
      sum_abs += std::fabs(x);
    }
    result.value.push_back(sum);
    const bool rounds = end - begin > 1 && std::isfinite(sum);
    const double computed =
        rounds ? test::sum_f32_tolerance(sum, std::sqrt(squares), sum_abs, end - begin, 1) : 0;
    bounds.push_back(rounds ? test::stored_tolerance(problem.dtype, sum, computed) : 0);
  }
  result.tolerance = [bounds](std::string_view) { return bounds; };
  result.holds_zeros = true;
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  return {
      {"y", summed(problem, 0, problem.outputs[0].size(), [&](const char* name, std::int64_t i) {
         return inputs.find(name)->second.values[static_cast<std::size_t>(i)];
       })}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  std::map<std::string_view, Elements> tensors;
  for (const Tensor& tensor : problem.inputs) tensors[tensor.name] = values(tensor.name);
  return summed(problem, first, count,
                [&](const char* name, std::int64_t i) { return tensors.at(name)(i); });
}

std::string shape_of(std::int64_t rows, std::int64_t count, std::int64_t inner) {
  return grammar().print({rows, count, inner});
}

// Integers whose sums every type represents: a row has at most about forty of them.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const std::int64_t most = dtype == Dtype::f32 ? 1 << 17 : dtype == Dtype::f16 ? 40 : 5;
  for (const auto& [count, inner] : {std::pair{300, 40}, std::pair{300, 33}}) {
    Sample sample{.fill = "integers", .shape = shape_of(400, count, inner)};
    sample.inputs["x"] = values(
        dtype, test::integers(dtype, std::int64_t{count} * inner, most, test::Tensor::a).values);
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<Sample> special_samples(Dtype dtype) {
  const double largest = test::max_finite(dtype);
  Sample sample{.fill = "special", .shape = shape_of(60, 100, 24)};
  std::vector<double> x = test::normal(dtype, 100 * 24, test::Tensor::a).values;
  std::size_t at = 3;
  for (int round = 0; round < 4; ++round)
    for (const double special :
         {kNan, kInfinity, -kInfinity, largest, -largest, 0.0, -0.0, test::min_subnormal(dtype)}) {
      x[at % x.size()] = special;
      at += 71;
    }
  sample.inputs["x"] = values(dtype, std::move(x));
  return {std::move(sample)};
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  const bool packs = variant == "vectorized" && extents_of(problem).inner % pack == 0 &&
                     place_of(layout, "x").offset % pack == 0 &&
                     place_of(layout, "y").offset % pack == 0;
  return {"embedding_backward::sum_rows<", ", " + std::to_string(packs ? pack : 1) + ">"};
}

} // namespace

Card embedding_backward_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, embedding_backward::kVariants, kRun);
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.random_samples = [](Dtype) {
    return std::vector<Sample>{{"normal", shape_of(3, 2000, 8)}, {"normal", shape_of(999, 50, 64)}};
  };
  card.special_samples = special_samples;
  card.usual = these({shape_of(50, 120, 72), shape_of(40, 90, 33)});
  card.no_batches = "the indices say which lookups a row sums up";
  card.sizes = [](Dtype) {
    std::vector<std::string> shapes = {shape_of(1, 1, 1), shape_of(1, 257, 1), shape_of(300, 3, 1)};
    for (const std::int64_t inner : {1, 2, 3, 4, 7, 8, 9, 16, 31, 32, 255, 256, 257, 1024, 2056})
      for (const std::int64_t count : {5, 26}) shapes.push_back(shape_of(6, count, inner));
    for (const std::int64_t count : {1, 2, 3, 4, 5, 7, 8, 9}) // lookups of one row
      shapes.push_back(shape_of(1, count, 16));
    return shapes;
  };
  card.misaligned = these({shape_of(7, 20, 16), shape_of(7, 20, 9)});
  card.empty = {shape_of(5, 0, 3), shape_of(0, 0, 3), shape_of(5, 3, 0)};
  card.kernel_name = kernel_name;
  card.bound_on_host = card.bound_on_gpu = kg::Bound::memory;
  card.timed_on_host = {{shape_of(2048, 512, 128), true}, {shape_of(300, 1000, 129)}};
  // All of Qwen2.5-0.5B's vocabulary, all of Llama-3-8B's, and a few occurring rows.
  card.timed_on_gpu = {{shape_of(151936, 8192, 896), true},
                       {shape_of(128256, 8192, 4096)},
                       {shape_of(20000, 65536, 1024)}};
  return card;
}

} // namespace kg::card
