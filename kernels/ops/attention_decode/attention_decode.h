// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_decode: attention of the last one to eight tokens of each sequence to all keys in a
// cache, out = softmax(scale Q K^T) V; query i of n sees the keys up to length - n + i, its own.
//
// Problem: as attention's (ops/attention/attention.h), causal, with heads grouped. Q and out have a
// row for each query of each head of each sequence. K and V lie in pages (primitives/paged.h): in a
// contiguous cache one page of `keys` tokens per sequence, in a paged one pages that a table names.
// Sequence b has key_lengths[b] keys, the queries' own included; what lies behind them is not read,
// nor is the table there.
//
// Rounding: scores, exponentials and all sums are of f32; the result is rounded once to T. The keys
// of a sequence are split evenly among blocks, and the parts added in the order of the keys:
// repeated runs on one device are bit-identical, whatever the other lengths are.
//
// Special values: a query that sees no key gets 0. A NaN or +inf among the scores of a query, or a
// score beyond f32's range, makes its row NaN; other rows do not change. A row of V that is hidden
// from some queries but not from all must be finite: it may be multiplied by 0.
//
// Sources: Dao et al., "Flash-Decoding for long-context inference" (2023), for the split over the
// keys.
#pragma once

#include "ops/attention/attention.h"
#include "primitives/paged.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::attention_decode {

using attention::Strides;

inline constexpr int kMostQueries = 8;
inline constexpr int kMostDepth = 256;

template <class T>
struct Problem {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 1;
  std::int64_t queries = 0;
  std::int64_t keys = 0;        // the most that a sequence has
  std::int64_t depth = 0;       // of Q and K
  std::int64_t value_depth = 0; // of V and out
  const T* q = nullptr;
  Strides q_stride = {};
  const T* k = nullptr;
  PageStrides k_stride = {};
  const T* v = nullptr;
  PageStrides v_stride = {};
  T* out = nullptr;
  Strides out_stride = {};
  float scale = 1;                           // above 0; 1 / sqrt(depth) as a rule
  const std::int32_t* key_lengths = nullptr; // batch numbers from 0 to keys; null: all have `keys`
  PageTable table = {};                      // without one table.tokens does not matter
  float* workspace = nullptr;                // of workspace_bytes()
};

// naive: one thread per query, its scores in memory. split: keys and values of a head go once
// through registers, for four queries at a time; depths up to 256.
enum class Variant { automatic, naive, split };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::split};

using kg::name;

bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth);

// What runs where `variant` is asked for: automatic is split where it can.
Variant resolved(Variant variant, std::int64_t depth, std::int64_t value_depth);

// In how many parts `split` takes the keys of a sequence, by the problem and the current device.
template <class T>
int splits(const Problem<T>& problem);

// Bytes of device workspace, aligned to 16, that `run` needs.
template <class T>
std::size_t workspace_bytes(const Problem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error naming the field on a null pointer where one is needed, a negative extent or stride,
// extents of 2^31 or more, more than 8 queries, kv_heads that do not divide heads, a depth below 1,
// a scale that is not a positive number, a table of pages without tokens or whose rows are shorter
// than the keys need, rows of out that overlap, a packed out that overlaps a packed input, or a
// variant that does not support the depths. What lies on the device is not checked: a key length
// outside [0, keys] counts as the nearer end, page numbers must be right.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Longest sequential chain of additions over keys: what the error bound grows with.
std::int64_t chain(Variant variant, std::int64_t keys);

// Q, K, V, lengths and the table read once, out written once, as if every sequence had `keys` keys;
// two operations for each product of a visible pair's score and of its value, as attention counts.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::attention_decode
