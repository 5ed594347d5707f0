// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, in whole rows: 2 (depth + value_depth) elements per head of
// each token. In decoding, a launch moves a few KiB, and the launch itself is the cost. Expected on
// an H200 for prompts, which have many rows: 90 % of copy bandwidth.
//
// A thread has one word of a row of K or, after all of K, of V. It loads the word before it looks
// up the destination, so that the two memory latencies overlap. All types share one kernel for
// 16-byte words; single elements have one for each size.
//
// Why not a block per token: eight heads of 128 16-bit elements are 128 words, but one head of 64
// is only 8. Why not fused into the kernel that produces k and v: the outputs of `rope` and GEMMs
// have strides, but no page table.
#include "ops/kv_append/kv_append.h"

#include "ops/attention/preconditions.h"
#include "primitives/divisor.h"
#include "primitives/pack.h"
#include "primitives/words.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kg::kv_append {

constexpr int kThreads = 256;

using Quad = Pack<std::uint32_t, 4>;

// K or V in words.
template <class Word>
struct Side {
  const Word* from;
  Strides from_stride;
  Word* to;
  PageStrides to_stride;
  Divisor row_words;
  std::int64_t words; // in all rows
};

template <class Word>
struct Arguments {
  Side<Word> k, v;
  Divisor heads, tokens;
  std::int64_t keys;
  const std::int32_t* lengths;
  Pages pages;

  // Copies word `index` of a side; rows are ordered by heads, then tokens, then sequences.
  __device__ __forceinline__ void move(const Side<Word>& side, std::int64_t index) const {
    const std::int64_t row = side.row_words.quotient(index);
    const std::int64_t column = index - row * side.row_words.value;
    const std::int64_t of_all = heads.quotient(row), head = row - of_all * heads.value;
    const std::int64_t sequence = tokens.quotient(of_all);
    const std::int64_t token = of_all - sequence * tokens.value;
    const Word word =
        side.from[sequence * side.from_stride.sequence + token * side.from_stride.token +
                  head * side.from_stride.head + column];
    const std::int64_t place = lengths[sequence] + token;
    if (place < 0 || place >= keys) return;
    side.to[pages.place(sequence, place).row(side.to_stride, head) + column] = word;
  }
};

template <class Word>
__global__ void __launch_bounds__(kThreads) append(Arguments<Word> a) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index < a.k.words)
    a.move(a.k, index);
  else if (index < a.k.words + a.v.words)
    a.move(a.v, index - a.k.words);
}

namespace {

using attention::Memory;
using attention::Rows;

constexpr const char* kName = "kv_append";

// The tensors as rows.
struct Tensors {
  Rows k, v, k_cache, v_cache;

  explicit Tensors(const Problem& p)
      : k{"k", p.k, p.k_stride, p.batch, p.heads, p.tokens, p.depth}, v{"v",          p.v,
                                                                        p.v_stride,   p.batch,
                                                                        p.heads,      p.tokens,
                                                                        p.value_depth},
        k_cache(cache(p, "k_cache", p.k_cache, p.k_cache_stride, p.depth)),
        v_cache(cache(p, "v_cache", p.v_cache, p.v_cache_stride, p.value_depth)) {}

  std::vector<const Rows*> all() const { return {&k, &v, &k_cache, &v_cache}; }

 private:
  // The number of pages in a paged cache is unknown; assume one.
  static Rows cache(const Problem& p, const char* name, const void* data, const PageStrides& stride,
                    std::int64_t length) {
    const bool paged = p.table.pages != nullptr;
    return {name,
            data,
            {stride.page, stride.head, stride.token},
            paged ? 1 : p.batch,
            p.heads,
            paged ? p.table.tokens : p.keys,
            length};
  }
};

void require_valid(const Problem& p) {
  require_extent("kv_append: batch", p.batch);
  require_extent("kv_append: tokens", p.tokens);
  require_extent("kv_append: heads", p.heads);
  require_extent("kv_append: keys", p.keys);
  require_extent("kv_append: depth", p.depth);
  require_extent("kv_append: value_depth", p.value_depth);
  attention::require_pages(kName, p.table, p.keys);
}

void require_memory(const Problem& p, const Tensors& tensors, std::int64_t bytes) {
  for (const Rows* rows : tensors.all()) attention::require_rows(kName, *rows);
  attention::require_rows_apart(kName, tensors.k_cache);
  attention::require_rows_apart(kName, tensors.v_cache);
  require(p.lengths != nullptr, "kv_append: lengths is null; pass one for each sequence");
  const auto memory = [&](const Rows& rows) -> Memory {
    return {rows.name, rows.packed() && !rows.empty() ? rows.data : nullptr, rows.span() * bytes};
  };
  constexpr std::int64_t kWidth = sizeof(std::int32_t);
  attention::require_apart(kName,
                           {memory(tensors.k),
                            memory(tensors.v),
                            {"lengths", p.lengths, p.batch * kWidth},
                            {"table", p.table.pages, p.batch * p.table.stride * kWidth}},
                           {memory(tensors.k_cache), memory(tensors.v_cache)});
}

// Whether all rows are aligned to 16 bytes and multiples of 16 bytes long.
bool is_made_of_packs(const Tensors& tensors, std::int64_t bytes) {
  const auto whole = [&](std::int64_t elements) { return elements * bytes % kPackBytes == 0; };
  for (const Rows* rows : tensors.all())
    if (!is_aligned(rows->data) || !whole(rows->length) || !whole(rows->stride.sequence) ||
        !whole(rows->stride.head) || !whole(rows->stride.token))
      return false;
  return true;
}

// Launches with strides and lengths in words of `per_word` elements.
template <class Word>
void launch_append(const Problem& p, std::int64_t per_word, Stream& stream) {
  const auto side = [&](const void* from, const Strides& stride, void* to, const PageStrides& pages,
                        std::int64_t depth) -> Side<Word> {
    const std::int64_t words = depth / per_word;
    return {static_cast<const Word*>(from),
            {stride.sequence / per_word, stride.head / per_word, stride.token / per_word},
            static_cast<Word*>(to),
            {pages.page / per_word, pages.head / per_word, pages.token / per_word},
            Divisor(std::max<std::int64_t>(words, 1)),
            p.batch * p.tokens * p.heads * words};
  };
  const Arguments<Word> a{side(p.k, p.k_stride, p.k_cache, p.k_cache_stride, p.depth),
                          side(p.v, p.v_stride, p.v_cache, p.v_cache_stride, p.value_depth),
                          Divisor(p.heads),
                          Divisor(p.tokens),
                          p.keys,
                          p.lengths,
                          Pages(p.table.pages == nullptr ? PageTable{} : p.table)};
  launch(append<Word>,
         {.grid = grid_x(div_up(a.k.words + a.v.words, kThreads), "kv_append: the rows",
                         "append fewer tokens at a time"),
          .block = kThreads,
          .stream = &stream},
         a);
}

} // namespace

Variant run(const Problem& p, std::size_t element_bytes, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant);
  with_word(kName, element_bytes, [&](auto word) {
    if (p.batch * p.tokens * p.heads * (p.depth + p.value_depth) == 0) return;
    const Tensors tensors(p);
    const auto bytes = static_cast<std::int64_t>(element_bytes);
    require_memory(p, tensors, bytes);
    if (variant == Variant::vectorized && is_made_of_packs(tensors, bytes))
      launch_append<Quad>(p, kPackBytes / bytes, stream);
    else
      launch_append<decltype(word)>(p, 1, stream);
  });
  return variant;
}

Work work(const Problem& p, std::size_t element_bytes) {
  const auto batch = static_cast<double>(p.batch);
  const double written = batch * static_cast<double>(p.tokens * p.heads) *
                         static_cast<double>(p.depth + p.value_depth) *
                         static_cast<double>(element_bytes);
  double listed = batch;
  if (p.table.pages != nullptr)
    listed += batch * static_cast<double>(div_up(p.tokens, p.table.tokens));
  return {.bytes = 2 * written + listed * sizeof(std::int32_t), .written = written, .flops = 0};
}

} // namespace kg::kv_append
