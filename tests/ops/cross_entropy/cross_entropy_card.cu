// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cross entropy of rows for a warp and for a block (tests/ops/cross_entropy/objective.h defines the
// shapes). Tolerances and their derivation: tests/oracle/tolerance_cross_entropy.h.
#include "ops/cross_entropy/cross_entropy.h"

#include <cmath>
#include <memory>
#include <numeric>

#include "tests/contract/rows.h"
#include "tests/ops/cross_entropy/objective.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_cross_entropy.h"

namespace kg::card {
namespace {

using namespace cross_entropy_cases;

std::int64_t classes_of(const Problem& problem) { return problem.tensor("x").extents[1]; }

Problem problem(Dtype dtype, const Shape& shape) {
  const Form form = grammar().parse(shape);
  const Work work = dispatch(dtype, [&]<class T>() {
    float log_sum;
    cross_entropy::Problem<T> p{.rows = form.rows, .classes = form.classes, .log_sum = &log_sum};
    if (form.wide) p.objective.target = static_cast<const std::int64_t*>(nullptr);
    if (form.smooth) p.objective.label_smoothing = static_cast<float>(kSmoothing);
    return cross_entropy::work(p);
  });
  Problem result{dtype, shape.text(), work,
                 (form.smooth ? 6.0 : 4.0) * static_cast<double>(form.rows * form.classes)};
  result.inputs = {{"x", dtype, {form.rows, form.classes}}, target_of(form)};
  result.outputs = {
      {"loss", Dtype::f32, {form.rows}},
      {.name = "log_sum", .dtype = Dtype::f32, .extents = {form.rows}, .optional = true}};
  complete(result, form);
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, cross_entropy::Variant variant,
                                  Stream& stream) {
  return cross_entropy::run<T>({.rows = call.extent("x", 0),
                                .classes = call.extent("x", 1),
                                .logits = call.in<T>("x"),
                                .logits_stride = call.leading("x"),
                                .objective = objective_of(call),
                                .loss = call.out<float>("loss"),
                                .log_sum = call.out<float>("log_sum")},
                               variant, stream);
};

// Without a variant, as for a library, the order of additions is unknown.
std::int64_t chain(std::string_view variant, std::int64_t classes) {
  if (variant.empty()) return classes;
  return cross_entropy::chain(enumerator_of(cross_entropy::kVariants, variant), classes);
}

References references(const Problem& problem, std::int64_t rows, const std::vector<double>& x,
                      const test::Observed& target) {
  const test::CrossEntropyProblem p = oracle_problem(problem, rows);
  const auto oracle = std::make_shared<test::CrossEntropyOracle>(
      test::cross_entropy_oracle(p, x, targets_in(target)));
  const bool holds_zeros =
      std::find(oracle->counts.begin(), oracle->counts.end(), false) != oracle->counts.end();
  return {{"loss",
           {.value = oracle->loss,
            .tolerance =
                [=](std::string_view variant) {
                  return test::cross_entropy_tolerances(p, *oracle, chain(variant, p.classes));
                },
            .holds_zeros = holds_zeros}},
          {"log_sum",
           {.value = oracle->log_sum,
            .tolerance =
                [=](std::string_view variant) {
                  return test::log_sum_exp_tolerances(*oracle, chain(variant, p.classes));
                },
            .holds_zeros = holds_zeros}}};
}

// Rows of a timed problem; each needs the logits of all classes.
Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                   std::int64_t count, const Values& values) {
  const std::int64_t classes = classes_of(problem);
  const Elements x = values("x"), target = values("target");
  std::vector<double> rows;
  for (std::int64_t i = first * classes; i < (first + count) * classes; ++i) rows.push_back(x(i));
  test::Observed targets{problem.tensor("target").dtype, {}, {}};
  for (std::int64_t i = first; i < first + count; ++i) targets.values.push_back(target(i));
  return references(problem, count, rows, targets).find(output)->second;
}

// Rows whose largest logit is at least 110 above the others, whose exponentials vanish in a sum
// with 1: the sum is 1, its logarithm 0. The rest are sums of a few integers, and of their mean if
// the number of classes is a power of two.
Sample differences(Dtype dtype, const std::string& words, std::int64_t rows, std::int64_t classes) {
  constexpr double kHalf = 0.5;
  Sample sample{.fill = "differences", .shape = rows_cols(rows, classes) + words};
  const Problem p = problem(dtype, Shape::parse(sample.shape));
  const Form& form = form_of(p);
  const double smoothing = form.smooth ? kHalf : 0, z = form.z ? kHalf : 0;
  sample.scalars = {{"label_smoothing", smoothing}, {"z_loss", z}};
  const test::Random random(test::seed(), 29);
  std::vector<double> x, loss, log_sum;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto of_row = static_cast<std::uint64_t>(rows * classes + 2 * i);
    const std::int64_t most = random.integer(of_row, -40, 40);
    const std::int64_t largest = random.integer(of_row + 1, 0, classes - 1);
    for (std::int64_t j = 0; j < classes; ++j) {
      const std::int64_t below =
          j == largest ? 0 : random.integer(static_cast<std::uint64_t>(i * classes + j), 110, 200);
      x.push_back(static_cast<double>(most - below));
    }
    const std::int64_t target = usual_target(form, i);
    const double counts = target == kIgnored ? 0 : 1;
    const double at_target = counts == 0 ? 0 : x[static_cast<std::size_t>(i * classes + target)];
    const double sum = std::accumulate(x.end() - classes, x.end(), 0.0);
    log_sum.push_back(counts * static_cast<double>(most));
    loss.push_back(counts * (log_sum.back() - (1 - smoothing) * at_target -
                             smoothing * sum / static_cast<double>(classes) +
                             z * log_sum.back() * log_sum.back()));
  }
  sample.inputs["x"] = values(dtype, std::move(x));
  sample.expected = {{"loss", std::move(loss)}, {"log_sum", std::move(log_sum)}};
  sample.zero = test::SignedZero::ignored;
  return sample;
}

std::vector<Sample> exact_samples(Dtype dtype) {
  return {
      differences(dtype, "", 40, 64),           differences(dtype, "_z_i64", 30, 1000),
      differences(dtype, "_ignored", 31, 2051), differences(dtype, "", 3, 50257),
      differences(dtype, "_smooth_z", 33, 64),  differences(dtype, "_smooth_ignored_i64", 21, 1024),
      differences(dtype, "_smooth", 9, 4096)};
}

std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  // Logits far apart, and far from 0.
  for (const char* const shape : {"rows30_cols300_smooth_z", "rows6_cols2100_smooth_z_i64"}) {
    const Form form = grammar().parse(shape);
    samples.push_back({"outliers",
                       shape,
                       {{"x", values(dtype, test::outliers(dtype, form.rows * form.classes, 7, 32,
                                                           test::Tensor::a)
                                                .values)}}});
  }
  // Maxima that come late and often: rescaling a running sum is most sensitive to these.
  for (const double rise : {4.0, 125.0}) {
    constexpr std::int64_t kRows = 3, kClasses = 50257;
    std::vector<double> x;
    for (std::int64_t i = 0; i < kRows * kClasses; ++i) {
      const double steeper = 1 + static_cast<double>(i / kClasses) / 8;
      x.push_back(
          test::round_to(dtype, steeper * rise / kClasses * static_cast<double>(i % kClasses)));
    }
    samples.push_back({"rising", rows_cols(kRows, kClasses), {{"x", values(dtype, std::move(x))}}});
  }
  // Vocabularies: Llama-3, Qwen2.5 and the largest.
  for (const char* const shape :
       {"rows2_cols128256_smooth", "rows2_cols151936_z", "rows2_cols262144_smooth_z"})
    samples.push_back({"normal", shape});
  return samples;
}

// One special value at the target, next to it, and at each position that a thread, a pack or a row
// could miss; the other rows do not change.
Sample special_rows(Dtype dtype, const std::string& words, std::int64_t classes) {
  const double largest = test::max_finite(dtype);
  std::vector<double> x;
  std::vector<std::int64_t> target;
  const std::vector<double> normal = test::normal(dtype, classes, test::Tensor::b).values;
  const auto add_row = [&](std::int64_t of_target, std::vector<double> row, std::int64_t place,
                           double special) {
    row[static_cast<std::size_t>(place)] = special;
    x.insert(x.end(), row.begin(), row.end());
    target.push_back(of_target);
  };
  const auto all = [&](double value) {
    return std::vector<double>(static_cast<std::size_t>(classes), value);
  };
  const bool smooth = grammar().parse(rows_cols(1, classes) + words).smooth;
  for (const double special : {kNan, kInfinity, -kInfinity}) {
    for (const std::int64_t place : {std::int64_t{0}, classes / 2, classes - 1})
      add_row(classes / 2, normal, place, special);
    add_row(classes - 1, all(special), 0, special);
    add_row(kIgnored, normal, classes / 2, special);
  }
  add_row(0, all(-kInfinity), 0, -3);
  add_row(classes - 1, all(-kInfinity), 0, -3);
  add_row(0, all(largest), 0, largest);
  add_row(0, all(-largest), 0, -largest);
  if (!smooth) add_row(0, all(-largest), classes - 1, largest); // otherwise the mean overflows
  const auto rows = std::ssize(target);
  Sample sample{.fill = "special", .shape = rows_cols(rows, classes) + words};
  sample.inputs = {{"x", values(dtype, std::move(x))},
                   {"target", targets(grammar().parse(sample.shape), target)}};
  return sample;
}

std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const words : {"", "_smooth", "_z_i64", "_smooth_z"})
    for (const std::int64_t classes : {2, 67, 1024, 2051, 9000})
      samples.push_back(special_rows(dtype, words, classes));
  return samples;
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem&, const Layout&) {
  if (variant == "naive") return {"cross_entropy::naive<"};
  return {"cross_entropy::" + std::string(variant) + "_per_row<"};
}

// Vectors of a row start at its alignment.
Dependence dependence(const Problem& batch) {
  const bool whole = classes_of(batch) % elements_per_pack(batch.dtype) == 0;
  return {whole ? "" : "the 16-byte vectors of a row begin at another element in each place",
          "the 16-byte vectors of a row begin at another element in rows off 16 bytes"};
}

} // namespace

Card cross_entropy_card() {
  Card card = cross_entropy_cases::card();
  card.problem = problem;
  run_by(card, cross_entropy::kVariants, kRun);
  for (Variant& variant : card.variants)
    if (variant.name != "naive") variant.dependence = dependence;
  card.variants[0].sequence = classes_of; // naive
  card.resolved = [](const Problem& p) {
    return name(cross_entropy::resolved(cross_entropy::Variant::automatic, classes_of(p)));
  };
  card.references = [](const Problem& p, const Inputs& inputs) {
    return references(p, p.outputs[0].extents[0], inputs.at("x").values, inputs.at("target"));
  };
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.vacuous_outputs = [](const Problem& p) { // the loss of a single class is 0
    return form_of(p).classes == 1 ? std::vector<std::string>{"loss"} : std::vector<std::string>();
  };
  card.pitches = [](Dtype dtype) { return rows_off_packs(dtype); };
  card.misaligned = [](Dtype dtype) {
    std::vector<std::string> shapes = short_rows(dtype);
    shapes.push_back(rows_cols(5, 2048 * elements_per_pack(dtype) / 4 + 3) + "_smooth");
    return shapes;
  };
  card.kernel_name = kernel_name;
  card.bit_difference_reason = "exp2, logf";
  card.bound_on_host = kg::Bound::sync; // shuffles and barriers cost more than memory
  return card;
}

} // namespace kg::card
