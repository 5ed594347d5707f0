// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The problems of attention's card: the fields of their shapes, and the layouts of their tensors. A
// shape is b2_h4_kv2_q100_k130_d64: sequences, heads of Q, heads of K and V, queries, keys and
// depth, optionally followed by, in this order:
//   v32        the values' depth, if different
//   bshd       tokens before heads; otherwise heads before tokens
//   ragged     bshd without the sequence axis: sequences get shorter (usual_length) and
//              are contiguous
//   causal, window32, lengths, bias    the masks (attention.h)
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/shape_grammar.h"

namespace kg::card {

// The number of tokens of a sequence if the shape does not give it: all, three quarters, half, a
// quarter, and so on cyclically.
inline std::int64_t usual_length(std::int64_t sequence, std::int64_t most) {
  return most * (4 - sequence % 4) / 4;
}

struct Heads {
  std::int64_t batch, heads, kv_heads, queries, keys, depth, value_depth;
  enum class Layout { bhsd, bshd, ragged };
  Layout layout;
  bool causal;
  std::int64_t window;
  bool lengths, bias;

  bool ragged() const { return layout == Layout::ragged; }
  bool tokens_first() const { return layout != Layout::bhsd; }

  // Selects a tensor's heads and tokens: those of Q or those of K and V.
  enum class Of { queries, keys };

  // The number of tokens of a sequence.
  std::int64_t tokens(Of of, std::int64_t sequence) const {
    if (!ragged()) return of == Of::queries ? queries : keys;
    return of == Of::queries ? usual_length(sequence, queries) : usual_length(sequence + 3, keys);
  }
  // Offset of each sequence's first token, and the end of the last sequence.
  std::vector<std::int64_t> offsets(Of of) const {
    std::vector<std::int64_t> result = {0};
    for (std::int64_t b = 0; b < batch; ++b) result.push_back(result.back() + tokens(of, b));
    return result;
  }

  std::vector<std::int64_t> extents(Of of, std::int64_t length) const {
    const std::int64_t count = heads_of(of), each = tokens(of, 0);
    if (ragged()) return {offsets(of).back(), count, length};
    if (tokens_first()) return {batch, each, count, length};
    return {batch, count, each, length};
  }
  // Offset of a row's first element.
  std::int64_t at(Of of, std::int64_t length, std::int64_t sequence, std::int64_t head,
                  std::int64_t token) const {
    const std::int64_t count = heads_of(of), each = tokens(of, 0);
    if (ragged())
      token += offsets(of)[static_cast<std::size_t>(sequence)];
    else if (tokens_first())
      token += sequence * each;
    return (tokens_first() ? token * count + head : (sequence * count + head) * each + token) *
           length;
  }
  std::int64_t log_sum_at(std::int64_t sequence, std::int64_t head, std::int64_t query) const {
    if (!ragged()) return (sequence * heads + head) * queries + query;
    const std::vector<std::int64_t> begin = offsets(Of::queries);
    return head * begin.back() + begin[static_cast<std::size_t>(sequence)] + query;
  }
  std::int64_t log_sums() const {
    return heads * (ragged() ? offsets(Of::queries).back() : batch * queries);
  }
  std::int64_t kv_head(std::int64_t head) const { return head / (heads / kv_heads); }

  // The number of keys before a sequence's end.
  std::int64_t keys_of(std::int64_t sequence) const {
    return lengths ? usual_length(sequence, keys) : tokens(Of::keys, sequence);
  }
  // True if every query sees a key, in every sequence.
  bool all_see() const {
    for (std::int64_t b = 0; b < batch; ++b)
      if (keys_of(b) < (causal ? tokens(Of::queries, b) : 1)) return false;
    return keys > 0;
  }

 private:
  std::int64_t heads_of(Of of) const { return of == Of::queries ? heads : kv_heads; }
};

// The part of the grammar that attention_decode shares.
inline ShapeGrammar<Heads> extents_grammar() {
  return ShapeGrammar<Heads>()
      .number("b", &Heads::batch)
      .number("h", &Heads::heads)
      .number("kv", &Heads::kv_heads, &Heads::heads)
      .number("q", &Heads::queries)
      .number("k", &Heads::keys)
      .number("d", &Heads::depth)
      .number("v", &Heads::value_depth, &Heads::depth)
      .demand([](const Heads& h) -> std::string {
        return h.kv_heads > 0 && h.heads % h.kv_heads != 0 ? "kv must divide h, the heads" : "";
      });
}
inline ShapeGrammar<Heads> heads_grammar() {
  using Layout = Heads::Layout;
  return extents_grammar()
      .one_of(&Heads::layout,
              {{"", Layout::bhsd}, {"bshd", Layout::bshd}, {"ragged", Layout::ragged}})
      .flag("causal", &Heads::causal)
      .number("window", &Heads::window, 0)
      .flag("lengths", &Heads::lengths)
      .flag("bias", &Heads::bias)
      .demand([](const Heads& h) -> std::string {
        return h.window != 0 && !h.causal ? "a window needs causal" : "";
      });
}

inline Heads heads_of(const Shape& shape) { return heads_grammar().parse(shape); }
inline Heads heads_of(const std::string& shape) { return heads_grammar().parse(shape); }
inline const Heads& heads_of(const Problem& problem) { return problem.parameters.as<Heads>(); }

} // namespace kg::card
