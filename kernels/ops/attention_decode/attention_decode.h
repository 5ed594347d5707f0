// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_decode: attention of the last one to eight tokens of each sequence over all keys in a
// cache, out = softmax(scale Q K^T) V; query i of n sees the keys up to length - n + i, its own.
//
// Problem: as in attention (ops/attention/attention.h), causal, with grouped heads. Q and out have
// a row for each query of each head of each sequence. K and V are stored in pages
// (primitives/paged.h): a contiguous cache has one page of `keys` tokens per sequence, a paged
// cache has pages listed in a table. Sequence b has key_lengths[b] keys, including those of the
// queries; neither later keys nor later table entries are read.
//
// Rounding: scores, exponentials and sums are f32 for every T; the result is rounded once to T.
// Blocks split the keys of a sequence evenly, and the parts are added in the order of the keys:
// repeated runs on one device are bit-identical, regardless of other sequences' lengths.
//
// Special values: a query that sees no key gets 0. A NaN, a +inf or an overflow of f32 among the
// scores of a query makes its row NaN and leaves other rows unchanged. A row of V that only some
// queries see must be finite, because it may be multiplied by 0.
//
// Source: Dao et al., "Flash-Decoding for long-context inference" (2023), for the split over keys.
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
  std::int64_t keys = 0;        // the maximum per sequence
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
  const std::int32_t* key_lengths = nullptr; // batch numbers from 0 to keys; null: `keys` for all
  PageTable table = {};                      // table.tokens is ignored without a table
  float* workspace = nullptr;                // workspace_bytes() bytes
};

// naive: one thread per query, scores in memory. split: reads keys and values of a head once,
// through registers, for up to four queries at a time; depths up to 256.
enum class Variant { automatic, naive, split };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::split};

using kg::name;

bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth);

// The variant that runs: automatic selects split if it is supported.
Variant resolved(Variant variant, std::int64_t depth, std::int64_t value_depth);

// The number of parts into which `split` divides a sequence's keys, for this problem and device.
template <class T>
int splits(const Problem<T>& problem);

// Bytes of device workspace, aligned to 16, that `run` needs.
template <class T>
std::size_t workspace_bytes(const Problem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error naming the field for: a required pointer that is null; a negative extent or stride;
// an extent of 2^31 or more; more than 8 queries; kv_heads that does not divide heads; a depth
// below 1; a scale that is not positive; a page table without tokens or with rows too short for the
// keys; rows of out that overlap; a packed out that overlaps a packed input; a variant that does
// not support the depths. Values on the device are not checked: key lengths are clamped to [0,
// keys], and page numbers must be valid.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// The longest sequential chain of additions over the keys. The error bound grows with it.
std::int64_t chain(Variant variant, std::int64_t keys);

// Q, K, V, lengths and the table are read once, out is written once, with `keys` keys per sequence;
// two operations per product of a visible pair's score and value, as in attention.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::attention_decode
