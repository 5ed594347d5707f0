// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of cross entropy (tests/ops/cross_entropy/objective.h defines the shapes). Tolerances
// and their derivation: tests/oracle/tolerance_cross_entropy.h. For timing, lse is the expected one
// of normal logits; the reference uses it unchanged, like the kernel.
#include "ops/cross_entropy_backward/cross_entropy_backward.h"

#include <cmath>
#include <memory>

#include "tests/contract/rows.h"
#include "tests/ops/cross_entropy/objective.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_cross_entropy.h"

namespace kg::card {
namespace {

using namespace cross_entropy_cases;

// The stored results of a forward pass on these logits.
void draw(const Problem& problem, Inputs& inputs) {
  if (inputs.contains("log_sum")) return;
  const Form& form = form_of(problem);
  if (!inputs.contains("x"))
    inputs["x"] =
        values(problem.dtype,
               test::normal(problem.dtype, form.rows * form.classes, test::Tensor::a).values);
  std::vector<double> log_sum =
      test::cross_entropy_oracle({.rows = form.rows, .classes = form.classes},
                                 inputs.at("x").values,
                                 std::vector<std::int64_t>(static_cast<std::size_t>(form.rows)))
          .log_sum;
  for (double& each : log_sum) each = test::round_to(Dtype::f32, each);
  inputs["log_sum"] = values(Dtype::f32, std::move(log_sum));
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Form form = grammar().parse(shape);
  const Work work = dispatch(dtype, [&]<class T>() {
    cross_entropy_backward::Problem<T> p{.rows = form.rows, .classes = form.classes};
    if (form.wide) p.objective.target = static_cast<const std::int64_t*>(nullptr);
    return cross_entropy_backward::work(p);
  });
  Problem result{dtype, shape.text(), work, 5.0 * static_cast<double>(form.rows * form.classes)};
  result.inputs = {{"x", dtype, {form.rows, form.classes}},
                   target_of(form),
                   {.name = "log_sum",
                    .dtype = Dtype::f32,
                    .extents = {form.rows},
                    .element =
                        [classes = form.classes](std::int64_t) {
                          const auto usual = std::log(static_cast<double>(classes)) + 0.5;
                          return test::encode(Dtype::f32, static_cast<float>(usual));
                        }},
                   {"dloss", Dtype::f32, {form.rows}}};
  result.outputs = {{"dx", dtype, {form.rows, form.classes}, true, {"x"}}};
  complete(result, form);
  result.draw = draw;
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, cross_entropy_backward::Variant variant,
                                  Stream& stream) {
  return cross_entropy_backward::run<T>({.rows = call.extent("x", 0),
                                         .classes = call.extent("x", 1),
                                         .logits = call.in<T>("x"),
                                         .logits_stride = call.leading("x"),
                                         .objective = objective_of(call),
                                         .log_sum = call.in<float>("log_sum"),
                                         .loss_gradient = call.in<float>("dloss"),
                                         .gradient = call.out<T>("dx"),
                                         .gradient_stride = call.leading("dx")},
                                        variant, stream);
};

References references(const Problem& problem, const Inputs& inputs) {
  const test::CrossEntropyProblem p = oracle_problem(problem, rows_of(problem));
  const std::vector<std::int64_t> target = targets_in(inputs.at("target"));
  const auto oracle = std::make_shared<test::CrossEntropyBackwardOracle>(
      test::cross_entropy_backward_oracle(p, inputs.at("x").values, target,
                                          inputs.at("log_sum").values, inputs.at("dloss").values));
  return {{"dx",
           {.value = oracle->value,
            .tolerance =
                [=, dtype = problem.dtype](std::string_view) {
                  return test::cross_entropy_backward_tolerances(*oracle, dtype);
                },
            .holds_zeros = std::find(target.begin(), target.end(), kIgnored) != target.end()}}};
}

// Each logit is lse, or so far below that its exponential is 0, not 1; factors are small integers.
Sample ones_and_zeros(Dtype dtype, const std::string& words, std::int64_t rows,
                      std::int64_t classes) {
  constexpr double kHalf = 0.5;
  Sample sample{.fill = "ones and zeros", .shape = rows_cols(rows, classes) + words};
  const Form form = grammar().parse(sample.shape);
  const double smoothing = form.smooth ? kHalf : 0, z = form.z ? kHalf : 0;
  sample.scalars = {{"label_smoothing", smoothing}, {"z_loss", z}};
  const test::Random random(test::seed(), 31);
  std::vector<double> x, log_sums, dlosses, dx;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto of_row = static_cast<std::uint64_t>(rows * classes + 2 * i);
    const auto log_sum = static_cast<double>(random.integer(of_row, 1, 20));
    const auto dloss = static_cast<double>(random.integer(of_row + 1, 1, 9));
    const std::int64_t target = usual_target(form, i);
    for (std::int64_t j = 0; j < classes; ++j) {
      const bool one = random.chance(static_cast<std::uint64_t>(i * classes + j), 0.5);
      x.push_back(one ? log_sum : -200);
      const double weight =
          smoothing / static_cast<double>(classes) + (j == target ? 1 - smoothing : 0);
      const double probability = one ? 1 + 2 * z * log_sum : 0;
      dx.push_back(target == kIgnored ? 0 : test::round_to(dtype, dloss * (probability - weight)));
    }
    log_sums.push_back(log_sum);
    dlosses.push_back(dloss);
  }
  sample.inputs = {{"x", values(dtype, std::move(x))},
                   {"log_sum", values(Dtype::f32, std::move(log_sums))},
                   {"dloss", values(Dtype::f32, std::move(dlosses))}};
  sample.expected["dx"] = std::move(dx);
  return sample;
}

std::vector<Sample> exact_samples(Dtype dtype) {
  return {ones_and_zeros(dtype, "", 40, 64),
          ones_and_zeros(dtype, "_z_i64", 30, 1000),
          ones_and_zeros(dtype, "_ignored", 31, 2051),
          ones_and_zeros(dtype, "", 2, 50257),
          ones_and_zeros(dtype, "_smooth_z", 33, 64),
          ones_and_zeros(dtype, "_smooth_ignored_i64", 21, 1024)};
}

std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape : {"rows30_cols300_smooth_z", "rows6_cols2100_i64"}) {
    const Form form = grammar().parse(shape);
    auto x = test::outliers(dtype, form.rows * form.classes, 7, 4, test::Tensor::a).values;
    std::vector<double> dloss; // large, so that few results are subnormal in f16
    for (std::int64_t i = 0; i < form.rows; ++i) dloss.push_back(16 + static_cast<double>(i) / 8);
    samples.push_back(
        {"outliers",
         shape,
         {{"x", values(dtype, std::move(x))}, {"dloss", values(Dtype::f32, std::move(dloss))}}});
  }
  // Vocabularies: GPT-2, Llama-3, Qwen2.5 and the largest.
  for (const char* const shape : {"rows3_cols50257_smooth", "rows2_cols128256",
                                  "rows2_cols151936_z", "rows1_cols262144_smooth_z"})
    samples.push_back({"normal", shape});
  return samples;
}

// A special value among a row's logits, as its lse, and as its dloss; the other rows do not change.
Sample special_rows(Dtype dtype, const std::string& words, std::int64_t classes) {
  constexpr std::int64_t kRows = 18;
  Sample sample{.fill = "special", .shape = rows_cols(kRows, classes) + words};
  const Problem p = problem(dtype, Shape::parse(sample.shape));
  Inputs& inputs = sample.inputs;
  draw(p, inputs);
  inputs["dloss"] = values(Dtype::f32, test::normal(Dtype::f32, kRows, test::Tensor::b).values);
  const auto x = [&](std::int64_t row, std::int64_t column) -> double& {
    return inputs.at("x").values[static_cast<std::size_t>(row * classes + column)];
  };
  std::int64_t row = 0;
  for (const double special : {kNan, kInfinity, -kInfinity}) {
    for (const std::int64_t place : {std::int64_t{0}, classes / 2, classes - 1})
      x(row++, place) = special;
    for (const char* const of_row : {"log_sum", "dloss"})
      inputs.at(of_row).values[static_cast<std::size_t>(row++)] = special;
  }
  const double largest = test::max_finite(dtype);
  x(row, 0) = -largest;
  x(row++, classes - 1) = largest;
  inputs.at("dloss").values[static_cast<std::size_t>(row++)] = test::max_finite(Dtype::f32);
  inputs.at("dloss").values[static_cast<std::size_t>(row)] = 0;
  return sample;
}

std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const words : {"", "_smooth_z_i64", "_ignored"})
    for (const std::int64_t classes : {2, 67, 1024, 2051})
      samples.push_back(special_rows(dtype, words, classes));
  return samples;
}

// Packs of 16 bytes if the rows of both matrices have the same alignment.
std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  if (variant == "naive") return {"cross_entropy_backward::naive<"};
  const std::int64_t pack = elements_per_pack(problem.dtype);
  const Place x = place_of(layout, "x"), dx = place_of(layout, "dx");
  const bool alike =
      (x.offset - dx.offset) % pack == 0 && (rows_of(problem) == 1 || (x.gap - dx.gap) % pack == 0);
  return {"cross_entropy_backward::turn<", ", " + std::to_string(alike ? pack : 1) + ">"};
}

} // namespace

Card cross_entropy_backward_card() {
  Card card = cross_entropy_cases::card();
  card.problem = problem;
  run_by(card, cross_entropy_backward::kVariants, kRun);
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.degenerate = [](const Problem& p) { // the probability of a single class is 1
    const Form& form = form_of(p);
    return form.classes == 1 && !form.z ? test::Degenerate::zero : test::Degenerate::no;
  };
  card.pitches = [](Dtype dtype) { return rows_off_packs(dtype); };
  card.misaligned = [](Dtype dtype) {
    std::vector<std::string> shapes = short_rows(dtype);
    shapes.push_back(rows_cols(3, 1100 * elements_per_pack(dtype) + 3) + "_smooth");
    return shapes;
  };
  card.kernel_name = kernel_name;
  card.bit_difference_reason = "expf";
  return card;
}

} // namespace kg::card
