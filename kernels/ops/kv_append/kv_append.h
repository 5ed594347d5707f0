// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kv_append: appends new rows of keys and values to a cache, bit for bit: token i of sequence b
// becomes token lengths[b] + i.
//
// Problem: k and v have `tokens` rows for each head of each sequence, of depth and value_depth
// elements of 1, 2, 4 or 8 bytes. Rows are contiguous and located by strides, so that k and v may
// be parts of a projection's output. The caches consist of pages (primitives/paged.h), as
// attention_decode reads them: contiguous, `keys` tokens per sequence, or paged by a table. Caches
// must not overlap each other, k or v.
//
// Lengths and table are on the device. A token with a position outside [0, keys) is not stored: a
// length of -tokens excludes a sequence. Lengths are not changed; callers add `tokens` once for all
// layers. Repeated runs are bit-identical.
#pragma once

#include "ops/attention/attention.h"
#include "primitives/paged.h"
#include "primitives/vectorization.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::kv_append {

using attention::Strides;

struct Problem {
  std::int64_t batch = 0;
  std::int64_t tokens = 0; // per sequence
  std::int64_t heads = 0;
  std::int64_t keys = 0; // capacity per sequence
  std::int64_t depth = 0;
  std::int64_t value_depth = 0;
  const void* k = nullptr;
  Strides k_stride = {};
  const void* v = nullptr;
  Strides v_stride = {};
  void* k_cache = nullptr;
  PageStrides k_cache_stride = {};
  void* v_cache = nullptr;
  PageStrides v_cache_stride = {};
  const std::int32_t* lengths = nullptr; // batch numbers: tokens already in the cache
  PageTable table = {};                  // table.tokens is ignored without a table
};

// naive: one element per thread. vectorized: 16 bytes per thread, if all rows and strides are
// multiples of 16 bytes; otherwise runs naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic selects vectorized. Extents
// may be 0. Throws Error naming the field for: a required pointer that is null; a negative extent
// or stride; a page table without tokens or with rows too short for the keys; cache rows that
// overlap each other; packed tensors that a cache overlaps.
Variant run(const Problem& problem, std::size_t element_bytes, Variant variant, Stream& stream);

// k, v and the lengths are read once and the rows written once; one table entry is read per page
// that the tokens fill.
Work work(const Problem& problem, std::size_t element_bytes);

} // namespace kg::kv_append
