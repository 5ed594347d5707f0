// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test data for attention_backward besides standard normals and the results of a forward pass on
// them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/samples.h"
#include "tests/ops/attention/heads.h"
#include "tests/ops/attention/references.h"
#include "tests/oracle/fills.h"

namespace kg::card::attention_backward_samples {

// The results of a forward pass if the sample lacks them: from the given inputs, with normals for
// missing ones.
inline void draw_forward(const Problem& problem, Inputs& inputs) {
  if (inputs.contains("out") && inputs.contains("log_sum")) return;
  std::uint64_t number = 0;
  for (const Tensor& tensor : problem.inputs) {
    ++number;
    if (tensor.name == "out" || tensor.name == "log_sum" || inputs.contains(tensor.name)) continue;
    inputs[tensor.name] =
        values(tensor.dtype,
               test::random_numbers(tensor.dtype, tensor.size(), test::Tensor{number}).values);
  }
  const Heads h = heads_of(problem);
  attention_references::Results forward = attention_references::results_of(
      h, problem.scalars.at("scale"), attention_references::values_of(inputs));
  const auto store = [&](const char* tensor, Dtype dtype, std::vector<double>& of_oracle) {
    for (double& value : of_oracle) value = test::round_to(dtype, value);
    inputs.try_emplace(tensor, values(dtype, std::move(of_oracle)));
  };
  store("out", problem.dtype, forward.value);
  store("log_sum", Dtype::f32, forward.log_sum);
}

inline std::vector<double> integers(Dtype dtype, const Problem& problem, const char* tensor,
                                    std::int64_t most, std::uint64_t number) {
  return test::integers(dtype, problem.tensor(tensor).size(), most, test::Tensor{number}).values;
}

// Queries have integers in the even columns and keys in the odd ones, so every score is 0. With a
// log_sum of 0 every weight is 1, or 0 for hidden keys. dout, v and out are so small that dS is an
// integer of at most 8 bits. All sums are exact, so only a missing or extra term can change a
// result.
inline Sample weights_of_one(Dtype dtype, const Problem& problem) {
  const Heads h = heads_of(problem);
  const auto every_second = [&](std::vector<double> row, std::int64_t first) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      double& value = row[i];
      if (static_cast<std::int64_t>(i) % h.depth % 2 != first)
        value = 0;
      else if (value == 0)
        value = 3;
    }
    return values(dtype, std::move(row));
  };
  Sample sample{.fill = "weights of one", .shape = problem.shape};
  sample.scalars["scale"] = 0.125;
  sample.inputs["q"] = every_second(integers(dtype, problem, "q", 2, 1), 0);
  sample.inputs["k"] = every_second(integers(dtype, problem, "k", 2, 2), 1);
  sample.inputs["v"] = values(dtype, integers(dtype, problem, "v", 1, 3));
  sample.inputs["out"] = values(dtype, integers(dtype, problem, "out", 1, 4));
  sample.inputs["dout"] = values(dtype, integers(dtype, problem, "dout", 1, 5));
  sample.inputs["log_sum"] = values(
      Dtype::f32, std::vector<double>(static_cast<std::size_t>(problem.tensor("log_sum").size())));
  if (h.bias) {
    std::vector<double> bias = integers(dtype, problem, "bias", 1, 6);
    for (double& value : bias) value = value > 0 ? -kInfinity : 0;
    sample.inputs["bias"] = values(dtype, std::move(bias));
  }
  return sample;
}

// Every mask and layout, one and more tiles, and each kernel of flash.
template <class ProblemOf>
std::vector<Sample> exact_samples(Dtype dtype, ProblemOf problem) {
  std::vector<Sample> samples;
  for (const char* const shape :
       {"b2_h4_kv2_q70_k66_d64", "b1_h2_q66_k130_d80_v40_causal", "b1_h3_kv1_q33_k70_d128_bshd",
        "b1_h1_q70_k70_d64_causal_window20", "b3_h2_kv1_q40_k70_d64_lengths",
        "b3_h2_q40_k66_d96_ragged_causal", "b1_h2_q34_k40_d64_bias", "b1_h2_kv1_q40_k70_d192_v128",
        "b1_h1_q70_k34_d256"})
    samples.push_back(weights_of_one(dtype, problem(dtype, Shape::parse(shape))));
  return samples;
}

// Every mask, combinations of masks, more queries than keys, and widely separated scores.
inline std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape :
       {"b1_h2_q100_k100_d64_causal", "b2_h2_kv1_q30_k140_d32_causal", "b1_h1_q130_k70_d24_causal",
        "b1_h2_q140_k140_d16_causal_window20", "b1_h1_q70_k200_d64_causal_window70",
        "b5_h2_q17_k140_d32_lengths", "b5_h2_kv1_q70_k70_d40_bshd_causal_lengths",
        "b3_h2_q40_k90_d32_causal_window30_lengths", "b2_h3_q40_k90_d64_bias",
        "b1_h4_kv2_q70_k70_d64_bshd_causal_bias", "b1_h1_q1_k200_d128_causal",
        "b1_h8_kv1_q5_k66_d128_v64", "b5_h2_q70_k130_d32_ragged",
        "b3_h4_kv2_q66_k80_d40_ragged_causal", "b4_h2_q70_k70_d64_ragged_causal_window30"})
    samples.push_back({.fill = "normal", .shape = shape});
  // Weights from 1 down to underflow.
  const std::string shape = "b1_h2_q40_k70_d64";
  const Heads h = heads_of(shape);
  std::vector<double> q =
      test::normal(dtype, h.heads * h.queries * h.depth, test::Tensor::a).values;
  for (double& value : q) value *= 4;
  samples.push_back(
      {.fill = "scores far apart", .shape = shape, .inputs = {{"q", values(dtype, q)}}});
  return samples;
}

// Normals except for some elements.
inline void put(Sample& sample, const Problem& problem, const char* tensor,
                std::initializer_list<std::pair<std::int64_t, double>> special) {
  const Dtype its = problem.tensor(tensor).dtype;
  std::vector<double> data =
      test::normal(its, problem.tensor(tensor).size(), test::Tensor{9}).values;
  for (const auto& [at, value] : special) data[static_cast<std::size_t>(at)] = value;
  sample.inputs[tensor] = values(its, std::move(data));
}

// NaN and infinities in each tensor of the first of two heads; the second head does not change.
// Elements after a sequence's last key are not read, and their gradient is 0.
template <class ProblemOf>
std::vector<Sample> special_samples(Dtype dtype, ProblemOf problem_of) {
  std::vector<Sample> samples;
  const auto add = [&](const char* fill, const std::string& shape) -> Sample& {
    return samples.emplace_back(Sample{.fill = fill, .shape = shape, .may_be_vacuous = true});
  };
  const std::string all = "b1_h2_q70_k70_d64";
  const Problem problem = problem_of(dtype, Shape::parse(all));
  put(add("special queries", all), problem, "q",
      {{3 * 64, kNan}, {17 * 64 + 5, kInfinity}, {66 * 64 + 63, -kInfinity}});
  put(add("special keys", all), problem, "k", {{40 * 64 + 7, kNan}, {66 * 64, kInfinity}});
  put(add("special values", all), problem, "v",
      {{5 * 64, kNan}, {69 * 64 + 1, kInfinity}, {7 * 64 + 9, -kInfinity}});
  put(add("special gradients", all), problem, "dout",
      {{3 * 64, kNan}, {17 * 64 + 5, kInfinity}, {66 * 64 + 63, -kInfinity}});
  put(add("special results", all), problem, "out", {{3 * 64, kNan}, {66 * 64, kInfinity}});
  put(add("special sums", all), problem, "log_sum", {{3, kNan}, {17, -kInfinity}});
  put(add("queries without weights", all), problem, "log_sum",
      {{0, -kInfinity}, {17, -kInfinity}, {69, -kInfinity}});
  // Whole rows of the bias hide all keys, others all but one key.
  for (const bool is_nan : {false, true}) {
    const std::string shape = "b1_h1_q70_k130_d64_bias";
    const Heads h = heads_of(shape);
    std::vector<double> bias = test::normal(dtype, h.queries * h.keys, test::Tensor::c).values;
    for (const std::int64_t row : {0, 5, 20, 66})
      for (std::int64_t j = 0; j < h.keys; ++j)
        bias[static_cast<std::size_t>(row * h.keys + j)] = -kInfinity;
    bias[static_cast<std::size_t>(5 * h.keys + 129)] = 0;
    bias[static_cast<std::size_t>(20 * h.keys)] = 0;
    if (is_nan) {
      bias[static_cast<std::size_t>(30 * h.keys + 64)] = kInfinity;
      bias[static_cast<std::size_t>(31 * h.keys + 64)] = kNan;
    }
    add(is_nan ? "special bias" : "bias that hides", shape).inputs["bias"] = values(dtype, bias);
  }
  // Lengths outside [0, keys] are clamped.
  {
    const std::string shape = "b4_h1_q20_k70_d64_lengths";
    const Heads h = heads_of(shape);
    const std::vector<double> lengths = {33, -2, 64, 1000};
    Sample& sample = add("nothing behind the last key", shape);
    for (const char* const tensor : {"k", "v"}) {
      std::vector<double> data =
          test::normal(dtype, 4 * h.keys * h.depth, test::Tensor{tensor[0] == 'k' ? 2U : 3U})
              .values;
      for (std::int64_t i = 0; i < 4 * h.keys * h.depth; ++i)
        if (static_cast<double>(i / h.depth % h.keys) >=
            lengths[static_cast<std::size_t>(i / h.depth / h.keys)])
          data[static_cast<std::size_t>(i)] = kNan;
      sample.inputs[tensor] = values(dtype, std::move(data));
    }
    sample.inputs["key_lengths"] = values(Dtype::i32, lengths);
  }
  for (const char* const shape : {"b2_h2_q5_k0_d8", "b2_h2_q0_k5_d8"}) add("nothing to see", shape);
  return samples;
}

} // namespace kg::card::attention_backward_samples
