// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the problems of cross entropy and of its gradient. A shape is rows9_cols500: rows and
// classes. smooth and z: with label smoothing and a z-loss; ignored: every fifth row is ignored;
// i64: targets have 64 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/cross_entropy/objective.h"
#include "tests/contract/card.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/oracle_cross_entropy.h"
#include "tests/oracle/random.h"

namespace kg::card::cross_entropy_cases {

inline constexpr std::int64_t kIgnored = -100;
inline constexpr double kSmoothing = 0.1F, kZLoss = 1e-4F; // common values

struct Form {
  std::int64_t rows, classes;
  bool smooth, z, wide, ignored;
};
inline ShapeGrammar<Form> grammar() {
  return ShapeGrammar<Form>()
      .number("rows", &Form::rows)
      .number("cols", &Form::classes)
      .flag("smooth", &Form::smooth)
      .flag("z", &Form::z)
      .flag("ignored", &Form::ignored)
      .flag("i64", &Form::wide);
}
inline const Form& form_of(const Problem& problem) { return problem.parameters.as<Form>(); }

// Random classes; the first rows have the last class and the first one.
inline std::int64_t usual_target(const Form& form, std::int64_t row) {
  constexpr std::uint64_t kStream = 1 << 12;
  if (form.ignored && row % 5 == 2) return kIgnored;
  if (row < 2) return row == 0 ? form.classes - 1 : 0;
  return test::Random(test::seed(), kStream)
      .integer(static_cast<std::uint64_t>(row), 0, form.classes - 1);
}

// There is no 64-bit integer element type, so these targets are stored as the bits of f64.
inline Dtype type_of_targets(const Form& form) { return form.wide ? Dtype::f64 : Dtype::i32; }
inline std::uint64_t bits_of_target(const Form& form, std::int64_t target) {
  return form.wide ? static_cast<std::uint64_t>(target) : static_cast<std::uint32_t>(target);
}

inline Tensor target_of(const Form& form) {
  Tensor result{
      .name = "target",
      .dtype = type_of_targets(form),
      .extents = {form.rows},
      .element = [form](std::int64_t i) { return bits_of_target(form, usual_target(form, i)); }};
  if (form.wide) result.c_type = "int64_t";
  return result;
}
inline test::Observed targets(const Form& form, const std::vector<std::int64_t>& classes) {
  std::vector<std::uint64_t> all;
  for (const std::int64_t each : classes) all.push_back(bits_of_target(form, each));
  return bits(type_of_targets(form), std::move(all));
}

// Back to integers.
inline std::vector<std::int64_t> targets_in(const test::Observed& target) {
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < target.values.size(); ++i)
    result.push_back(target.dtype == Dtype::i32
                         ? static_cast<std::int64_t>(target.values[i])
                         : static_cast<std::int64_t>(
                               target.bits.empty() ? test::encode(target.dtype, target.values[i])
                                                   : target.bits[i]));
  return result;
}

// Adds everything that depends on the objective.
inline void complete(Problem& problem, const Form& form) {
  problem.parameters = form;
  problem.scalars = {{"label_smoothing", form.smooth ? kSmoothing : 0},
                     {"z_loss", form.z ? kZLoss : 0}};
  problem.gaps = true;
  problem.pitched = true;
  problem.calling = {form.wide ? "i64" : "i32",
                     {{"rows", {form.rows}}, {"classes", {form.classes}}, {"ignored", {kIgnored}}}};
}

inline cross_entropy::Objective objective_of(const Call& call) {
  const bool wide = form_of(call.problem()).wide;
  const void* const target = call.address("target");
  return {.target = wide ? gather::Indices(static_cast<const std::int64_t*>(target))
                         : gather::Indices(static_cast<const std::int32_t*>(target)),
          .ignored = kIgnored,
          .label_smoothing = call.scalar("label_smoothing"),
          .z_loss = call.scalar("z_loss")};
}

inline test::CrossEntropyProblem oracle_problem(const Problem& problem, std::int64_t rows) {
  const auto scalar = [&](const char* name) {
    return static_cast<double>(static_cast<float>(problem.scalars.find(name)->second));
  };
  return {.rows = rows,
          .classes = problem.tensor("x").extents[1],
          .label_smoothing = scalar("label_smoothing"),
          .z_loss = scalar("z_loss"),
          .ignored = kIgnored};
}

// The parts that the cards share.
inline Card card() {
  Card card(grammar());
  card.usual = these({"rows65_cols96", "rows33_cols1000_smooth_z", "rows9_cols1536_i64",
                      "rows8_cols3001_ignored", "rows3_cols20011_smooth_i64"});
  card.batches = these({"rows*_cols96", "rows*_cols99", "rows*_cols1000_smooth_z", "rows*_cols3001",
                        "rows*_cols5000_i64"});
  card.sizes = [](Dtype) {
    std::vector<std::string> shapes = lengths_of_rows();
    for (const std::string& shape : numbers_of_rows(12)) shapes.push_back(shape);
    for (const std::int64_t classes : {1, 2, 9, 33, 1023, 1025, 4097, 16385})
      shapes.push_back(rows_cols(6, classes) + "_smooth_z_ignored");
    return shapes;
  };
  card.empty = {"rows0_cols5"};
  card.large_strides = [](Dtype dtype) { return two_rows(dtype); };
  card.refused_scalars = {{"label_smoothing", {-0.1, 1.1, kNan}},
                          {"z_loss", {-0.1, kInfinity, kNan}}};
  card.timed_on_host = {
      {"rows32_cols1000", true}, {"rows8_cols16000_smooth_z"}, {"rows4_cols32003"}};
  // ImageNet, GPT-2, Llama-3 and Qwen2.5: at least 0.25 GiB in f32.
  card.timed_on_gpu = {{"rows65536_cols1000"},
                       {"rows4096_cols50257"},
                       {"rows4096_cols128256", true},
                       {"rows4096_cols151936_smooth_z_i64"}};
  return card;
}

} // namespace kg::card::cross_entropy_cases
