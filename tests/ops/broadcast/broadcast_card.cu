// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on arrays that repeat along axes. A shape names both operands' extents,
// sub_a17.192_b192
// ("bscalar" for none), or one of the timed patterns, which compute sums: bias, channels and outer.
// Each result has a single correct value, so comparisons are exact.
#include "ops/broadcast/broadcast.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "libraries/broadcast.h"
#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_elementwise.h"

namespace kg::card {
namespace {

using broadcast::Op;
using Extents = std::vector<std::int64_t>;

struct Shapes {
  Extents a, b;
};

enum class Pattern { none, bias, channels, outer };
struct Repeated {
  std::pair<Op, Pattern> form;
  Shapes shapes;                         // without a pattern
  std::int64_t rows = 0, cols = 0;       // for bias and outer
  std::int64_t n = 0, c = 0, pixels = 0; // for channels
};

// One operand's extents, "a17.192", or "ascalar" for none.
void add_operand(ShapeGrammar<Repeated>& grammar, const std::string& key, Extents Shapes::*at) {
  const auto is_named = [](const Repeated& r) { return r.form.second != Pattern::none; };
  const std::string scalar = key + "scalar";
  grammar.part(
      "[" + key + "<numbers>|" + scalar + "]",
      [=](const Shape& shape, Repeated& r) {
        if (!is_named(r) && !shape.has(scalar)) r.shapes.*at = shape.numbers(key);
      },
      [=](const Repeated& r) -> std::string {
        if (is_named(r)) return "";
        const Extents& extents = r.shapes.*at;
        return extents.empty() ? scalar : fmt::format("{}{}", key, fmt::join(extents, "."));
      });
}

ShapeGrammar<Repeated> grammar() {
  std::vector<std::pair<std::string, std::pair<Op, Pattern>>> forms;
  for (const Op op : broadcast::kOps) forms.push_back({std::string(name(op)), {op, Pattern::none}});
  forms.push_back({"bias", {Op::add, Pattern::bias}});
  forms.push_back({"channels", {Op::add, Pattern::channels}});
  forms.push_back({"outer", {Op::add, Pattern::outer}});
  const auto matrix = [](const Repeated& r) {
    return r.form.second == Pattern::bias || r.form.second == Pattern::outer;
  };
  const auto images = [](const Repeated& r) { return r.form.second == Pattern::channels; };
  ShapeGrammar<Repeated> result;
  result.one_of(&Repeated::form, std::move(forms));
  add_operand(result, "a", &Shapes::a);
  add_operand(result, "b", &Shapes::b);
  return result.number("rows", &Repeated::rows, 0, matrix)
      .number("cols", &Repeated::cols, 0, matrix)
      .number("n", &Repeated::n, 0, images)
      .number("c", &Repeated::c, 0, images)
      .number("hw", &Repeated::pixels, 0, images);
}

Op op_of(const Problem& problem) { return problem.parameters.as<Repeated>().form.first; }

Shapes shapes_of(const Repeated& r) {
  switch (r.form.second) {
  case Pattern::none: return r.shapes;
  case Pattern::bias: return {{r.rows, r.cols}, {r.cols}};
  case Pattern::channels: return {{r.n, r.c, r.pixels}, {r.c, 1}};
  case Pattern::outer: return {{r.rows, 1}, {r.cols}};
  }
  fail("no such pattern");
}

// Prepends ones to the shorter one.
Shapes of_one_rank(Shapes shapes) {
  Extents &a = shapes.a, &b = shapes.b;
  a.insert(a.begin(), b.size() > a.size() ? b.size() - a.size() : 0, 1);
  b.insert(b.begin(), a.size() - b.size(), 1);
  return shapes;
}

// NumPy's rule, implemented independently.
Extents shape_of_result(const Shapes& shapes) {
  auto [a, b] = of_one_rank(shapes);
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] == 1) a[d] = b[d];
  return a;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Repeated parameters = grammar().parse(shape);
  const Shapes shapes = shapes_of(parameters);
  const Extents out = shape_of_result(shapes);
  Problem result{dtype, shape.text(), broadcast::work(dtype, shapes.a, shapes.b),
                 static_cast<double>(test::element_count(out))};
  result.parameters = parameters;
  result.inputs = {{"a", dtype, shapes.a}, {"b", dtype, shapes.b}};
  result.inputs[1].by_row = shapes.b == out;
  result.outputs = {{"out", dtype, out}};
  result.outputs[0].derived = true;
  const Shapes alike = of_one_rank(shapes);
  result.calling = {
      std::string(name(op_of(result))),
      {{"rank", {std::ssize(out)}}, {"a_extents", alike.a, true}, {"b_extents", alike.b, true}}};
  for (const Tensor& input : result.inputs) // repetition is independent of size
    if (input.extents == out) result.outputs[0].may_be.push_back(input.name);
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, broadcast::Variant variant, Stream& stream) {
  const Problem& problem = call.problem();
  return broadcast::run<T>(op_of(problem), call.in<T>("a"), problem.inputs[0].extents,
                           call.in<T>("b"), problem.inputs[1].extents, call.out<T>("out"), variant,
                           stream);
};

vendor::BroadcastShapes vendor_shapes(const Problem& problem) {
  const Extents &a = problem.inputs[0].extents, &b = problem.inputs[1].extents;
  vendor::BroadcastShapes padded;
  padded.a.fill(1);
  padded.b.fill(1);
  std::copy(a.rbegin(), a.rend(), padded.a.rbegin());
  std::copy(b.rbegin(), b.rend(), padded.b.rbegin());
  return padded;
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Problem& problem = call.problem();
  vendor::broadcast(vendor, op_of(problem), problem.dtype, vendor_shapes(problem),
                    call.address("a"), call.address("b"), call.address("out"), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const Extents& out = problem.outputs[0].extents;
  return {{"out",
           {test::elementwise_oracle(
                op_of(problem), problem.dtype,
                test::repeated_oracle(inputs.at("a").values, problem.inputs[0].extents, out),
                test::repeated_oracle(inputs.at("b").values, problem.inputs[1].extents, out)),
            {}}}};
}

std::vector<std::string> with(Op op, const std::vector<Shapes>& each) {
  std::vector<std::string> shapes;
  for (const Shapes& operands : each)
    shapes.push_back(grammar().print({{op, Pattern::none}, operands}));
  return shapes;
}

// Rows longer and shorter than a pack, of odd and even lengths, with each operand repeated at each
// position.
std::vector<Shapes> patterns() {
  return {
      {{17, 192}, {192}},                 // bias
      {{33, 67}, {67}},                   // bias, rows not a multiple of a pack
      {{700, 3}, {3}},                    // bias, rows shorter than a pack
      {{67}, {33, 67}},                   // the first operand repeated
      {{2, 3, 16, 16}, {1, 3, 1, 1}},     // channels
      {{2, 5, 7, 9}, {5, 1, 1}},          // channels, odd
      {{2, 5, 1, 1}, {2, 5, 9, 11}},      // channels of each image, first operand
      {{29, 130}, {29, 1}},               // a number per row
      {{4099}, {}},                       // a scalar
      {{1, 1}, {23, 89}},                 // a scalar, first operand
      {{37, 1}, {41}},                    // outer product
      {{2, 1, 3, 1, 8}, {4, 1, 2, 8}},    // both repeated, rank 5
      {{3, 1, 5, 1, 2}, {3, 7, 1, 4, 2}}, // both repeated, short rows
      {{6, 1, 8}, {6, 7, 1}},             // both repeated, the second along the rows
      {{3, 1, 4, 5}, {2, 1, 5}},          // nothing merges
      {{13, 1, 101}, {13, 1, 101}},       // equal
  };
}

// Sums that fill the significand and are exact for every pair of elements.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Shapes& shapes : patterns()) {
    const std::int64_t a = test::element_count(shapes.a), b = test::element_count(shapes.b);
    test::FillPair fill = test::exact_elementwise(dtype, elementwise::Op::add, std::max(a, b));
    fill.a.resize(static_cast<std::size_t>(a));
    fill.b.resize(static_cast<std::size_t>(b));
    samples.push_back({fill.name,
                       with(Op::add, {shapes})[0],
                       {{"a", values(dtype, fill.a)}, {"b", values(dtype, fill.b)}}});
  }
  return samples;
}

// Each special value with each: an outer product.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<std::uint64_t> special;
  for (const test::SpecialValue& each : test::special_values(dtype)) special.push_back(each.bits);
  const std::int64_t count = std::ssize(special);
  std::vector<Sample> samples;
  for (const Op op : broadcast::kOps)
    samples.push_back({"special",
                       with(op, {{{count, 1}, {count}}})[0],
                       {{"a", bits(dtype, special)}, {"b", bits(dtype, special)}}});
  return samples;
}

std::vector<std::string> usual(Dtype) {
  std::vector<std::string> shapes;
  for (const Op op : broadcast::kOps)
    for (std::string& shape : with(op, patterns())) shapes.push_back(std::move(shape));
  return shapes;
}

// Rows around a pack and a warp, for each kind of repetition; around a tile of 256 threads with two
// packs each; and beyond one grid, which is one pass over rows of whole packs.
std::vector<std::string> sizes(Dtype dtype) {
  std::vector<Shapes> shapes;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 127, 257}) {
    shapes.push_back({{5, n}, {n}});
    shapes.push_back({{5, 1}, {5, n}});
    shapes.push_back({{3, n, 1}, {3, 1, n}});
  }
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype)), tile = 512 * pack;
  for (const std::int64_t n : {tile - 1, tile, tile + 1, 2 * tile + pack + 1})
    shapes.push_back({{n}, {1}});
  shapes.push_back({{2 * tile / 61 + 1, 61}, {61}});
  const DeviceProperties& device = device_properties();
  constexpr std::int64_t kColumns = 1021, kWholePacks = 1024;
  const std::int64_t resident =
      std::int64_t{device.sm_count} * device.max_threads_per_sm * 2 * pack;
  shapes.push_back({{resident / kColumns + 3, kColumns}, {kColumns}});
  shapes.push_back({{2 * resident / kWholePacks + 3, kWholePacks}, {kWholePacks}});
  return with(Op::sub, shapes);
}

} // namespace

Card broadcast_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, broadcast::kVariants, kRun);
  card.vendors = {[](const Problem& p) {
                    return names(vendor::broadcast_table, op_of(p), p.dtype, vendor_shapes(p));
                  },
                  run_vendor};
  card.vendors.on_host = always({"onednn", "thrust"});
  card.references = references;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = usual;
  card.sizes = sizes;
  card.misaligned = [](Dtype) {
    return with(Op::sub, {{{9, 64}, {64}}, {{64, 1}, {64, 33}}, {{2}, {2}}, {{3}, {}}});
  };
  card.empty = with(Op::add, {{{0}, {1}}, {{4, 0}, {1, 0}}, {{}, {3, 0, 2}}, {{0, 1}, {7}}});
  card.kernel_name = as_the_variant("broadcast");
  card.timed_on_host = {
      {"bias_rows128_cols1024", true}, {"channels_n2_c8_hw3136"}, {"outer_rows256_cols512"}};
  // At least 512 MiB of traffic, except for the first.
  card.timed_on_gpu = {{"bias_rows512_cols768"},
                       {"bias_rows65536_cols4096", true},
                       {"bias_rows1048577_cols197"},
                       {"channels_n64_c256_hw12544"},
                       {"outer_rows16384_cols16384"}};
  return card;
}

} // namespace kg::card
