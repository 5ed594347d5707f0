// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kv_append: new rows of keys and values, bit for bit, into a cache behind those that are there:
// token i of sequence b becomes token lengths[b] + i.
//
// Problem: k and v have `tokens` rows for each head of each sequence, of depth and value_depth
// elements of 1, 2, 4 or 8 bytes. A row is contiguous; where it begins is a matter of strides, so
// that k and v may be parts of what a projection gives. The caches lie in pages
// (primitives/paged.h), as attention_decode reads them: contiguous, of `keys` tokens for each
// sequence, or paged by a table. Caches overlap neither each other nor k and v.
//
// Lengths and table lie on the device. A token whose place is outside [0, keys) is not stored: with
// a length of -tokens a sequence takes no part. The lengths are not changed: callers add `tokens`
// where that suits them, once for all layers. Repeated runs are bit-identical.
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
  std::int64_t tokens = 0; // of each sequence
  std::int64_t heads = 0;
  std::int64_t keys = 0; // that a sequence has room for
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
  const std::int32_t* lengths = nullptr; // batch numbers: tokens that are in the cache
  PageTable table = {};                  // without one table.tokens does not matter
};

// naive: an element per thread. vectorized: 16 bytes per thread, where all rows and strides are
// made of such; else as naive.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. Extents may be
// 0. Throws Error naming the field on a null pointer where one is needed, a negative extent or
// stride, a table of pages without tokens or whose rows are shorter than the keys need, rows of a
// cache that overlap each other, or packed tensors of which a cache overlaps another.
Variant run(const Problem& problem, std::size_t element_bytes, Variant variant, Stream& stream);

// k, v and the lengths read once, their rows written once; of the table as many entries as the
// tokens fill pages.
Work work(const Problem& problem, std::size_t element_bytes);

} // namespace kg::kv_append
