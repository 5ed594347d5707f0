// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test data for attention besides standard normals.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/samples.h"
#include "tests/ops/attention/heads.h"
#include "tests/oracle/fills.h"

namespace kg::card::attention_samples {

inline std::vector<double> normals(Dtype dtype, std::int64_t count, test::Tensor tensor) {
  return test::normal(dtype, count, tensor).values;
}

// Expected values of out: for each query the value of one key, or the mean of all values.
template <class Value>
std::vector<double> outputs(const Heads& h, Value value) {
  std::vector<double> out(static_cast<std::size_t>(h.batch * h.heads * h.queries * h.value_depth));
  for (std::int64_t b = 0; b < h.batch; ++b)
    for (std::int64_t head = 0; head < h.heads; ++head)
      for (std::int64_t i = 0; i < h.queries; ++i)
        for (std::int64_t d = 0; d < h.value_depth; ++d)
          out[static_cast<std::size_t>(h.at(Heads::Of::queries, h.value_depth, b, head, i) + d)] =
              value(b, head, i, d);
  return out;
}

// Zero queries weight all keys equally: the mean of 2^n integers, whose sum is exact in each type.
inline Sample equal_scores(Dtype dtype, const std::string& shape, const Heads& h) {
  const std::int64_t most = dtype == Dtype::bf16 ? 1 : 15;
  const std::vector<double> v =
      test::integers(dtype, h.batch * h.kv_heads * h.keys * h.value_depth, most, test::Tensor::c)
          .values;
  Sample sample{.fill = "equal scores", .shape = shape};
  sample.inputs["q"] = values(dtype, std::vector<double>(static_cast<std::size_t>(
                                         h.batch * h.heads * h.queries * h.depth)));
  sample.inputs["v"] = values(dtype, v);
  sample.expected["out"] =
      outputs(h, [&](std::int64_t b, std::int64_t head, std::int64_t, std::int64_t d) {
        double sum = 0;
        for (std::int64_t j = 0; j < h.keys; ++j)
          sum += v[static_cast<std::size_t>(
              h.at(Heads::Of::keys, h.value_depth, b, h.kv_head(head), j) + d)];
        return sum / static_cast<double>(h.keys);
      });
  return sample;
}

// Keys are rows of a Hadamard matrix (Sylvester's: the sign is the parity of i & j). A query that
// is 32 times one row scores 32 * depth there and 0 elsewhere: the weights are 1 and, after
// underflow in f32, 0. keys <= depth, a power of two.
inline Sample one_key_each(Dtype dtype, const std::string& shape, const Heads& h) {
  const auto sign = [](std::int64_t i, std::int64_t d) {
    return std::popcount(static_cast<std::uint64_t>(i & d)) % 2 == 0 ? 1.0 : -1.0;
  };
  const auto chosen = [&](std::int64_t b, std::int64_t head, std::int64_t i) {
    return (7 * i + 3 * head + 5 * b) % h.keys;
  };
  std::vector<double> q(static_cast<std::size_t>(h.batch * h.heads * h.queries * h.depth));
  std::vector<double> k(static_cast<std::size_t>(h.batch * h.kv_heads * h.keys * h.depth));
  const std::vector<double> v =
      normals(dtype, h.batch * h.kv_heads * h.keys * h.value_depth, test::Tensor::c);
  for (std::int64_t b = 0; b < h.batch; ++b)
    for (std::int64_t d = 0; d < h.depth; ++d) {
      for (std::int64_t head = 0; head < h.heads; ++head)
        for (std::int64_t i = 0; i < h.queries; ++i)
          q[static_cast<std::size_t>(h.at(Heads::Of::queries, h.depth, b, head, i) + d)] =
              32 * sign(chosen(b, head, i), d);
      for (std::int64_t head = 0; head < h.kv_heads; ++head)
        for (std::int64_t j = 0; j < h.keys; ++j)
          k[static_cast<std::size_t>(h.at(Heads::Of::keys, h.depth, b, head, j) + d)] = sign(j, d);
    }
  Sample sample{.fill = "one key each", .shape = shape};
  sample.inputs = {{"q", values(dtype, q)}, {"k", values(dtype, k)}, {"v", values(dtype, v)}};
  sample.expected["out"] =
      outputs(h, [&](std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t d) {
        return v[static_cast<std::size_t>(
            h.at(Heads::Of::keys, h.value_depth, b, h.kv_head(head), chosen(b, head, i)) + d)];
      });
  return sample;
}

// One and two tiles of keys, each kernel of flash and tiled, both layouts, grouped heads.
inline std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape :
       {"b1_h2_q70_k64_d64", "b2_h4_kv2_q18_k128_d80_v40", "b1_h3_kv1_q33_k256_d128_bshd",
        "b1_h1_q20_k128_d192_v128", "b1_h1_q20_k64_d256"})
    samples.push_back(equal_scores(dtype, shape, heads_of(shape)));
  for (const char* const shape : {"b2_h2_kv1_q70_k64_d64", "b1_h4_kv2_q40_k128_d128_bshd",
                                  "b1_h1_q20_k256_d256", "b1_h1_q20_k64_d64_v24"})
    samples.push_back(one_key_each(dtype, shape, heads_of(shape)));
  for (Sample& sample : samples) sample.vacuous_outputs = {"log_sum"}; // equal for all queries
  return samples;
}

// Every mask, combinations of masks, more queries than keys, and widely separated scores.
inline std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape :
       {"b1_h2_q100_k100_d64_causal", "b2_h2_kv1_q30_k170_d32_causal", "b1_h1_q130_k70_d24_causal",
        "b1_h2_q140_k140_d64_causal_window20", "b1_h1_q90_k200_d64_causal_window70",
        "b5_h2_q17_k140_d64_lengths", "b5_h2_kv1_q70_k70_d40_bshd_causal_lengths",
        "b3_h2_q40_k90_d64_causal_window30_lengths", "b2_h3_q40_k90_d64_bias",
        "b1_h4_kv2_q70_k70_d64_bshd_causal_bias", "b1_h1_q1_k300_d128_causal",
        "b1_h8_kv1_q5_k66_d128_v64", "b5_h2_q70_k130_d64_ragged",
        "b3_h4_kv2_q66_k80_d40_ragged_causal", "b4_h2_q70_k70_d64_ragged_causal_window30"})
    samples.push_back({.fill = "normal", .shape = shape});
  // The largest score comes late, which rescales the sums, or early, which does not.
  for (const double direction : {1.0, -1.0}) {
    const std::string shape = "b1_h2_q40_k200_d64";
    const Heads h = heads_of(shape);
    std::vector<double> k = normals(dtype, h.heads * h.keys * h.depth, test::Tensor::b);
    for (std::size_t i = 0; i < k.size(); ++i) {
      const auto key = static_cast<double>(static_cast<std::int64_t>(i) / h.depth % h.keys);
      k[i] = test::round_to(dtype, k[i] * (1 + 0.02 * (direction > 0 ? key : 200 - key)));
    }
    samples.push_back(
        {.fill = "growing scores", .shape = shape, .inputs = {{"k", values(dtype, k)}}});
  }
  // With more queries than keys, the first queries see none: tiles of zeros.
  for (Sample& sample : samples) {
    const Heads h = heads_of(sample.shape);
    const bool fewer_keys =
        h.queries >= h.keys + 16 || h.ragged() || (h.lengths && h.queries == h.keys);
    if (!h.causal || !fewer_keys) continue;
    sample.degenerate = test::Degenerate::sparse;
    sample.vacuous_outputs = {"log_sum"}; // only where the claim does not hold
  }
  return samples;
}

inline void put(Sample& sample, Dtype dtype, const char* tensor, std::int64_t count,
                test::Tensor seed, std::initializer_list<std::pair<std::int64_t, double>> special) {
  std::vector<double> data = normals(dtype, count, seed);
  for (const auto& [at, value] : special) data[static_cast<std::size_t>(at)] = value;
  sample.inputs[tensor] = values(dtype, std::move(data));
}

// NaN and infinities in each tensor reach exactly the rows that see them. Hidden elements of K are
// not read, nor is anything after the last key of a sequence.
inline std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto add = [&](const char* fill, const std::string& shape) -> Sample& {
    return samples.emplace_back(Sample{.fill = fill, .shape = shape, .may_be_vacuous = true});
  };
  const std::string causal = "b1_h1_q90_k90_d64_causal", all = "b1_h2_q70_k70_d64";
  for (const std::string& shape : {causal, all}) {
    const Heads h = heads_of(shape);
    const std::int64_t of_q = h.heads * h.queries * h.depth, of_k = h.heads * h.keys * h.depth;
    put(add("special queries", shape), dtype, "q", of_q, test::Tensor::a,
        {{3 * 64, kNan}, {17 * 64 + 5, kInfinity}, {66 * 64 + 63, -kInfinity}});
    put(add("special keys", shape), dtype, "k", of_k, test::Tensor::b,
        {{40 * 64 + 7, kNan}, {66 * 64, kInfinity}});
  }
  put(add("special values", all), dtype, "v", 2 * 70 * 64, test::Tensor::c,
      {{5 * 64, kNan}, {69 * 64 + 1, kInfinity}, {7 * 64 + 9, -kInfinity}});
  // Whole rows of the bias hide all keys, others all but one key.
  {
    const std::string shape = "b1_h1_q70_k130_d64_bias";
    const Heads h = heads_of(shape);
    std::vector<double> bias = normals(dtype, h.queries * h.keys, test::Tensor::c);
    for (const std::int64_t row : {0, 5, 20, 66})
      for (std::int64_t j = 0; j < h.keys; ++j)
        bias[static_cast<std::size_t>(row * h.keys + j)] = -kInfinity;
    bias[static_cast<std::size_t>(5 * h.keys + 129)] = 0;
    bias[static_cast<std::size_t>(20 * h.keys)] = 0;
    bias[static_cast<std::size_t>(30 * h.keys + 64)] = kInfinity;
    bias[static_cast<std::size_t>(31 * h.keys + 64)] = kNan;
    add("special bias", shape).inputs["bias"] = values(dtype, bias);
  }
  // Nothing after a sequence's last key is read; lengths outside [0, keys] are clamped.
  {
    const std::string shape = "b4_h1_q20_k70_d64_lengths";
    const Heads h = heads_of(shape);
    const std::vector<double> lengths = {33, -2, 64, 1000};
    std::vector<double> k = normals(dtype, 4 * h.keys * h.depth, test::Tensor::b);
    std::vector<double> v = normals(dtype, 4 * h.keys * h.depth, test::Tensor::c);
    for (std::int64_t i = 0; i < 4 * h.keys * h.depth; ++i) {
      const auto key = static_cast<double>(i / h.depth % h.keys);
      if (key >= lengths[static_cast<std::size_t>(i / h.depth / h.keys)])
        k[static_cast<std::size_t>(i)] = v[static_cast<std::size_t>(i)] = kNan;
    }
    samples.push_back({.fill = "no keys", .shape = "b2_h2_q5_k0_d8", .may_be_vacuous = true});
    Sample& sample = add("nothing behind the last key", shape);
    sample.inputs = {{"k", values(dtype, k)},
                     {"v", values(dtype, v)},
                     {"key_lengths", values(Dtype::i32, lengths)}};
  }
  // The values of one ragged sequence stay within it.
  {
    const std::string shape = "b3_h2_q20_k70_d64_ragged";
    const Heads h = heads_of(shape);
    const std::vector<std::int64_t> begin = h.offsets(Heads::Of::keys);
    std::vector<double> v = normals(dtype, begin.back() * h.heads * h.depth, test::Tensor::c);
    std::fill(v.begin() + begin[1] * h.heads * h.depth, v.begin() + begin[2] * h.heads * h.depth,
              kNan);
    add("values of one sequence", shape).inputs["v"] = values(dtype, v);
  }
  return samples;
}

} // namespace kg::card::attention_samples
