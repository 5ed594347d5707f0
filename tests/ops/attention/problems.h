// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the cards of attention and its gradient: the numeric inputs, the masks, and how a
// call's tensors become a problem of kernels/ops/attention.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ops/attention/attention.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/attention/heads.h"
#include "tests/oracle/fills.h"

namespace kg::card::attention_problems {

// A problem without memory: extents and masks.
template <class T>
attention::Problem<T> described(const Heads& h) {
  return {.batch = h.batch,
          .heads = h.heads,
          .kv_heads = h.kv_heads,
          .queries = h.queries,
          .keys = h.keys,
          .depth = h.depth,
          .value_depth = h.value_depth,
          .causal = h.causal,
          .window = h.window};
}
// The same with the strides of tensors without gaps, for `resolved`.
template <class T>
attention::Problem<T> placed(const Heads& h) {
  attention::Problem<T> p = described<T>(h);
  const auto strides = [&](Heads::Of of, std::int64_t length) -> attention::Strides {
    return {h.ragged() || h.batch < 2 ? 0 : h.at(of, length, 1, 0, 0), h.at(of, length, 0, 1, 0),
            h.at(of, length, 0, 0, 1)};
  };
  p.q_stride = strides(Heads::Of::queries, h.depth);
  p.k_stride = strides(Heads::Of::keys, h.depth);
  p.v_stride = strides(Heads::Of::keys, h.value_depth);
  p.out_stride = strides(Heads::Of::queries, h.value_depth);
  static std::int32_t offset;
  if (!h.ragged()) return p;
  p.query_offsets = p.key_offsets = &offset;
  p.total_queries = h.offsets(Heads::Of::queries).back();
  p.total_keys = h.offsets(Heads::Of::keys).back();
  return p;
}
// The same with bias and lengths if present, to count their bytes.
template <class T>
attention::Problem<T> counted(const Heads& h) {
  static T bias;
  static std::int32_t length;
  attention::Problem<T> p = described<T>(h);
  if (h.lengths) p.key_lengths = &length;
  if (h.bias) p.bias = &bias;
  p.bias_stride = {0, 1, 1}; // nonzero: a bias for each head and query
  return p;
}

inline bool sees(const Heads& h, std::int64_t query, std::int64_t key) {
  const std::int64_t behind = query + h.keys - h.queries - key; // 0: the query's own key
  return !h.causal || (behind >= 0 && (h.window == 0 || behind < h.window));
}

// The number of visible pairs of query and key, over all heads.
inline double pairs(const Heads& h) {
  std::int64_t count = h.causal ? 0 : h.queries * h.keys;
  for (std::int64_t i = 0; i < h.queries && h.causal; ++i)
    for (std::int64_t j = 0; j < h.keys; ++j) count += sees(h, i, j);
  return static_cast<double>(h.batch * h.heads) * static_cast<double>(count);
}

// The number of elements of k, v and bias that no query sees; for a bias, those of hidden keys.
inline double unseen(const Heads& h) {
  if (h.batch * h.heads * h.queries == 0)
    return static_cast<double>(h.batch * h.kv_heads * h.keys * (h.depth + h.value_depth));
  const std::int64_t seen = h.window > 0 ? std::min(h.keys, h.queries - 1 + h.window) : h.keys;
  double elements =
      static_cast<double>(h.batch * h.kv_heads * (h.keys - seen) * (h.depth + h.value_depth));
  if (!h.bias) return elements;
  for (std::int64_t i = 0; i < h.queries; ++i)
    for (std::int64_t j = 0; j < h.keys; ++j)
      if (!sees(h, i, j)) elements += static_cast<double>(h.heads);
  return elements;
}

inline void draw_numbers(const Problem& problem, Inputs& inputs) {
  for (const Tensor& input : problem.inputs) {
    if (!input.element || input.dtype != Dtype::i32 || inputs.contains(input.name)) continue;
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < input.size(); ++i)
      numbers.push_back(static_cast<double>(input.element(i)));
    inputs[input.name] = values(Dtype::i32, std::move(numbers));
  }
}

// Rows with independent strides.
inline Tensor rows_tensor(const char* name, Dtype dtype, std::vector<std::int64_t> extents) {
  return {.name = name,
          .dtype = dtype,
          .extents = std::move(extents),
          .by_row = false,
          .strided = true};
}

// Adds q, k and v, optional lengths, offsets and bias, and the function's call.
inline void add_inputs(const Heads& h, Problem& to) {
  to.inputs = {rows_tensor("q", to.dtype, h.extents(Heads::Of::queries, h.depth)),
               rows_tensor("k", to.dtype, h.extents(Heads::Of::keys, h.depth)),
               rows_tensor("v", to.dtype, h.extents(Heads::Of::keys, h.value_depth))};
  if (h.lengths)
    to.inputs.push_back({.name = "key_lengths",
                         .dtype = Dtype::i32,
                         .extents = {h.batch},
                         .by_row = false,
                         .element = [keys = h.keys](std::int64_t b) {
                           return static_cast<std::uint64_t>(usual_length(b, keys));
                         }});
  if (h.ragged())
    for (const auto& [name, of] : {std::pair{"query_offsets", Heads::Of::queries},
                                   std::pair{"key_offsets", Heads::Of::keys}})
      to.inputs.push_back({.name = name,
                           .dtype = Dtype::i32,
                           .extents = {h.batch + 1},
                           .by_row = false,
                           .element = [offsets = h.offsets(of)](std::int64_t b) {
                             return static_cast<std::uint64_t>(
                                 offsets[static_cast<std::size_t>(b)]);
                           }});
  if (h.bias) to.inputs.push_back(rows_tensor("bias", to.dtype, {h.heads, h.queries, h.keys}));
  to.scalars = {{"scale", 1 / std::sqrt(static_cast<float>(h.depth))}};
  to.gaps = true;
  to.pitched = true;
  to.unread = unseen(h) * static_cast<double>(size_of(to.dtype));
  to.draw = draw_numbers;
  // Masks are part of the function's name; the rest are numbers.
  std::string words;
  const std::pair<bool, const char*> flags[] = {{h.ragged(), "ragged"},
                                                {h.tokens_first() && !h.ragged(), "bshd"},
                                                {h.causal, "causal"},
                                                {h.lengths, "lengths"},
                                                {h.bias, "bias"}};
  for (const auto& [there, word] : flags)
    if (there) words += (words.empty() ? "" : "_") + std::string(word);
  to.calling = {words,
                {{"batch", {h.batch}},
                 {"heads", {h.heads}},
                 {"kv_heads", {h.kv_heads}},
                 {"queries", {h.queries}},
                 {"keys", {h.keys}},
                 {"depth", {h.depth}},
                 {"value_depth", {h.value_depth}}}};
  if (h.causal) to.calling->integers.push_back({"window", {h.window}});
}

// log_sum as an input or output of a problem.
inline Tensor log_sum_tensor(const Heads& h) {
  std::vector<std::int64_t> extents = {h.batch, h.heads, h.queries};
  if (h.ragged()) extents = {h.heads, h.offsets(Heads::Of::queries).back()};
  return {.name = "log_sum", .dtype = Dtype::f32, .extents = extents, .by_row = false};
}

inline attention::Strides strides(const Heads& h, const Call& call, std::string_view tensor) {
  const auto axis = [&](std::size_t number) { return call.stride(tensor, number); };
  if (h.ragged()) return {0, axis(1), axis(0)};
  return h.tokens_first() ? attention::Strides{axis(0), axis(2), axis(1)}
                          : attention::Strides{axis(0), axis(1), axis(2)};
}
inline attention::Strides strides(const Call& call, std::string_view tensor) {
  return strides(heads_of(call.problem()), call, tensor);
}

// A problem with a call's inputs, without results.
template <class T>
attention::Problem<T> bound(const Call& call) {
  const Heads& h = heads_of(call.problem());
  attention::Problem<T> p = described<T>(h);
  const std::size_t axes = h.ragged() ? 3 : 4;
  const std::size_t heads = h.ragged() || !h.tokens_first() ? 1 : 2, tokens = 3 - heads;
  p.heads = call.extent("q", heads);
  p.kv_heads = call.extent("k", heads);
  p.depth = call.extent("q", axes - 1);
  p.value_depth = call.extent("v", axes - 1);
  if (h.ragged()) {
    p.query_offsets = call.in<std::int32_t>("query_offsets");
    p.key_offsets = call.in<std::int32_t>("key_offsets");
  } else {
    p.batch = call.extent("q", 0);
    p.queries = call.extent("q", tokens);
    p.keys = call.extent("k", tokens);
  }
  if (h.ragged()) {
    p.total_queries = call.extent("q", 0);
    p.total_keys = call.extent("k", 0);
  }
  p.q = call.in<T>("q");
  p.k = call.in<T>("k");
  p.v = call.in<T>("v");
  p.q_stride = strides(h, call, "q");
  p.k_stride = strides(h, call, "k");
  p.v_stride = strides(h, call, "v");
  p.scale = call.scalar("scale");
  const bool nothing = p.batch * p.heads * p.queries == 0;
  if (h.lengths) {
    p.key_lengths = call.in<std::int32_t>("key_lengths");
    require(p.key_lengths || nothing, call.problem().shape + ": key_lengths is null");
  }
  if (h.bias) {
    p.bias = call.in<T>("bias");
    require(p.bias || nothing, call.problem().shape + ": bias is null");
    p.bias_stride = {0, call.stride("bias", 0), call.stride("bias", 1)};
  }
  return p;
}

// The head dimensions to which the flash kernels round up.
inline const char* flash_depths(const Heads& h) {
  return h.depth <= 64                            ? ", 64, 64>"
         : h.depth <= 96                          ? ", 96, 96>"
         : h.depth <= 128                         ? ", 128, 128>"
         : h.depth <= 192 && h.value_depth <= 128 ? ", 192, 128>"
                                                  : ", 256, 256>";
}

} // namespace kg::card::attention_problems
