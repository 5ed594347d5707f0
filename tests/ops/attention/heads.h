// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The problems that attention's card knows: what their shapes say, and how their tensors lie. A
// shape is b2_h4_kv2_q100_k130_d64, sequences, heads of Q, heads of K and V, queries, keys and
// depth; and, in this order where they are there:
//   v32        the values' depth, where it is another one
//   bshd       tokens before heads; else heads before tokens
//   causal, window32, lengths, bias    the masks (attention.h)
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/contract/card.h"

namespace kg::card {

struct Heads {
  std::int64_t batch, heads, kv_heads, queries, keys, depth, value_depth;
  bool tokens_first, causal;
  std::int64_t window;
  bool lengths, bias;

  // Of a tensor with so many heads and tokens.
  std::vector<std::int64_t> extents(std::int64_t of_heads, std::int64_t tokens,
                                    std::int64_t length) const {
    if (tokens_first) return {batch, tokens, of_heads, length};
    return {batch, of_heads, tokens, length};
  }
  // Where its row begins.
  std::int64_t at(std::int64_t of_heads, std::int64_t tokens, std::int64_t length,
                  std::int64_t sequence, std::int64_t head, std::int64_t token) const {
    const std::int64_t row = tokens_first ? (sequence * tokens + token) * of_heads + head
                                          : (sequence * of_heads + head) * tokens + token;
    return row * length;
  }
  std::int64_t kv_head(std::int64_t head) const { return head / (heads / kv_heads); }

  // Whether each query sees a key, in every sequence.
  bool all_see() const { return !lengths && keys > 0 && (!causal || keys >= queries); }
};

inline Heads heads_of(const Shape& shape) {
  const auto optional = [&](const char* key, std::int64_t otherwise) {
    const std::string text = shape.text();
    const std::string start = std::string("_") + key;
    const std::size_t found = text.find(start);
    const bool there = found != std::string::npos && found + start.size() < text.size() &&
                       text[found + start.size()] >= '0' && text[found + start.size()] <= '9';
    return there ? shape.number(key) : otherwise;
  };
  const std::int64_t heads = shape.number("h"), depth = shape.number("d");
  return {.batch = shape.number("b"),
          .heads = heads,
          .kv_heads = optional("kv", heads),
          .queries = shape.number("q"),
          .keys = shape.number("k"),
          .depth = depth,
          .value_depth = optional("v", depth),
          .tokens_first = shape.has("bshd"),
          .causal = shape.has("causal"),
          .window = optional("window", 0),
          .lengths = shape.has("lengths"),
          .bias = shape.has("bias")};
}
inline Heads heads_of(const std::string& shape) { return heads_of(Shape::parse(shape)); }
inline Heads heads_of(const Problem& problem) { return heads_of(problem.shape); }

// How many keys a sequence has, unless a sample says otherwise: all, three quarters, half, a
// quarter of them, and so on.
inline std::int64_t usual_length(std::int64_t sequence, std::int64_t keys) {
  return keys * (4 - sequence % 4) / 4;
}

} // namespace kg::card
