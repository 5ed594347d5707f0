// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Element-wise losses and their gradients; no library has them. A shape is huber_n100, or
// huber_back_n100 for the gradient.
#include "ops/pointwise_loss/pointwise_loss.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_pointwise_loss.h"

namespace kg::card {
namespace {

using pointwise_loss::Direction;
using pointwise_loss::Kind;

constexpr double kDelta = 0.75; // of huber: within the range of normal data

struct Form {
  Kind kind;
  bool back;
  std::int64_t n;
};
ShapeGrammar<Form> grammar() {
  return ShapeGrammar<Form>()
      .enumerator(&Form::kind, pointwise_loss::kKinds)
      .flag("back", &Form::back)
      .number("n", &Form::n);
}
const Form& form_of(const Problem& problem) { return problem.parameters.as<Form>(); }

// Each loss and its gradient.
std::vector<std::string> of_each(const std::vector<std::string>& lengths) {
  std::vector<std::string> shapes = in_each_form({"mse", "huber", "bce", "kl"}, lengths);
  for (const std::string& shape :
       in_each_form({"mse_back", "huber_back", "bce_back", "kl_back"}, lengths))
    shapes.push_back(shape);
  return shapes;
}

template <class T>
pointwise_loss::Problem<T> described(const Form& form) {
  return {.kind = form.kind,
          .direction = form.back ? Direction::backward : Direction::forward,
          .n = form.n};
}

// Targets of bce and kl are probabilities.
double usual_target(const Form& form, Dtype dtype, std::int64_t i) {
  const test::Random random(test::seed(), 1 << 13);
  const auto index = static_cast<std::uint64_t>(i);
  const bool is_probability = form.kind == Kind::bce || form.kind == Kind::kl;
  return test::round_to(dtype, is_probability ? random.positive(index) : random.normal(index));
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Form form = grammar().parse(shape);
  const double operations[][2] = {{2, 3}, {3, 2}, {5, 5}, {3, 1}};
  const auto kind = static_cast<std::size_t>(form.kind);
  Problem result{
      dtype, shape.text(),
      dispatch(dtype, [&]<class T>() { return pointwise_loss::work(described<T>(form)); }),
      operations[kind][form.back ? 1 : 0] * static_cast<double>(form.n)};
  result.parameters = form;
  result.inputs = {
      {"x", dtype, {form.n}},
      {.name = "target",
       .dtype = dtype,
       .extents = {form.n},
       .element = [form, dtype](
                      std::int64_t i) { return test::encode(dtype, usual_target(form, dtype, i)); },
       .period = kUsualPeriod}};
  if (form.back) result.inputs.push_back({"dloss", dtype, {form.n}});
  std::vector<std::string> inputs;
  for (const Tensor& input : result.inputs) inputs.push_back(input.name);
  result.outputs = {{form.back ? "dx" : "loss", dtype, {form.n}, true, inputs}};
  if (form.kind == Kind::huber) result.scalars = {{"delta", kDelta}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, pointwise_loss::Variant variant,
                                  Stream& stream) {
  const Form& form = form_of(call.problem());
  pointwise_loss::Problem<T> p = described<T>(form);
  p.n = call.extent("x", 0);
  p.x = call.in<T>("x");
  p.target = call.in<T>("target");
  if (form.back) p.loss_gradient = call.in<T>("dloss");
  p.result = call.out<T>(form.back ? "dx" : "loss");
  if (form.kind == Kind::huber) p.delta = call.scalar("delta");
  return pointwise_loss::run(p, variant, stream);
};

References references(const Problem& problem, const Inputs& inputs) {
  const Form& form = form_of(problem);
  const double delta = form.kind == Kind::huber
                           ? static_cast<double>(static_cast<float>(problem.scalars.at("delta")))
                           : 0;
  const std::vector<double>& x = inputs.at("x").values;
  Reference result;
  std::vector<double> bounds;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = inputs.at("target").values[i];
    const test::LossOracle oracle =
        form.back ? test::slope_oracle(form.kind, x[i], t, delta, inputs.at("dloss").values[i])
                  : test::loss_oracle(form.kind, x[i], t, delta);
    // Results beyond the type's largest number are infinities.
    const double stored = test::round_to(problem.dtype, oracle.value);
    result.value.push_back(std::isfinite(stored) ? oracle.value : stored);
    bounds.push_back(std::isfinite(stored)
                         ? test::stored_tolerance(problem.dtype, oracle.value, oracle.tolerance)
                         : 0);
  }
  result.tolerance = [bounds](std::string_view) { return bounds; };
  return {{problem.outputs[0].name, std::move(result)}};
}

// Integers whose losses are exact in every type; for bce so large that the exponential vanishes,
// for kl with targets whose logarithm is 0.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const test::Random random(test::seed(), 37);
  for (const std::string& shape : of_each({"n" + std::to_string(kOdd)})) {
    const Form form = grammar().parse(shape);
    std::vector<double> x, t, dloss, expected;
    for (std::int64_t i = 0; i < kOdd; ++i) {
      const auto index = static_cast<std::uint64_t>(i);
      const auto small = static_cast<double>(random.integer(2 * index, -7, 7));
      const auto other = static_cast<double>(random.integer(2 * index + 1, 0, 7));
      dloss.push_back(static_cast<double>(random.integer(2 * index, 1, 3)));
      switch (form.kind) {
      case Kind::mse:
      case Kind::huber:
        x.push_back(small);
        t.push_back(other);
        break;
      case Kind::bce:
        x.push_back((small < 0 ? -1 : 1) * (112 + 16 * other));
        t.push_back(static_cast<double>(random.integer(2 * index, 0, 4)) / 4);
        break;
      case Kind::kl:
        x.push_back(small + 8);
        t.push_back(other == 0 ? 0 : form.back ? other / 8 : 1);
        break;
      }
      const double vanished = form.kind == Kind::bce ? (x[index] > 0 ? 1 : 0) : 0;
      double value = form.back
                         ? test::slope_oracle(form.kind, x[index], t[index], 2, dloss[index]).value
                         : test::loss_oracle(form.kind, x[index], t[index], 2).value;
      if (form.kind == Kind::bce && form.back) value = (vanished - t[index]) * dloss[index];
      expected.push_back(test::round_to(
          dtype, form.kind == Kind::bce && !form.back ? x[index] * (vanished - t[index]) : value));
    }
    Sample sample{"integers",
                  shape,
                  {{"x", values(dtype, std::move(x))}, {"target", values(dtype, std::move(t))}}};
    if (form.back) sample.inputs["dloss"] = values(dtype, std::move(dloss));
    if (form.kind == Kind::huber) sample.scalars = {{"delta", 2}};
    sample.expected[form.back ? "dx" : "loss"] = std::move(expected);
    sample.zero = test::SignedZero::ignored;
    samples.push_back(std::move(sample));
  }
  return samples;
}

// Arguments far apart: both tails of the sigmoid, and the linear parts of huber.
std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string& shape : of_each({"n" + std::to_string(kOdd)}))
    samples.push_back(
        {"outliers",
         shape,
         {{"x", values(dtype, test::outliers(dtype, kOdd, 3, 16, test::Tensor::c).values)}}});
  return samples;
}

// Each special x with each special target, and a separate dloss.
std::vector<Sample> special_samples(Dtype dtype) {
  const double large = test::max_finite(dtype) / 4;
  std::vector<double> x, t, dloss;
  for (const double first : {kNan, kInfinity, -kInfinity, 0.0, -0.0, 1.0, -90.0, 90.0, large,
                             -large, test::min_subnormal(dtype)})
    for (const double second : {kNan, kInfinity, -kInfinity, 0.0, -0.0, 1.0, 0.25, large})
      for (const double third : {1.0, -0.5, kInfinity, kNan}) {
        x.push_back(first);
        t.push_back(second);
        dloss.push_back(third);
      }
  std::vector<Sample> samples;
  for (const std::string& shape : of_each({"n" + std::to_string(x.size())})) {
    Sample sample{"special", shape, {{"x", values(dtype, x)}, {"target", values(dtype, t)}}};
    if (grammar().parse(shape).back) sample.inputs["dloss"] = values(dtype, dloss);
    sample.may_be_vacuous = true; // most results are NaN or infinite
    samples.push_back(std::move(sample));
  }
  return samples;
}

} // namespace

Card pointwise_loss_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms = {"mse", "huber", "bce", "kl"};
  run_by(card, pointwise_loss::kVariants, kRun);
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) { return of_each({"n" + std::to_string(kOdd)}); };
  card.batches = [](Dtype) { return of_each({"n41*"}); };
  card.sizes = [](Dtype dtype) {
    std::vector<std::string> shapes =
        in_each_form({"mse", "bce_back"}, lengths_around_tiles(dtype, 512));
    for (const std::string& shape : of_each({"n1", "n3", "n4099"})) shapes.push_back(shape);
    return shapes;
  };
  card.misaligned = [](Dtype dtype) {
    return in_each_form({"huber", "mse_back"}, short_lengths(dtype, 512));
  };
  card.empty = of_each({"n0"});
  card.refused_scalars = {{"delta", {0, -1, kInfinity, kNan}}};
  card.kernel_name = packs_where_aligned("pointwise_loss");
  card.bit_difference_reason = "expf, logf, log1pf, fused products";
  // Frameworks' bce suffers from cancellation, unlike ours; when timed, they only must have worked.
  card.vendors.slack_when_timed = 64;
  card.timed_on_host = {{"mse_n65536", true}, {"bce_n65536"}, {"huber_back_n65536"}};
  // At least 768 MiB in f32 at 2^26.
  card.timed_on_gpu = {{"mse_n65536"},        {"mse_n67108864", true}, {"huber_n67108864"},
                       {"bce_n67108864"},     {"kl_n67108864"},        {"mse_back_n67108864"},
                       {"bce_back_n67108864"}};
  return card;
}

} // namespace kg::card
