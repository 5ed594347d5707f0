// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention: out = softmax(scale Q K^T + bias) V, for each head of each sequence, and the logarithm
// of the sum of exponentials of each row of scores, which a backward pass needs.
//
// Problem: Q has batch x heads x queries rows of `depth` elements, K and V have batch x kv_heads x
// keys rows of `depth` and `value_depth`, out has Q's rows of `value_depth`. kv_heads divides
// heads: each head of K and V serves heads / kv_heads neighbours of Q (grouped heads; 1:
// multi-query). A row is contiguous; where it begins is a matter of three strides, so that a tensor
// may lie as batch x heads x tokens x depth, as batch x tokens x heads x depth, or packed with
// others.
//
// Ragged sequences: with query_offsets and key_offsets the tokens of all sequences follow each
// other in tensors without a sequence axis; sequence b has tokens offsets[b] to offsets[b + 1], of
// Q and out by the first, of K and V by the second. queries and keys are then the most that one
// has.
//
// Masks, all of which may be combined. key_lengths: sequence b has key_lengths[b] keys, and what
// lies behind them is not read. causal: query i sees the keys up to i + n - queries of n; the last
// query sees all, as in decoding, and where there are more queries than keys the first ones see
// none. window: of these, the last `window` alone. bias: added to the scaled scores; -inf hides a
// key.
//
// Rounding: scores, their exponentials and all sums are of f32, also of f16 and bf16 tensors; flash
// rounds the weights to T before they meet V. The result is rounded once to T. Every variant adds
// in a fixed order: repeated runs are bit-identical.
//
// Special values: a query that sees no key gets 0, and -inf for its logarithm. A NaN or +inf among
// the scores of a query, or a score beyond f32's range, makes its row NaN; other rows do not
// change. K is not looked at where a mask hides it. A row of V that is hidden from some queries but
// not from all must be finite: flash and tiled may multiply it by 0.
//
// Sources: Dao, "FlashAttention-2", arXiv 2307.08691 (one pass over the keys with a running
// maximum); Ainslie et al., arXiv 2305.13245 (grouped heads).
#pragma once

#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::attention {

// Elements from one sequence, head or token to the next.
struct Strides {
  std::int64_t sequence = 0, head = 0, token = 0;
};

template <class T>
struct Problem {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 1;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t depth = 0;       // of Q and K
  std::int64_t value_depth = 0; // of V and out
  const T* q = nullptr;
  Strides q_stride = {};
  const T* k = nullptr;
  Strides k_stride = {};
  const T* v = nullptr;
  Strides v_stride = {};
  T* out = nullptr;
  Strides out_stride = {};
  float scale = 1; // above 0; 1 / sqrt(depth) as a rule
  bool causal = false;
  std::int64_t window = 0; // with causal; 0: all keys
  // batch + 1 numbers each, both or none; ascending, from 0 on.
  const std::int32_t* query_offsets = nullptr;
  const std::int32_t* key_offsets = nullptr;
  const std::int32_t* key_lengths = nullptr; // batch numbers from 0 to keys; null: all have `keys`
  const T* bias = nullptr;                   // rows of `keys` elements; null: none
  Strides bias_stride = {};                  // token: from one query to the next; 0 shares it
  // batch x heads rows of `queries`, ragged: heads rows of all queries; null: not wanted
  float* log_sum = nullptr;
  std::int64_t log_sum_stride = 0; // from one such row to the next
  float* workspace = nullptr;      // of workspace_bytes()
};

// naive: one thread per query, its scores in memory. tiled: 64 queries per block, one pass over the
// keys, 64 at a time, products in registers; f32. flash: the same by matrix
// instructions; f16, and bf16 where the device has compute capability 8.0; depth and value_depth
// are multiples of 8, up to 256 and not more than depth.
enum class Variant { automatic, naive, tiled, flash };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled, Variant::flash};

using kg::name;

// Whether `variant` can do heads of this depth on the current device. T: float, f16, bf16.
template <class T>
bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth);

// What runs where `variant` is asked for: automatic is the first of flash, tiled and naive that
// can.
template <class T>
Variant resolved(Variant variant, std::int64_t depth, std::int64_t value_depth);

// Bytes of device workspace, aligned to 16, that `run` needs; 0 but for naive.
template <class T>
std::size_t workspace_bytes(const Problem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0;
// without keys the results are those of queries that see none. Throws Error naming the field on a
// null pointer where one is needed, a negative extent or stride, extents of 2^31 or more, kv_heads
// that do not divide heads, a depth below 1, a scale that is not a positive number, a window that
// is negative or not causal, offsets of one kind alone, or with a bias or a stride from sequence to
// sequence, rows of a result that overlap each other, a packed result that overlaps a packed input,
// or a variant that does not support the depths. Rows of one tensor may lie in the gaps of another;
// whether they meet there is not checked. Nor is what lies on the device: a key length outside [0,
// keys] counts as the nearer end, offsets must be right.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Longest sequential chain of additions over keys: what the error bound grows with.
std::int64_t chain(Variant variant, std::int64_t keys);

// Pairs of a query and a key that it sees, of one head of one sequence with `keys` keys.
std::int64_t visible_pairs(std::int64_t queries, std::int64_t keys, bool causal,
                           std::int64_t window);

// Q, and the rows of K and V that any query may see, read once, bias where it is seen; out and
// log_sum written once. Two operations for each product of a visible pair's score and of its value,
// as the literature counts; exponentials come on top. Lengths and offsets are data: as if
// every sequence had `queries` and `keys`.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::attention
