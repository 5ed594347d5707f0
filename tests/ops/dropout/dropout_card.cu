// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Dropout; its gradient is the same call. The stream determines the dropped elements and the
// rounding is declared, so each result has a single correct value. Libraries use other streams, so
// none is compared. A shape is n100, n100_sub_o5 or n100_late (random_streams.h).
#include "ops/dropout/dropout.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/ops/random_streams.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

constexpr double kDropped = 0.3; // unless a sample sets it

bool is_kept(const RandomStream& stream, std::int64_t i, double p) {
  return word_of(stream, i) >= std::round(p * 0x1p32);
}
const RandomStream& stream_of(const Problem& problem) {
  return problem.parameters.as<Draws>().stream;
}

bool drops_all(const Draws& draws, double p) {
  for (std::int64_t i = 0; i < draws.n; ++i)
    if (is_kept(draws.stream, i, p)) return false;
  return true;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Draws draws = draws_grammar().parse(shape);
  const std::int64_t n = draws.n;
  Problem result{
      dtype, shape.text(),
      dispatch(dtype, [&]<class T>() { return dropout::work(dropout::Problem<T>{.n = n}); }),
      static_cast<double>(n)};
  result.parameters = draws;
  result.inputs = {{"x", dtype, {n}}};
  result.outputs = {{"y", dtype, {n}, true, {"x"}}};
  result.scalars = {{"p", kDropped}};
  result.calling = {"", integers_of(draws)};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, dropout::Variant variant, Stream& stream) {
  return dropout::run(dropout::Problem<T>{.n = call.extent("x", 0),
                                          .x = call.in<T>("x"),
                                          .y = call.out<T>("y"),
                                          .p = call.scalar("p"),
                                          .stream = stream_of(call.problem())},
                      variant, stream);
};

References references(const Problem& problem, const Inputs& inputs) {
  const RandomStream& stream = stream_of(problem);
  const double p = static_cast<float>(problem.scalars.at("p"));
  const double scale = test::round_to(Dtype::f32, 1 / (1 - p));
  Reference result;
  std::int64_t i = problem.first_row;
  for (const double x : inputs.at("x").values) {
    const bool kept = is_kept(stream, i++, p);
    // Two 24-bit significands have an exact product.
    result.value.push_back(
        kept ? test::round_to(problem.dtype, test::round_to(Dtype::f32, x * scale)) : 0);
  }
  result.holds_zeros = true;
  return {{"y", std::move(result)}};
}

Sample integers(Dtype dtype, const std::string& shape, double p) {
  const Draws draws = draws_grammar().parse(shape);
  return {
      .fill = "integers",
      .shape = shape,
      .inputs = {{"x", values(dtype, test::integers(dtype, draws.n, 100, test::Tensor::a).values)}},
      .scalars = {{"p", p}},
      .degenerate = drops_all(draws, p) ? test::Degenerate::zero : test::Degenerate::no};
}

} // namespace

Card dropout_card() {
  Card card(draws_grammar());
  card.problem = problem;
  run_by(card, dropout::kVariants, kRun);
  card.references = references;
  card.exact = true;
  // Factors of 1, 2 and 4, and the largest one.
  card.exact_samples = [](Dtype dtype) {
    std::vector<Sample> samples;
    for (const double p : {0.0, 0.5, 0.75, 1 - 0x1p-24})
      samples.push_back(integers(dtype, "n" + std::to_string(kOdd), p));
    samples.push_back(integers(dtype, "n1001_sub_o3", 0.5));
    return samples;
  };
  card.random_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const double p : {1e-3, 0.1, 0.9})
      samples.push_back({"normal", "n" + std::to_string(kOdd), {}, {{"p", p}}});
    return samples;
  };
  // Each special value several times, kept and dropped.
  card.special_samples = [](Dtype dtype) {
    std::vector<std::uint64_t> patterns;
    for (int i = 0; i < 8; ++i)
      for (const test::SpecialValue& special : test::special_values(dtype))
        patterns.push_back(special.bits);
    const std::string shape = "n" + std::to_string(patterns.size());
    return std::vector<Sample>{{"special", shape, {{"x", bits(dtype, patterns)}}}};
  };
  card.usual = these({"n" + std::to_string(kOdd), "n5003_sub_o8", "n3001_o5", "n1003_late"});
  card.no_batches = "an element is dropped by its place";
  card.sizes = [](Dtype dtype) {
    const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(dtype)), tile = 512 * pack;
    std::vector<std::string> shapes;
    for (const std::int64_t n :
         {std::int64_t{1}, std::int64_t{3}, pack - 1, pack, pack + 1, std::int64_t{255},
          std::int64_t{256}, std::int64_t{257}, 256 * pack - 1, 256 * pack, 256 * pack + 1,
          tile - 1, tile, tile + 1, 2 * tile, 3 * tile + pack + 1})
      for (const char* const offset : {"", "_o2"})
        shapes.push_back("n" + std::to_string(n) + offset);
    return shapes;
  };
  card.misaligned = [](Dtype dtype) { return short_lengths(dtype, 512); };
  card.empty = {"n0"};
  card.degenerate = [](const Problem& p) {
    return drops_all(p.parameters.as<Draws>(), kDropped) ? test::Degenerate::zero
                                                         : test::Degenerate::no;
  };
  card.refused_scalars = {{"p", {-0.1, 1, 2, kInfinity, kNan}}};
  card.kernel_name = [](std::string_view variant, const Problem& problem, const Layout& layout) {
    const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
    const bool packs = variant == "vectorized" && place_of(layout, "x").offset % pack == 0 &&
                       place_of(layout, "y").offset % pack == 0 &&
                       stream_of(problem).offset % 4 == 0;
    return std::vector<std::string>{packs ? "dropout::vectorized" : "dropout::naive"};
  };
  card.timed_on_host = {{"n65536", true}, {"n262144"}};
  // Activations of GPT-2 (8 x 1024 tokens of 768) and a size that no cache holds: at least 512 MiB
  // in f32.
  card.timed_on_gpu = {{"n65536"}, {"n6291456"}, {"n67108864", true}};
  return card;
}

} // namespace kg::card
