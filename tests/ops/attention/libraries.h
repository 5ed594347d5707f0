// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the libraries take the problems of attention and of its gradient: as one call, with token
// counts and offsets, or as a chain, with an addend for each score.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "libraries/attention.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/attention/heads.h"
#include "tests/ops/attention/problems.h"
#include "tests/oracle/fills.h"

namespace kg::card::attention_problems {

inline bool has_input(const Problem& problem, std::string_view name) {
  return std::any_of(problem.inputs.begin(), problem.inputs.end(),
                     [&](const Tensor& input) { return input.name == name; });
}

// Converts to the libraries' description.
inline vendor::AttentionProblem of_libraries(Dtype dtype, const Heads& h) {
  using Order = vendor::TokenOrder;
  return {.dtype = dtype,
          .batch = h.batch,
          .heads = h.heads,
          .kv_heads = h.kv_heads,
          .queries = h.queries,
          .keys = h.keys,
          .depth = h.depth,
          .value_depth = h.value_depth,
          .order = h.ragged()         ? Order::ragged
                   : h.tokens_first() ? Order::tokens_first
                                      : Order::heads_first,
          .tokens = h.ragged() ? h.offsets(Heads::Of::queries).back() : 0,
          .causal = h.causal,
          .window = h.window,
          .lengths = h.lengths,
          .bias = h.bias};
}
// The same with a call's extents and scale.
inline vendor::AttentionProblem of_libraries(const Call& call) {
  const Heads& h = heads_of(call.problem());
  vendor::AttentionProblem p = of_libraries(call.problem().dtype, h);
  p.scale = call.scalar("scale");
  if (h.ragged()) return p;
  const std::size_t heads = h.tokens_first() ? 2 : 1, tokens = 3 - heads;
  p.batch = call.extent("q", 0);
  p.heads = call.extent("q", heads);
  p.kv_heads = call.extent("k", heads);
  p.queries = call.extent("q", tokens);
  p.keys = call.extent("k", tokens);
  p.depth = call.extent("q", 3);
  p.value_depth = call.extent("v", 3);
  return p;
}

// Replaces our lengths, or token offsets, by the token counts and offsets that a library's single
// call takes.
inline Problem with_counts(const Problem& ours) {
  const Heads& h = heads_of(ours);
  Problem result = ours;
  const auto add = [&](const char* name, std::int64_t count, auto element) {
    if (has_input(result, name)) return;
    result.inputs.push_back(
        {.name = name,
         .dtype = Dtype::i32,
         .extents = {count},
         .by_row = false,
         .derived = true,
         .element = [element](std::int64_t i) { return static_cast<std::uint64_t>(element(i)); }});
  };
  if (h.lengths || h.ragged()) {
    add("query_lengths", h.batch, [h](std::int64_t b) { return h.tokens(Heads::Of::queries, b); });
    add("key_lengths", h.batch, [h](std::int64_t b) { return h.keys_of(b); });
  }
  if (h.ragged()) {
    using Of = Heads::Of;
    const auto offsets = [&](const char* name, Of of, std::int64_t length) {
      add(name, h.batch + 1, [begin = h.offsets(of), length](std::int64_t b) {
        return begin[static_cast<std::size_t>(b)] * length;
      });
    };
    offsets("q_offsets", Of::queries, h.heads * h.depth);
    offsets("k_offsets", Of::keys, h.kv_heads * h.depth);
    offsets("v_offsets", Of::keys, h.kv_heads * h.value_depth);
    offsets("out_offsets", Of::queries, h.heads * h.value_depth);
    for (auto* group : {&result.inputs, &result.outputs})
      for (Tensor& tensor : *group) tensor.derived = true; // from the numbers of the shape
    for (Tensor& input : result.inputs) input.optional |= input.name == "key_offsets";
  }
  for (auto* group : {&result.inputs, &result.outputs})
    for (Tensor& tensor : *group) tensor.optional &= tensor.name != "log_sum";
  return result;
}
inline vendor::AttentionMasks masks_of(const Call& call) {
  const auto counts = [&](std::string_view name) -> const std::int32_t* {
    return has_input(call.problem(), name) ? call.in<std::int32_t>(name) : nullptr;
  };
  return {has_input(call.problem(), "bias") ? call.address("bias") : nullptr,
          counts("query_lengths"),
          counts("key_lengths"),
          counts("q_offsets"),
          counts("k_offsets"),
          counts("v_offsets"),
          counts("out_offsets"),
          counts("query_offsets")};
}

// Adds the addend of each score that the libraries' chains take: the bias if the key is visible,
// otherwise -inf.
inline Problem with_addend(const Problem& ours) {
  const Heads& h = heads_of(ours);
  Problem result = ours;
  const auto addend = [h](std::int64_t i, const auto& bias) {
    if (!sees(h, i / h.keys % h.queries, i % h.keys))
      return -std::numeric_limits<double>::infinity();
    return h.bias ? bias(i % (h.heads * h.queries * h.keys)) : 0.0;
  };
  for (auto* group : {&result.inputs, &result.outputs})
    for (Tensor& tensor : *group) tensor.derived = true;
  for (Tensor& input : result.inputs) input.optional = input.name == "bias"; // no chain reads it
  result.inputs.push_back(
      {.name = "addend",
       .dtype = ours.dtype,
       .extents = {h.batch, h.heads, h.queries, h.keys},
       .by_row = false,
       // Half a billion elements, the same for each head.
       .element =
           [h, hidden = test::encode(ours.dtype, -std::numeric_limits<double>::infinity())](
               std::int64_t i) {
             const bool seen = sees(h, i / h.keys % h.queries, i % h.keys);
             return seen ? std::uint64_t{0} : hidden;
           },
       .period = h.queries * h.keys});
  result.draw = [=, of_ours = ours.draw](const Problem& p, Inputs& inputs) {
    of_ours(p, inputs);
    if (h.bias && !inputs.contains("bias"))
      inputs["bias"] = values(
          p.dtype, test::normal(p.dtype, h.heads * h.queries * h.keys, test::Tensor::b).values);
    std::vector<double> made;
    for (std::int64_t i = 0; i < p.tensor("addend").size(); ++i)
      made.push_back(addend(i, [&](std::int64_t j) {
        return inputs.at("bias").values[static_cast<std::size_t>(j)];
      }));
    inputs["addend"] = values(p.dtype, std::move(made));
  };
  return result;
}

} // namespace kg::card::attention_problems
