// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Expected results of attention and their tolerances: for whole problems, and for single elements
// of timed problems, for which the full oracle would take minutes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/attention/attention.h"
#include "tests/ops/attention/heads.h"
#include "tests/oracle/oracle_attention.h"
#include "tests/oracle/tolerance_attention.h"

namespace kg::card::attention_references {

// A library may round scores and weights to the type of its tensors.
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

struct Row {
  std::int64_t sequence, head, query;
};
// Keys [first, end).
struct Keys {
  std::int64_t first, end;
};
inline Keys keys_of(const Heads& h, const Row& row, const Values& values) {
  const std::int64_t most = h.tokens(Heads::Of::keys, row.sequence);
  const std::int64_t keys =
      h.lengths ? std::clamp(static_cast<std::int64_t>(values("key_lengths")(row.sequence)),
                             std::int64_t{0}, most)
                : most;
  const std::int64_t queries = h.tokens(Heads::Of::queries, row.sequence);
  const std::int64_t last = h.causal ? row.query + keys - queries : keys - 1;
  const std::int64_t end = std::clamp<std::int64_t>(last + 1, 0, keys);
  return {h.window > 0 ? std::clamp<std::int64_t>(last + 1 - h.window, 0, end) : 0, end};
}

// One row of scores: the oracle's problem with a single query and some of the keys that it sees.
struct RowInputs {
  test::AttentionProblem problem;
  std::vector<double> q, k, v, bias;
};
inline void append(std::vector<double>& to, const Elements& elements, std::int64_t first,
                   std::int64_t count) {
  const std::size_t before = to.size();
  to.resize(before + static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    to[before + static_cast<std::size_t>(i)] = elements(first + i);
}
inline RowInputs row_inputs(const Heads& h, double scale, const Row& row, const Keys& keys,
                            const Values& values) {
  RowInputs result{{.queries = 1,
                    .keys = keys.end - keys.first,
                    .depth = h.depth,
                    .value_depth = h.value_depth,
                    .scale = scale},
                   {},
                   {},
                   {},
                   {}};
  const Elements k = values("k"), v = values("v");
  append(result.q, values("q"),
         h.at(Heads::Of::queries, h.depth, row.sequence, row.head, row.query), h.depth);
  for (std::int64_t j = keys.first; j < keys.end; ++j) {
    const std::int64_t head = h.kv_head(row.head);
    append(result.k, k, h.at(Heads::Of::keys, h.depth, row.sequence, head, j), h.depth);
    append(result.v, v, h.at(Heads::Of::keys, h.value_depth, row.sequence, head, j), h.value_depth);
  }
  if (h.bias)
    append(result.bias, values("bias"), (row.head * h.queries + row.query) * h.keys + keys.first,
           keys.end - keys.first);
  return result;
}
inline test::AttentionOracle row_oracle(const Heads& h, double scale, const Row& row,
                                        const Values& values) {
  const RowInputs in = row_inputs(h, scale, row, keys_of(h, row, values), values);
  return test::attention_oracle(in.problem, in.q, in.k, in.v, in.bias);
}

// Row n of a tensor, in the tensor's order of heads and tokens.
inline Row row_at(std::int64_t heads, std::int64_t tokens, bool tokens_first, std::int64_t n) {
  const std::int64_t sequence = n / (heads * tokens);
  return tokens_first ? Row{sequence, n % heads, n / heads % tokens}
                      : Row{sequence, n / tokens % heads, n % tokens};
}

struct Results {
  std::vector<double> value, weighted_abs, condition; // for out
  std::vector<double> log_sum, query_condition;
};

inline Results results_of(const Heads& h, double scale, const Values& values) {
  const auto of_queries = [&](std::int64_t length) {
    return static_cast<std::size_t>(test::element_count(h.extents(Heads::Of::queries, length)));
  };
  Results all;
  for (auto* const each : {&all.value, &all.weighted_abs, &all.condition})
    each->resize(of_queries(h.value_depth));
  for (auto* const each : {&all.log_sum, &all.query_condition})
    each->resize(static_cast<std::size_t>(h.log_sums()));
  for (std::int64_t b = 0; b < h.batch; ++b)
    for (std::int64_t head = 0; head < h.heads; ++head)
      for (std::int64_t i = 0; i < h.tokens(Heads::Of::queries, b); ++i) {
        const test::AttentionOracle row = row_oracle(h, scale, {b, head, i}, values);
        const auto to = h.at(Heads::Of::queries, h.value_depth, b, head, i);
        std::copy(row.value.begin(), row.value.end(), all.value.begin() + to);
        std::copy(row.weighted_abs.begin(), row.weighted_abs.end(), all.weighted_abs.begin() + to);
        std::copy(row.score_condition.begin(), row.score_condition.end(),
                  all.condition.begin() + to);
        const auto at = static_cast<std::size_t>(h.log_sum_at(b, head, i));
        all.log_sum[at] = row.log_sum[0];
        all.query_condition[at] = row.query_condition[0];
      }
  return all;
}

// Reads the tensors that a test holds.
inline Values values_of(const Inputs& inputs) {
  return [&inputs](std::string_view tensor) -> Elements {
    return [&all = inputs.at(std::string(tensor)).values](std::int64_t i) {
      return all[static_cast<std::size_t>(i)];
    };
  };
}

inline References references(const Problem& problem, const Inputs& inputs) {
  const Heads& h = heads_of(problem);
  const auto all =
      std::make_shared<Results>(results_of(h, problem.scalars.at("scale"), values_of(inputs)));
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
  const Heads& h = heads_of(problem);
  const bool is_out = output == "out";
  const std::int64_t length = is_out ? h.value_depth : 1;
  Results all;
  test::AttentionOracle row;
  for (std::int64_t i = first; i < first + count; ++i) {
    if (i == first || i % length == 0)
      row = row_oracle(h, problem.scalars.at("scale"),
                       row_at(h.heads, h.queries, is_out && h.tokens_first(), i / length), values);
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
