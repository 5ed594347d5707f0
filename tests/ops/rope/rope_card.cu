// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rotary position embeddings. A shape is t40_h3_d64: tokens, heads, depth; r32 if fewer elements
// are rotated, interleaved, positions (a list of them), back (backward). The reference rotates by
// the cosines and sines that the kernel gets; their accuracy is the caller's responsibility.
#include "ops/rope/rope.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_attention.h"

namespace kg::card {
namespace {

constexpr double kBase = 10000;         // of the frequencies
constexpr std::int64_t kPositions = 37; // rows of the tables if there is a list

struct Rows {
  std::int64_t tokens, heads, depth, rotary;
  bool interleaved, list, back;

  std::int64_t positions() const { return list ? kPositions : tokens; }

  // For an element of x or y: its partner in a pair, or -1 if it is copied; the pair's column in
  // the tables; and whether it is the second element.
  struct Pair {
    std::int64_t partner, place;
    bool second;
  };
  Pair pair(std::int64_t element) const {
    const std::int64_t at = element % depth, half = rotary / 2;
    if (at >= rotary) return {-1, 0, false};
    const bool second = interleaved ? at % 2 == 1 : at >= half;
    const std::int64_t apart = interleaved ? 1 : half;
    return {element + (second ? -apart : apart), interleaved ? at / 2 : at % half, second};
  }
};

ShapeGrammar<Rows> grammar() {
  return ShapeGrammar<Rows>()
      .number("t", &Rows::tokens)
      .number("h", &Rows::heads)
      .number("d", &Rows::depth)
      .number("r", &Rows::rotary, &Rows::depth)
      .flag("interleaved", &Rows::interleaved)
      .flag("positions", &Rows::list)
      .flag("back", &Rows::back)
      .demand([](const Rows& r) -> std::string {
        if (r.rotary % 2 == 0 && r.rotary <= r.depth) return "";
        return "r, by default d, must be even and at most d";
      });
}
const Rows& rows_of(const Problem& problem) { return problem.parameters.as<Rows>(); }

std::int64_t usual_position(std::int64_t token) { return (token * 11 + 5) % kPositions; }

// Rounded to f32, as a caller computes it.
double table_value(const Rows& r, std::int64_t i, bool sine) {
  const std::int64_t half = r.rotary / 2;
  const auto frequency = static_cast<float>(
      std::pow(kBase, -2.0 * static_cast<double>(i % half) / static_cast<double>(r.rotary)));
  const double angle = static_cast<double>(i / half) * frequency;
  return static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
}

void draw(const Problem& problem, Inputs& inputs) {
  const Rows& r = rows_of(problem);
  for (const char* const name : {"cosine", "sine"}) {
    if (inputs.contains(name)) continue;
    std::vector<double> table;
    for (std::int64_t i = 0; i < r.positions() * r.rotary / 2; ++i)
      table.push_back(table_value(r, i, std::string_view(name) == "sine"));
    inputs[name] = values(Dtype::f32, std::move(table));
  }
  if (!r.list || inputs.contains("position")) return;
  std::vector<double> list;
  for (std::int64_t i = 0; i < r.tokens; ++i)
    list.push_back(static_cast<double>(usual_position(i)));
  inputs["position"] = values(Dtype::i32, std::move(list));
}

template <class T>
rope::Problem<T> described(const Rows& r) {
  return {.tokens = r.tokens,
          .heads = r.heads,
          .depth = r.depth,
          .rotary = r.rotary,
          .layout = r.interleaved ? rope::Layout::interleaved : rope::Layout::half_split,
          .direction = r.back ? rope::Direction::backward : rope::Direction::forward,
          .positions = r.positions()};
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Rows r = grammar().parse(shape);
  const Work work = dispatch(dtype, [&]<class T>() {
    rope::Problem<T> p = described<T>(r);
    std::int32_t position;
    if (r.list) p.position = &position;
    return rope::work(p);
  });
  const auto table = [&](const char* name, bool sine) {
    return Tensor{.name = name,
                  .dtype = Dtype::f32,
                  .extents = {r.positions() * (r.rotary / 2)},
                  .by_row = false,
                  .element = [r, sine](std::int64_t i) {
                    return test::encode(Dtype::f32, table_value(r, i, sine));
                  }};
  };
  Problem result{dtype, shape.text(), work,
                 6.0 * static_cast<double>(r.tokens * r.heads * (r.rotary / 2))};
  result.parameters = r;
  Tensor rows{.name = "x",
              .dtype = dtype,
              .extents = {r.tokens, r.heads, r.depth},
              .by_row = false,
              .strided = true};
  result.inputs = {rows};
  rows.name = "y";
  rows.may_be = {"x"};
  result.outputs = {rows};
  result.inputs.push_back(table("cosine", false));
  result.inputs.push_back(table("sine", true));
  if (r.list)
    result.inputs.push_back(
        {.name = "position",
         .dtype = Dtype::i32,
         .extents = {r.tokens},
         .by_row = false,
         .element = [](std::int64_t i) { return static_cast<std::uint64_t>(usual_position(i)); }});
  for (Tensor& input : result.inputs) input.derived = input.name != "x";
  result.gaps = true;
  result.pitched = true;
  result.draw = draw;
  std::string words = r.interleaved ? "interleaved" : "half_split";
  if (r.list) words += "_positions";
  if (r.back) words += "_back";
  result.calling = {words,
                    {{"tokens", {r.tokens}},
                     {"heads", {r.heads}},
                     {"depth", {r.depth}},
                     {"rotary", {r.rotary}},
                     {"positions", {r.positions()}}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, rope::Variant variant, Stream& stream) {
  const Rows& r = rows_of(call.problem());
  rope::Problem<T> p = described<T>(r);
  p.tokens = call.extent("x", 0);
  p.heads = call.extent("x", 1);
  p.depth = call.extent("x", 2);
  p.x = call.in<T>("x");
  p.y = call.out<T>("y");
  p.x_stride = {call.stride("x", 0), call.stride("x", 1)};
  p.y_stride = {call.stride("y", 0), call.stride("y", 1)};
  p.cosine = call.in<float>("cosine");
  p.sine = call.in<float>("sine");
  if (r.list) {
    p.position = call.in<std::int32_t>("position");
    require(p.position || p.tokens * p.heads * p.depth == 0, "rope's card: position is null");
  }
  return rope::run(p, variant, stream);
};

// get(tensor, index) returns an element.
template <class Get>
Reference turned(const Problem& problem, std::int64_t first, std::int64_t count, Get get) {
  const Rows& r = rows_of(problem);
  Reference result;
  std::vector<double> bounds;
  for (std::int64_t i = first; i < first + count; ++i) {
    const Rows::Pair pair = r.pair(i);
    const double x = get("x", i);
    result.value.push_back(x);
    bounds.push_back(0);
    if (pair.partner < 0) continue;
    const std::int64_t token = i / r.depth / r.heads;
    const std::int64_t position =
        r.list ? static_cast<std::int64_t>(get("position", token)) : token;
    const std::int64_t at = position * (r.rotary / 2) + pair.place;
    const double c = get("cosine", at);
    const double s = (pair.second != r.back ? 1 : -1) * get("sine", at);
    const double own = x * c, other = get("x", pair.partner) * s;
    result.value.back() = own + other;
    if (std::isfinite(own + other))
      bounds.back() = test::stored_tolerance(
          problem.dtype, own + other, test::rope_turn_tolerance(std::fabs(own) + std::fabs(other)));
  }
  result.tolerance = [bounds](std::string_view) { return bounds; };
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  return {
      {"y", turned(problem, 0, problem.outputs[0].size(), [&](const char* name, std::int64_t i) {
         return inputs.find(name)->second.values[static_cast<std::size_t>(i)];
       })}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  std::map<std::string_view, Elements> tensors;
  for (const Tensor& tensor : problem.inputs) tensors[tensor.name] = values(tensor.name);
  return turned(problem, first, count,
                [&](const char* name, std::int64_t i) { return tensors.at(name)(i); });
}

// Rotations by multiples of 90 degrees only move elements and signs.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape : {"t20_h3_d64", "t33_h2_d40_r24_interleaved_positions",
                                  "t20_h3_d128_r64_back", "t17_h1_d80_interleaved_back"}) {
    const Problem p = problem(dtype, Shape::parse(shape));
    const Rows& r = rows_of(p);
    Sample sample{.fill = "right angles", .shape = shape};
    const std::vector<double> x = test::normal(dtype, p.outputs[0].size(), test::Tensor::a).values;
    std::vector<double> cosine, sine;
    for (std::int64_t i = 0; i < r.positions() * r.rotary / 2; ++i) {
      const std::int64_t quarters = (i * 7 + i / (r.rotary / 2)) % 4;
      cosine.push_back(quarters == 0 ? 1 : quarters == 2 ? -1 : 0);
      sine.push_back(quarters == 1 ? 1 : quarters == 3 ? -1 : 0);
    }
    sample.inputs = {{"x", values(dtype, x)},
                     {"cosine", values(Dtype::f32, cosine)},
                     {"sine", values(Dtype::f32, sine)}};
    Inputs inputs = sample.inputs;
    draw(p, inputs);
    sample.expected["y"] = references(p, inputs).at("y").value;
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape : {"t9_h2_d64", "t9_h2_d64_r32_interleaved", "t9_h2_d40_r24_back"}) {
    const Problem p = problem(dtype, Shape::parse(shape));
    std::vector<double> x = test::normal(dtype, p.outputs[0].size(), test::Tensor::a).values;
    const double largest = test::max_finite(dtype);
    std::size_t at = 3;
    for (const double special :
         {kNan, kInfinity, -kInfinity, largest, -largest, 0.0, -0.0, test::min_subnormal(dtype)}) {
      x[at] = special;
      at += 77;
    }
    samples.push_back({.fill = "special", .shape = shape, .inputs = {{"x", values(dtype, x)}}});
  }
  return samples;
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  const Rows& r = rows_of(problem);
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  const std::int64_t pairs = r.interleaved ? pack / 2 : pack;
  bool aligned = r.rotary / 2 % pairs == 0 && (r.depth - r.rotary) % pack == 0;
  for (const char* const name : {"x", "y"}) {
    const test::Strided rows = strided(problem.tensor(name), layout);
    aligned = aligned && rows.offset % pack == 0 &&
              (r.tokens == 1 || rows.strides[0] % pack == 0) &&
              (r.heads == 1 || rows.strides[1] % pack == 0);
  }
  for (const char* const name : {"cosine", "sine"})
    aligned = aligned && place_of(layout, name).offset % pairs == 0;
  const bool packs = variant == "vectorized" && aligned;
  return {"rope::turn<", ", " + std::to_string(packs ? pairs : 1) + ">"};
}

} // namespace

Card rope_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, rope::kVariants, kRun);
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.random_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const char* const shape :
         {"t50_h3_d64", "t50_h3_d64_interleaved", "t41_h2_d128_r64_positions",
          "t41_h2_d96_r32_interleaved_positions_back", "t300_h1_d16_back"})
      samples.push_back({.fill = "normal", .shape = shape});
    return samples;
  };
  card.special_samples = special_samples;
  card.usual = these({"t21_h3_d64", "t13_h5_d80_r48_interleaved", "t19_h2_d30_r20_positions",
                      "t7_h3_d33_r10_interleaved_back"});
  // Without a list, the positions are the row indices.
  card.batches = these({"t*_h3_d64_positions", "t*_h2_d30_r20_positions"});
  card.sizes = [](Dtype) {
    std::vector<std::string> shapes;
    for (const int depth : {2, 4, 6, 8, 14, 16, 18, 30, 32, 34, 254, 256, 258, 1024})
      for (const char* const layout : {"", "_interleaved"})
        shapes.push_back("t5_h3_d" + std::to_string(depth) + layout);
    for (const char* const shape :
         {"t1_h1_d64", "t257_h1_d8", "t1_h300_d8", "t6_h2_d9_r8", "t6_h2_d9_r8_interleaved",
          "t6_h2_d64_r0", "t6_h2_d7_r2_interleaved", "t6_h2_d8_r2"})
      shapes.push_back(shape);
    return shapes;
  };
  card.misaligned = these({"t5_h2_d64", "t5_h2_d32_interleaved", "t5_h2_d48_r32"});
  card.pitches = these({"t3_h2_d64", "t3_h2_d64_interleaved", "t3_h2_d70_r64",
                        "t3_h2_d68_r64_interleaved", "t3_h2_d65_r64", "t3_h2_d71_r64_interleaved",
                        "t3_h2_d62", "t3_h2_d60", "t3_h1_d64", "t1_h3_d64"});
  card.empty = {"t0_h3_d8", "t3_h0_d8", "t3_h2_d0"};
  card.large_strides = these({"t2_h1_d64", "t1_h2_d30_interleaved"});
  card.refuses_overlap = false; // one tensor's rows may lie in the other's gaps
  card.kernel_name = kernel_name;
  card.bound_on_host = card.bound_on_gpu = kg::Bound::memory;
  card.timed_on_host = {{"t512_h8_d64", true}, {"t256_h8_d128_interleaved"}};
  // Llama-3-8B, Qwen2.5-0.5B, GPT-J, half of the elements as in GPT-NeoX, and a gradient.
  card.timed_on_gpu = {{"t8192_h32_d128", true},
                       {"t32768_h14_d64"},
                       {"t8192_h16_d256_r64_interleaved"},
                       {"t8192_h64_d96_r24"},
                       {"t8192_h32_d128_positions_back"}};
  return card;
}

} // namespace kg::card
