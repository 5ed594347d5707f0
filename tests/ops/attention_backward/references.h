// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Expected results of attention_backward and their tolerances: for whole problems, and for single
// elements of timed ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ops/attention_backward/attention_backward.h"
#include "tests/ops/attention/heads.h"
#include "tests/ops/attention/references.h"
#include "tests/oracle/oracle_attention_backward.h"
#include "tests/oracle/tolerance_attention.h"

namespace kg::card::attention_backward_references {

using attention_references::Keys;
using attention_references::Row;
using test::AttentionGradient;

// Tolerances of an output's elements. A library uses its own out and log_sum; their rounding adds
// one error to <dout, out>.
inline std::vector<double> bounds(std::string_view variant, Dtype dtype, const Heads& h,
                                  std::string_view output, const AttentionGradient& gradient) {
  const std::int64_t chain = output == "dq"
                                 ? attention_backward::query_chain(h.keys)
                                 : attention_backward::key_chain(h.queries, h.heads / h.kv_heads);
  std::vector<double> result;
  for (std::size_t i = 0; i < gradient.value.size(); ++i) {
    const test::AttentionGradientElement e{
        gradient.value[i],   gradient.terms[i], gradient.scores[i], gradient.products[i],
        gradient.factors[i], h.depth,           h.value_depth,      chain};
    if (!std::isfinite(e.value + e.scores + e.products)) {
      result.push_back(0);
      continue;
    }
    double bound =
        dtype != Dtype::f32 && variant != "naive"
            ? test::attention_gradient_xf16_tolerance(dtype, e)
            : test::stored_tolerance(dtype, e.value, test::attention_gradient_f32_tolerance(e));
    if (variant.empty()) bound += unit_roundoff(dtype) * e.products;
    result.push_back(bound);
  }
  return result;
}

// The gradients of a query and some keys that it sees.
inline test::AttentionBackwardOracle row_oracle(const Heads& h, double scale, const Row& row,
                                                const Keys& keys, const Values& values) {
  const attention_references::RowInputs in =
      attention_references::row_inputs(h, scale, row, keys, values);
  const std::int64_t at =
      h.at(Heads::Of::queries, h.value_depth, row.sequence, row.head, row.query);
  std::vector<double> out, dout;
  attention_references::append(out, values("out"), at, h.value_depth);
  attention_references::append(dout, values("dout"), at, h.value_depth);
  const std::vector<double> log_sum = {
      values("log_sum")(h.log_sum_at(row.sequence, row.head, row.query))};
  return test::attention_backward_oracle(in.problem,
                                         {in.q, in.k, in.v, out, log_sum, dout, in.bias});
}

inline References references(const Problem& problem, const Inputs& inputs) {
  const Heads& h = heads_of(problem);
  const double scale = problem.scalars.at("scale");
  const Values values = attention_references::values_of(inputs);
  const auto all = std::make_shared<std::map<std::string, AttentionGradient, std::less<>>>();
  for (const Tensor& output : problem.outputs)
    all->emplace(output.name, AttentionGradient(output.size()));
  for (std::int64_t b = 0; b < h.batch; ++b)
    for (std::int64_t head = 0; head < h.heads; ++head)
      for (std::int64_t i = 0; i < h.tokens(Heads::Of::queries, b); ++i) {
        const Row row{b, head, i};
        const Keys keys = attention_references::keys_of(h, row, values);
        const test::AttentionBackwardOracle gradients = row_oracle(h, scale, row, keys, values);
        all->at("dq").add(h.at(Heads::Of::queries, h.depth, b, head, i), gradients.dq);
        for (std::int64_t j = keys.first; j < keys.end; ++j)
          for (const auto& [to, from, length] : {std::tuple{"dk", &gradients.dk, h.depth},
                                                 std::tuple{"dv", &gradients.dv, h.value_depth}})
            all->at(to).add(h.at(Heads::Of::keys, length, b, h.kv_head(head), j),
                            from->part((j - keys.first) * length, length));
      }
  References result;
  for (const auto& [output, gradient] : *all) {
    result[output] = {gradient.value,
                      [=, dtype = problem.dtype, output = output](std::string_view variant) {
                        return bounds(variant, dtype, h, output, all->at(output));
                      }};
    // Zeros of elements that no query sees.
    result[output].holds_zeros =
        std::find(gradient.value.begin(), gradient.value.end(), 0.0) != gradient.value.end();
  }
  return result;
}

// A row of an output: dq sums over all keys that the query sees; dk and dv sum over all queries
// that see the key, in all heads of the group.
inline AttentionGradient row_of(const Heads& h, double scale, std::string_view output,
                                std::int64_t n, const Values& values) {
  using attention_references::row_at;
  if (output == "dq") {
    const Row row = row_at(h.heads, h.queries, h.tokens_first(), n);
    return row_oracle(h, scale, row, attention_references::keys_of(h, row, values), values).dq;
  }
  const Row key = row_at(h.kv_heads, h.keys, h.tokens_first(), n);
  const std::int64_t group = h.heads / h.kv_heads;
  AttentionGradient sum(output == "dk" ? h.depth : h.value_depth);
  for (std::int64_t head = key.head * group; head < (key.head + 1) * group; ++head)
    for (std::int64_t i = 0; i < h.queries; ++i) {
      const Row row{key.sequence, head, i};
      const Keys seen = attention_references::keys_of(h, row, values);
      if (key.query < seen.first || key.query >= seen.end) continue;
      const test::AttentionBackwardOracle pair =
          row_oracle(h, scale, row, {key.query, key.query + 1}, values);
      sum.add(0, output == "dk" ? pair.dk : pair.dv);
    }
  return sum;
}

inline Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                          std::int64_t count, const Values& values) {
  const Heads& h = heads_of(problem);
  const std::int64_t length = output == "dv" ? h.value_depth : h.depth;
  AttentionGradient row, all;
  for (std::int64_t i = first; i < first + count; ++i) {
    if (i == first || i % length == 0)
      row = row_of(h, problem.scalars.at("scale"), output, i / length, values);
    all.append(row.part(i % length, 1));
  }
  return {all.value,
          [=, dtype = problem.dtype, output = std::string(output)](std::string_view variant) {
            return bounds(variant, dtype, h, output, all);
          }};
}

} // namespace kg::card::attention_backward_references
