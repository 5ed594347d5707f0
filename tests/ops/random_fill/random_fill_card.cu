// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from the words of a stream. A shape is uniform_n100, normal_n100 or
// bernoulli_n100, and names the stream (random_streams.h).
#include "ops/random_fill/random_fill.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/ops/random_streams.h"
#include "tests/oracle/tolerance.h"

namespace kg::card {
namespace {

using random_fill::Kind;

struct Form {
  Kind kind;
  Draws draws;
};
ShapeGrammar<Form> grammar() {
  return ShapeGrammar<Form>()
      .enumerator(&Form::kind, random_fill::kKinds)
      .nested(draws_grammar(), &Form::draws);
}
const Form& form_of(const Problem& problem) { return problem.parameters.as<Form>(); }

Problem problem(Dtype dtype, const Shape& shape) {
  const Form form = grammar().parse(shape);
  const double operations[] = {2, 5.5, 0};
  Problem result{dtype, shape.text(),
                 dispatch(dtype,
                          [&]<class T>() {
                            return random_fill::work(
                                random_fill::Problem<T>{.kind = form.kind, .n = form.draws.n});
                          }),
                 operations[static_cast<std::size_t>(form.kind)] *
                     static_cast<double>(form.draws.n)};
  result.parameters = form;
  result.outputs = {{"y", dtype, {form.draws.n}}};
  switch (form.kind) {
  case Kind::uniform: result.scalars = {{"low", 0}, {"high", 1}}; break;
  case Kind::normal: result.scalars = {{"mean", 0}, {"deviation", 1}}; break;
  case Kind::bernoulli: result.scalars = {{"p", 0.75}}; break;
  }
  result.calling = {std::string(name(form.kind)), integers_of(form.draws)};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, random_fill::Variant variant, Stream& stream) {
  const Form& form = form_of(call.problem());
  random_fill::Problem<T> p{.kind = form.kind,
                            .n = call.extent("y", 0),
                            .y = call.out<T>("y"),
                            .stream = form.draws.stream};
  switch (form.kind) {
  case Kind::uniform:
    p.low = call.scalar("low");
    p.high = call.scalar("high");
    break;
  case Kind::normal:
    p.mean = call.scalar("mean");
    p.deviation = call.scalar("deviation");
    break;
  case Kind::bernoulli: p.p = call.scalar("p"); break;
  }
  return random_fill::run(p, variant, stream);
};

double f32(double value) { return test::round_to(Dtype::f32, value); }

double unit(std::uint32_t word) { return f32(f32(word) * 0x1p-32 + 0x1p-33); }

// A number before it is rounded to the result's type: its value, and the tolerances of our kernels
// and of a library.
struct Drawn {
  double value, ours = 0, library = 0;
};

// A logarithm with 1 ulp error, a root, which halves it and rounds, a sine with 1 ulp (CUDA C++
// Programming Guide: logf, sinpif, cospif), and their product: 1 + 1 + 2 + 1 roundings of z, and
// one of the sum. cuRAND rounds 2 pi v, below 2 pi, twice, and its __sincosf has an error of 2^-20
// beyond pi (2^-21.2 below it).
Drawn normal(const RandomStream& stream, std::int64_t i, double mean, double deviation) {
  const std::int64_t pair = i / 2 * 2;
  const double angle = 2 * std::numbers::pi * unit(word_of(stream, pair + 1));
  const double length = std::sqrt(-2 * std::log(unit(word_of(stream, pair))));
  const double z = length * (i == pair ? std::sin(angle) : std::cos(angle));
  const double value = mean + deviation * z, u = unit_roundoff(Dtype::f32);
  const double ours = u * (6 * std::fabs(deviation * z) + std::fabs(value));
  return {value, ours, ours + deviation * length * (4 * std::numbers::pi * u + 0x1p-20)};
}

Drawn drawn(const Problem& problem, const Form& form, std::int64_t i) {
  const auto scalar = [&](const char* name) { return f32(problem.scalars.at(name)); };
  switch (form.kind) {
  case Kind::uniform: { // fmaf rounds once, including the range
    const double low = scalar("low"), range = f32(scalar("high") - low);
    const double value = low + range * unit(word_of(form.draws.stream, i));
    const double bound = unit_roundoff(Dtype::f32) * std::fabs(value);
    return {value, bound, bound};
  }
  case Kind::normal: return normal(form.draws.stream, i, scalar("mean"), scalar("deviation"));
  case Kind::bernoulli:
    return {word_of(form.draws.stream, i) < std::round(scalar("p") * 0x1p32) ? 1.0 : 0.0};
  }
  return {};
}

Reference drawn(const Problem& problem, std::int64_t first, std::int64_t count) {
  const Form& form = form_of(problem);
  Reference result;
  std::vector<double> ours, library;
  for (std::int64_t i = first; i < first + count; ++i) {
    const Drawn each = drawn(problem, form, i);
    result.value.push_back(each.value);
    const auto bound = [&](double computed) {
      return std::isfinite(each.value) && form.kind != Kind::bernoulli
                 ? test::stored_tolerance(problem.dtype, each.value, computed)
                 : 0;
    };
    ours.push_back(bound(each.ours));
    library.push_back(bound(each.library));
  }
  result.tolerance = [ours, library](std::string_view variant) {
    return variant.empty() ? library : ours;
  };
  return result;
}

References references(const Problem& problem, const Inputs&) {
  return {{"y", drawn(problem, 0, problem.outputs[0].size())}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values&) {
  return drawn(problem, first, count);
}

// Uniform numbers between 0 and powers of two, normal ones with deviation 0, all of bernoulli's.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto add = [&](Sample sample) {
    const Problem p = [&] {
      Problem result = problem(dtype, Shape::parse(sample.shape));
      for (const auto& [name, value] : sample.scalars) result.scalars[name] = value;
      return result;
    }();
    const References right = references(p, {});
    for (const double value : right.at("y").value)
      sample.expected["y"].push_back(test::round_to(dtype, f32(value)));
    samples.push_back(std::move(sample));
  };
  for (const char* const shape : {"uniform_n10243", "uniform_n3003_sub_o5", "uniform_n1003_late"})
    for (const double high : {1.0, 1024.0})
      add({.fill = "powers", .shape = shape, .scalars = {{"low", 0}, {"high", high}}});
  add({.fill = "mean",
       .shape = "normal_n10243",
       .scalars = {{"mean", 3}, {"deviation", 0}},
       .degenerate = test::Degenerate::constant});
  for (const double p : {0.25, 0.9})
    add({.fill = "words",
         .shape = "bernoulli_n10243_sub",
         .scalars = {{"p", p}},
         .degenerate = p < 0.5 ? test::Degenerate::sparse : test::Degenerate::no});
  for (const double p : {0.0, 1.0})
    add({.fill = "words",
         .shape = "bernoulli_n999",
         .scalars = {{"p", p}},
         .degenerate = p == 0 ? test::Degenerate::zero : test::Degenerate::constant});
  return samples;
}

std::vector<Sample> random_samples(Dtype) {
  return {{"uniform", "uniform_n5001", {}, {{"low", -3.5}, {"high", 0.1}}},
          {"uniform", "uniform_n5001_sub_o4", {}, {{"low", 2}, {"high", -1}}},
          {"normal", "normal_n5001", {}, {{"mean", 1}, {"deviation", 0.02}}},
          {"normal", "normal_n5001_sub_o12", {}, {{"mean", -4}, {"deviation", 30}}}};
}

std::vector<Sample> special_samples(Dtype) {
  std::vector<Sample> samples;
  for (const double special : {kNan, kInfinity, -kInfinity}) {
    samples.push_back({"special", "normal_n999", {}, {{"mean", special}}});
    samples.push_back({"special", "uniform_n999", {}, {{"high", special}}});
  }
  for (Sample& sample : samples) sample.may_be_vacuous = true;
  return samples;
}

} // namespace

Card random_fill_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, random_fill::kVariants, kRun);
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.usual = these({"uniform_n10243", "normal_n10244", "bernoulli_n10243", "uniform_n1003_late",
                      "normal_n3001_sub_o5", "bernoulli_n3001_sub_o8"});
  card.no_batches = "an element's number in the stream is its place";
  card.sizes = [](Dtype dtype) {
    const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype)), tile = 256 * pack;
    std::vector<std::string> shapes;
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, pack - 1, pack,
                                 pack + 1, std::int64_t{255}, std::int64_t{256}, std::int64_t{257},
                                 tile - 1, tile, tile + 1, 2 * tile + pack + 1})
      for (const char* const kind : {"uniform_n", "normal_n"})
        for (const char* const offset : {"", "_o2"})
          shapes.push_back(kind + std::to_string(n) + offset);
    return shapes;
  };
  card.misaligned = [](Dtype dtype) {
    return in_each_form({"uniform", "normal"}, short_lengths(dtype, 256));
  };
  card.empty = {"uniform_n0", "normal_n0", "bernoulli_n0"};
  card.refused_scalars = {{"deviation", {-1, kNan}}, {"p", {-0.1, 1.5, kNan}}};
  card.kernel_name = [](std::string_view variant, const Problem& problem, const Layout& layout) {
    const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
    const bool packs = variant == "vectorized" && place_of(layout, "y").offset % pack == 0 &&
                       form_of(problem).draws.stream.offset % 4 == 0;
    return std::vector<std::string>{packs ? "random_fill::vectorized" : "random_fill::naive"};
  };
  card.bit_difference_reason = "logf, sinpif, cospif, fused products";
  card.timed_on_host = {{"uniform_n65536", true}, {"normal_n65536"}, {"bernoulli_n65536"}};
  // 512 MiB of f32.
  card.timed_on_gpu = {{"uniform_n65536"},
                       {"uniform_n134217728", true},
                       {"normal_n134217728"},
                       {"bernoulli_n134217728"}};
  return card;
}

} // namespace kg::card
