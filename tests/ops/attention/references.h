// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What attention's results should be, and what they may be off: of whole problems, and of single
// elements of timed ones, whose oracle would take minutes.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "attention/attention.h"
#include "tests/ops/attention/heads.h"
#include "tests/oracle/oracle_attention.h"
#include "tests/oracle/tolerance_attention.h"

namespace kg::card::attention_references {

// A library may round the scores and the weights to the type of its tensors.
inline std::int64_t chain_of(std::string_view variant, std::int64_t keys) {
  if (variant.empty()) return attention::chain(attention::Variant::flash, keys);
  return attention::chain(enumerator_of(attention::kVariants, variant), keys);
}

inline double out_tolerance(std::string_view variant, Dtype dtype, const Heads& h, double expected,
                            double weighted_abs, double condition) {
  if (!std::isfinite(expected) || !std::isfinite(condition)) return 0;
  const std::int64_t chain = chain_of(variant, h.keys);
  if (dtype != Dtype::f32 && variant != "naive")
    return test::attention_xf16_tolerance(dtype, expected, weighted_abs, condition, h.depth, chain);
  return test::stored_tolerance(
      dtype, expected, test::attention_f32_tolerance(weighted_abs, condition, h.depth, chain));
}

inline double log_sum_tolerance(std::string_view variant, Dtype dtype, const Heads& h,
                                double expected, double condition) {
  if (!std::isfinite(expected)) return 0;
  return test::attention_log_sum_tolerance(dtype, expected, condition, h.depth,
                                           chain_of(variant, h.keys));
}

// One row of scores: the oracle's problem with a single query and the keys that it sees.
struct Row {
  std::int64_t sequence, head, query;
};
// get(tensor, index) gives an element.
template <class Get>
test::AttentionOracle row_oracle(const Heads& h, double scale, const Row& row, Get get) {
  const std::int64_t most = h.tokens(Heads::Of::keys, row.sequence);
  const std::int64_t keys =
      h.lengths ? std::clamp(static_cast<std::int64_t>(get("key_lengths", row.sequence)),
                             std::int64_t{0}, most)
                : most;
  const std::int64_t queries = h.tokens(Heads::Of::queries, row.sequence);
  const std::int64_t last = h.causal ? row.query + keys - queries : keys - 1;
  const std::int64_t end = std::clamp<std::int64_t>(last + 1, 0, keys);
  const std::int64_t first =
      h.window > 0 ? std::clamp<std::int64_t>(last + 1 - h.window, 0, end) : 0;
  const auto part = [&](const char* name, std::int64_t begin, std::int64_t count,
                        std::vector<double>& to) {
    for (std::int64_t i = 0; i < count; ++i) to.push_back(get(name, begin + i));
  };
  std::vector<double> q, k, v, bias;
  part("q", h.at(Heads::Of::queries, h.depth, row.sequence, row.head, row.query), h.depth, q);
  for (std::int64_t j = first; j < end; ++j) {
    const std::int64_t head = h.kv_head(row.head);
    part("k", h.at(Heads::Of::keys, h.depth, row.sequence, head, j), h.depth, k);
    part("v", h.at(Heads::Of::keys, h.value_depth, row.sequence, head, j), h.value_depth, v);
  }
  if (h.bias) part("bias", (row.head * h.queries + row.query) * h.keys + first, end - first, bias);
  return test::attention_oracle({.queries = 1,
                                 .keys = end - first,
                                 .depth = h.depth,
                                 .value_depth = h.value_depth,
                                 .scale = scale},
                                q, k, v, bias);
}

struct Results {
  std::vector<double> value, weighted_abs, condition; // of out
  std::vector<double> log_sum, query_condition;
};

inline References references(const Problem& problem, const Inputs& inputs) {
  const Heads h = heads_of(problem);
  std::map<std::string_view, const std::vector<double>*> tensors;
  for (const auto& [name, input] : inputs) tensors[name] = &input.values;
  const auto get = [&](const char* name, std::int64_t i) {
    return (*tensors.at(name))[static_cast<std::size_t>(i)];
  };
  const auto all = std::make_shared<Results>();
  for (auto* const each : {&all->value, &all->weighted_abs, &all->condition})
    each->resize(static_cast<std::size_t>(problem.tensor("out").size()));
  for (auto* const each : {&all->log_sum, &all->query_condition})
    each->resize(static_cast<std::size_t>(h.log_sums()));
  for (std::int64_t b = 0; b < h.batch; ++b)
    for (std::int64_t head = 0; head < h.heads; ++head)
      for (std::int64_t i = 0; i < h.tokens(Heads::Of::queries, b); ++i) {
        const test::AttentionOracle row =
            row_oracle(h, problem.scalars.at("scale"), {b, head, i}, get);
        const auto to = h.at(Heads::Of::queries, h.value_depth, b, head, i);
        std::copy(row.value.begin(), row.value.end(), all->value.begin() + to);
        std::copy(row.weighted_abs.begin(), row.weighted_abs.end(), all->weighted_abs.begin() + to);
        std::copy(row.score_condition.begin(), row.score_condition.end(),
                  all->condition.begin() + to);
        const auto at = static_cast<std::size_t>(h.log_sum_at(b, head, i));
        all->log_sum[at] = row.log_sum[0];
        all->query_condition[at] = row.query_condition[0];
      }
  References result;
  result["out"] = {all->value, [=, dtype = problem.dtype](std::string_view variant) {
                     std::vector<double> bounds;
                     for (std::size_t i = 0; i < all->value.size(); ++i)
                       bounds.push_back(out_tolerance(variant, dtype, h, all->value[i],
                                                      all->weighted_abs[i], all->condition[i]));
                     return bounds;
                   }};
  result["log_sum"] = {all->log_sum, [=, dtype = problem.dtype](std::string_view variant) {
                         std::vector<double> bounds;
                         for (std::size_t i = 0; i < all->log_sum.size(); ++i)
                           bounds.push_back(log_sum_tolerance(variant, dtype, h, all->log_sum[i],
                                                              all->query_condition[i]));
                         return bounds;
                       }};
  return result;
}

inline Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                          std::int64_t count, const Values& values) {
  const Heads h = heads_of(problem);
  std::map<std::string_view, Elements> tensors;
  for (const Tensor& tensor : problem.inputs) tensors[tensor.name] = values(tensor.name);
  const auto get = [&](const char* name, std::int64_t i) { return tensors.at(name)(i); };
  const bool is_out = output == "out";
  const std::int64_t length = is_out ? h.value_depth : 1;
  Results all;
  test::AttentionOracle row;
  for (std::int64_t i = first; i < first + count; ++i) {
    if (i == first || i % length == 0) {
      const std::int64_t n = i / length;
      const bool tokens_first = is_out && h.tokens_first;
      const std::int64_t inner = tokens_first ? h.heads : h.queries;
      const std::int64_t outer = n / inner % (tokens_first ? h.queries : h.heads);
      row = row_oracle(h, problem.scalars.at("scale"),
                       {n / (h.heads * h.queries), tokens_first ? n % inner : outer,
                        tokens_first ? outer : n % inner},
                       get);
    }
    const auto at = static_cast<std::size_t>(i % length);
    all.value.push_back(is_out ? row.value[at] : row.log_sum[0]);
    all.weighted_abs.push_back(is_out ? row.weighted_abs[at] : 0);
    all.condition.push_back(row.query_condition[0]);
  }
  return {all.value, [=, dtype = problem.dtype](std::string_view variant) {
            std::vector<double> bounds;
            for (std::size_t i = 0; i < all.value.size(); ++i)
              bounds.push_back(
                  is_out ? out_tolerance(variant, dtype, h, all.value[i], all.weighted_abs[i],
                                         all.condition[i])
                         : log_sum_tolerance(variant, dtype, h, all.value[i], all.condition[i]));
            return bounds;
          }};
}

} // namespace kg::card::attention_references
