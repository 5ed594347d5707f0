// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The norm of all gradients. A shape is p1000.37.4096: the sizes of the tensors; scaled: gradients
// contain a loss scale, which a number on the device undoes.
#include "ops/grad_norm/grad_norm.h"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/running_error.h"

namespace kg::card {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Gradients {
  Sizes sizes;
  bool scaled;
};
ShapeGrammar<Gradients> grammar() {
  return ShapeGrammar<Gradients>()
      .numbers("p", &Gradients::sizes)
      .flag("scaled", &Gradients::scaled);
}
const Gradients& gradients_of(const Problem& problem) { return problem.parameters.as<Gradients>(); }
std::int64_t elements_of(const Gradients& gradients) {
  return std::accumulate(gradients.sizes.begin(), gradients.sizes.end(), std::int64_t{0});
}
std::string gradient(std::size_t tensor) { return "gradient" + std::to_string(tensor); }

Problem problem(Dtype dtype, const Shape& shape) {
  const Gradients gradients = grammar().parse(shape);
  const Sizes& sizes = gradients.sizes;
  const bool scaled = gradients.scaled;
  const std::int64_t elements = elements_of(gradients);
  Problem result{dtype, shape.text(),
                 dispatch(dtype, [&]<class T>() { return grad_norm::work<T>(elements, scaled); }),
                 2 * static_cast<double>(elements)};
  result.parameters = gradients;
  result.scalars = {{"limit", 3}};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    result.inputs.push_back(
        {.name = gradient(i), .dtype = dtype, .extents = {sizes[i]}, .by_row = false});
  const auto number = [](const char* name, Dtype type) {
    return Tensor{.name = name, .dtype = type, .extents = {1}, .by_row = false, .derived = true};
  };
  if (scaled) {
    result.inputs.push_back(number("unscale", Dtype::f32));
    result.inputs.back().element = [](std::int64_t) {
      return test::encode(Dtype::f32, 1 / 1024.0);
    };
    result.inputs.back().optional = true;
  }
  result.outputs = {number("norm", Dtype::f32), number("scale", Dtype::f32),
                    number("found_inf", Dtype::i32)};
  result.calling = {(scaled ? "scaled" : "") + std::to_string(sizes.size()),
                    {{"sizes", sizes, true}}};
  return result;
}

template <class T>
grad_norm::Table<T> table_of(const Call& call, Stream& stream) {
  std::vector<grad_norm::Gradient<T>> gradients(gradients_of(call.problem()).sizes.size());
  for (std::size_t i = 0; i < gradients.size(); ++i)
    gradients[i] = {call.extent(gradient(i), 0), call.in<T>(gradient(i))};
  const std::span<const grad_norm::Gradient<T>> all = gradients;
  return grad_norm::make_table(
      all, {call.out<float>("norm"), call.out<float>("scale"), call.out<std::int32_t>("found_inf")},
      call.workspace(grad_norm::table_bytes(all)), stream);
}

constexpr auto kRun = []<class T>(const Call& call, grad_norm::Variant variant, Stream& stream) {
  const auto& table = call.once([&] { return table_of<T>(call, stream); });
  const bool scaled = gradients_of(call.problem()).scaled;
  return grad_norm::run(table, scaled ? call.in<float>("unscale") : nullptr,
                        static_cast<double>(call.scalar("limit")), variant, stream);
};

// All squares have one sign, so each rounding error is at most u times the sum, with at most kChain
// roundings per square. Underflow loses at most half the smallest subnormal per element.
References results(const Problem& problem, const Values& values) {
  double sum = 0;
  std::int64_t elements = 0;
  const Sizes& sizes = gradients_of(problem).sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    values(gradient(i)).each(sizes[i], [&](double g, std::int64_t times) {
      const bool overflows = std::isinf(test::round_to(Dtype::f32, g * g));
      sum += overflows ? kInfinity : static_cast<double>(times) * g * g;
    });
    elements += sizes[i];
  }
  const double lost = static_cast<double>(elements) * test::min_subnormal(Dtype::f32) / 2;
  const double chain = grad_norm::kChain * unit_roundoff(Dtype::f32);
  const test::Running squares{sum, std::isfinite(sum) ? chain * sum + lost : 0};
  const bool scaled = problem.inputs.size() > sizes.size();
  const double unscale = scaled ? values("unscale")(0) : 1;
  const auto stored = test::Running::stored;
  const test::Running norm = square_root(squares) * stored(std::fabs(unscale));
  test::Running clip =
      stored(problem.scalars.at("limit")) / test::Running{norm.value + 1e-6, norm.error};
  if (clip.value > 1) clip.value = 1;
  const test::Running scale = clip * stored(unscale);
  const auto within = [](const test::Running& number) {
    return Reference{{number.value}, [number](std::string_view) {
                       return std::vector<double>{std::isfinite(number.error) ? number.error : 0};
                     }};
  };
  const bool finite = std::isfinite(sum);
  Reference found{{finite ? 0.0 : 1.0}, {}};
  found.bits = {finite ? std::uint64_t{0} : std::uint64_t{1}};
  return {{"norm", within(norm)}, {"scale", within(scale)}, {"found_inf", std::move(found)}};
}

References references(const Problem& problem, const Inputs& inputs) {
  return results(problem, [&](std::string_view name) -> Elements {
    const std::vector<double>& of = inputs.find(name)->second.values;
    return [&of](std::int64_t i) { return of[static_cast<std::size_t>(i)]; };
  });
}

Reference elements(const Problem& problem, std::string_view output, std::int64_t, std::int64_t,
                   const Values& values) {
  return results(problem, values).find(output)->second;
}

// Sums of odd squares below 2^20, whose roots differ in f32; the limit is so large that nothing is
// clipped.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape : {"p10243", "p4096.4095.17.8192_scaled"}) {
    Sample sample{.fill = "integers", .shape = shape, .scalars = {{"limit", 1e6}}};
    const auto [sizes, scaled] = grammar().parse(shape);
    double sum = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<double> g = test::integers(dtype, sizes[i], 4, test::Tensor{i + 1}).values;
      for (double& each : g) {
        each = 2 * each + 1;
        sum += each * each;
      }
      sample.inputs[gradient(i)] = values(dtype, std::move(g));
    }
    const double unscale = scaled ? 0x1p-10 : 1;
    sample.expected = {{"norm", {test::round_to(Dtype::f32, std::sqrt(sum) * unscale)}},
                       {"scale", {unscale}},
                       {"found_inf", {0}}};
    sample.vacuous_outputs = {"found_inf"};
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const double largest = test::max_finite(dtype);
  for (const double special :
       {kNan, kInfinity, -kInfinity, largest, -largest, 0.0, -0.0, test::min_subnormal(dtype)})
    for (const std::size_t at : {0, 2500, 4100}) {
      Sample sample{.fill = "special", .shape = "p4103.5000", .may_be_vacuous = true};
      std::vector<double> g = test::normal(dtype, 4103, test::Tensor::a).values;
      g[at] = special;
      sample.inputs["gradient0"] = values(dtype, std::move(g));
      samples.push_back(std::move(sample));
    }
  samples.push_back(
      {.fill = "subnormals",
       .shape = "p5000",
       .inputs = {{"gradient0",
                   values(dtype, std::vector<double>(5000, test::min_subnormal(dtype)))}},
       .may_be_vacuous = true});
  return samples;
}

} // namespace

Card grad_norm_card() {
  Card card(grammar());
  card.problem = problem;
  run_by(card, grad_norm::kVariants, kRun);
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.random_samples = [](Dtype) {
    return std::vector<Sample>{
        {.fill = "normal, not clipped", .shape = "p10243.20000", .scalars = {{"limit", 1e6}}},
        {.fill = "normal, no limit", .shape = "p70000_scaled", .scalars = {{"limit", kInfinity}}},
        {.fill = "normal, scaled back and up",
         .shape = "p777.4096_scaled",
         .inputs = {{"unscale", values(Dtype::f32, {-8})}}}};
  };
  card.special_samples = special_samples;
  card.usual = these({"p4099.0.777.2", "p100.70000_scaled"});
  card.no_batches = "the only result is of all elements";
  card.sizes = [](Dtype) {
    std::string many = "p5";
    for (int i = 1; i < 99; ++i) many += ".5";
    std::vector<std::string> shapes = {many, "p4096.4096.4096.4096.4096", "p0.8193.0"};
    for (const int size : {1,   2,    3,    7,    8,    9,    31,    32,    33,    255,  256,
                           257, 1023, 1025, 4095, 4096, 4097, 16383, 16384, 16385, 32769})
      shapes.push_back("p" + std::to_string(size));
    return shapes;
  };
  card.misaligned = these({"p37.4101_scaled"});
  card.refused_scalars = {{"limit", {-1, kNan}}};
  card.empty = {"p0", "p0.0.0"};
  card.vacuous_outputs = [](const Problem& p) {
    return elements_of(gradients_of(p)) == 0 ? std::vector<std::string>{"scale"}
                                             : std::vector<std::string>();
  };
  card.kernels = [](std::string_view variant, const Problem& problem, const Layout&) {
    const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
    std::vector<std::vector<std::string>> kernels;
    if (elements_of(gradients_of(problem)) > 0)
      kernels.push_back({"grad_norm::sum_squares<",
                         variant == "naive" ? ", 1>" : ", " + std::to_string(pack) + ">"});
    kernels.push_back({"grad_norm::finish"});
    return kernels;
  };
  card.bound_on_host = card.bound_on_gpu = kg::Bound::memory;
  card.timed_on_host = {{"p65536.1024.65536.1024", true}, {"p262144.17_scaled"}};
  // A layer of Qwen2.5-0.5B, and a size beyond every cache.
  card.timed_on_gpu = {
      {"p802816.114688.114688.802816.4358144.4358144.4358144.896.128.128.896.896_scaled", true},
      {"p58720256"},
      {"p58720256.58720256.58720256_scaled"}};
  return card;
}

} // namespace kg::card
