// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention: out = softmax(scale Q K^T + bias) V for each head of each sequence. Optionally also
// the log-sum-exp of each row of scores, which the backward pass needs.
//
// Shapes: Q has batch x heads x queries rows of `depth` elements. K and V have batch x kv_heads x
// keys rows of `depth` and `value_depth`; out has Q's rows of `value_depth`. kv_heads divides
// heads: heads / kv_heads neighbouring heads of Q share one head of K and V (grouped-query
// attention; 1: multi-query). Rows are contiguous, and three strides place them. So tensors may be
// batch x heads x tokens x depth, batch x tokens x heads x depth, or packed with others.
//
// Ragged sequences: with query_offsets and key_offsets, tensors have no sequence axis. The tokens
// of sequence b are offsets[b] to offsets[b + 1]: query_offsets for Q and out, key_offsets for K
// and V. `queries` and `keys` are then the longest sequence's numbers of tokens.
//
// Masks, in any combination:
//   key_lengths  sequence b has key_lengths[b] keys; later rows of K and V are not read
//   causal       query i sees keys 0 to i + n - queries of n keys. The last query sees all keys, as
//                in decoding. With more queries than keys, the first queries see none.
//   window       with causal: only the last `window` of these keys
//   bias         added to the scaled scores; -inf hides a key
//
// Rounding: scores, exponentials and sums are f32 for every T. flash and wgmma round the weights to
// T before they multiply them by V. The result is rounded to T once. Every variant adds in a fixed
// order, so repeated runs are bit-identical.
//
// Special values: a query that sees no key gets 0, and a log-sum-exp of -inf. A NaN, a +inf or an
// overflow of f32 among the scores of a query makes its row NaN and leaves other rows unchanged.
// Masked rows of K have no effect. A row of V that only some queries see must be finite, because
// every variant but naive may multiply it by 0.
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
  // batch + 1 ascending numbers each, the first one 0; both or none.
  const std::int32_t* query_offsets = nullptr;
  const std::int32_t* key_offsets = nullptr;
  std::int64_t total_queries = 0; // with offsets: the last of them, for wgmma; 0: unknown
  std::int64_t total_keys = 0;
  const std::int32_t* key_lengths = nullptr; // batch numbers from 0 to keys; null: `keys` for all
  const T* bias = nullptr;                   // rows of `keys` elements; null: none
  Strides bias_stride = {};                  // token: between queries; 0 shares the row
  // Log-sum-exp: batch x heads rows of `queries`. Ragged: heads rows of all queries. Null: omitted.
  float* log_sum = nullptr;
  std::int64_t log_sum_stride = 0; // from one such row to the next
  float* workspace = nullptr;      // of workspace_bytes()
};

// naive: one thread per query, scores in memory.
// tiled: f32; 64 queries per block, one pass over the keys in tiles of 64, sums in registers.
// flash: f16, and bf16 from compute capability 8.0; as tiled, on Tensor Cores. depth and
//        value_depth are multiples of 8, depth is at most 256, value_depth at most depth.
// wgmma: f16 and bf16 on compute capability 9.0; as flash, with bulk copies and 128 or 192 queries
//        per block. With a bias, or where rows are not aligned to 16 bytes, a stride of several
//        sequences or heads is 0, or ragged sequences come without total_queries and total_keys, it
//        runs flash's kernel, and automatic reports flash.
enum class Variant { automatic, naive, tiled, flash, wgmma };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled, Variant::flash,
                                        Variant::wgmma};

using kg::name;

// Whether `variant` supports these head dimensions on the current device. T: float, f16, bf16.
template <class T>
bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth);

// The variant that runs: automatic selects wgmma for more than 64 queries that fit it, else the
// first supported one of flash, tiled and naive.
template <class T>
Variant resolved(Variant variant, const Problem<T>& problem);

// Bytes of device workspace that `run` needs, aligned to 16. Only naive needs any.
template <class T>
std::size_t workspace_bytes(const Problem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0;
// without keys, every query is one that sees no key. Throws Error naming the field for:
//   - a missing pointer, a negative extent or stride, or an extent of 2^31 or more
//   - kv_heads that does not divide heads, a depth below 1, or a scale that is not positive
//   - a window that is negative or set without causal, or a negative total of tokens
//   - only one kind of offsets, or offsets together with a bias or a sequence stride
//   - rows of a result that overlap each other, or a packed result that overlaps a packed input
//   - a variant that does not support the depths
// Tensors with gaps may be interleaved; overlaps in the gaps are not checked. Values on the device
// are not checked either: key lengths are clamped to [0, keys], and offsets must be valid.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// The longest sequential chain of additions over the keys. The error bound grows with it.
std::int64_t chain(Variant variant, std::int64_t keys);

// The number of unmasked (query, key) pairs in one head of one sequence with `keys` keys.
std::int64_t visible_pairs(std::int64_t queries, std::int64_t keys, bool causal,
                           std::int64_t window);

// Bytes: Q, the unmasked rows of K and V, and the unmasked bias are read once; out and log_sum are
// written once. Flops: 2 (depth + value_depth) per unmasked pair, as in the literature, without the
// exponentials. Lengths and offsets are unknown here, so every sequence counts with `queries` and
// `keys` tokens.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::attention
