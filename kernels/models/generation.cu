// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Generation: key/value caches, the sequences' token counts and greedy decoding. All state stays on
// the device, so no phase waits for the host to read a token.
#include "models/layers.h"

#include "models/element.h"
#include "ops/argmax/argmax.h"
#include "ops/attention_decode/attention_decode.h"
#include "ops/copy/copy.h"
#include "ops/gather/gather.h"
#include "ops/kv_append/kv_append.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kg::models {
namespace {

// Rows of `table` picked by `index`.
void pick(Tape& tape, Tensor table, Tensor index, Tensor y) {
  const gather::Problem problem{1, table.rows, table.cols, index.size()};
  tape.step({.op = "gather",
             .reads = {table, index},
             .writes = {y},
             .work = gather::work(table.dtype, problem, sizeof(std::int32_t)),
             .run = [=](const Run& run) {
               gather::run(run.at.at(table), run.at.i32(index), run.at.at(y), problem,
                           size_of(table.dtype), gather::Variant::automatic, run.stream);
             }});
}

void assign(Tape& tape, Tensor from, Tensor to) {
  tape.step({.op = "copy",
             .reads = {from},
             .writes = {to},
             .work = copy::work(Dtype::i32, from.rows, from.cols),
             .run = [=](const Run& run) {
               copy::run(matrix<const std::int32_t>(run.at.i32(from), from.rows, from.cols),
                         matrix(run.at.i32(to), to.rows, to.cols), copy::Variant::automatic,
                         run.stream);
             }});
}

// The tokens of a head are contiguous, so attention reads a contiguous range per head.
PageStrides strides(const Cache& cache, const Heads& heads) {
  return {heads.keys * cache.capacity * heads.depth, cache.capacity * heads.depth, heads.depth};
}

template <class T>
Tensor cached_attention_of(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
                           const Cache& cache) {
  namespace op = attention_decode;
  require(qkv.cols == heads.width() && qkv.rows == cache.batch,
          tape.name(qkv) + ": its shape is not that of a token of each sequence");
  const Tensor out = tape.temporary("attention", qkv.rows, heads.queries * heads.depth, qkv.dtype);
  const auto problem = [=](const Addresses& at) {
    op::Problem<T> p;
    p.batch = cache.batch;
    p.heads = heads.queries;
    p.kv_heads = heads.keys;
    p.queries = 1;
    p.keys = cache.capacity;
    p.depth = p.value_depth = heads.depth;
    p.q = at.as<T>(qkv);
    p.q_stride = {qkv.cols, heads.depth, qkv.cols};
    p.k = at.as<T>(cache.keys);
    p.v = at.as<T>(cache.values);
    p.k_stride = p.v_stride = strides(cache, heads);
    p.out = at.as<T>(out);
    p.out_stride = {out.cols, heads.depth, out.cols};
    p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(heads.depth)));
    p.key_lengths = at.i32(progress.after);
    return p;
  };
  const op::Problem<T> sketch = problem(tape.unplaced());
  const Tensor workspace = tape.workspace(op::workspace_bytes(sketch, op::Variant::automatic));
  tape.step({.op = "attention_decode",
             .reads = {qkv, progress.after, cache.keys, cache.values},
             .writes = {out, workspace},
             .work = op::work(sketch),
             .run = [=](const Run& run) {
               op::Problem<T> p = problem(run.at);
               p.workspace = run.at.f32(workspace);
               op::run(p, op::Variant::automatic, run.stream);
             }});
  return out;
}

template <class T>
void greedy_of(Tape& tape, Tensor logits, Tensor words) {
  const reduction::Extents extents{logits.rows, logits.cols, 1};
  const auto view = [=](const Addresses& at) {
    return reduction::packed<T>(at.as<T>(logits), extents);
  };
  const Tensor workspace =
      tape.workspace(argmax::workspace_bytes(view(tape.unplaced()), argmax::Variant::automatic));
  tape.step({.op = "argmax",
             .reads = {logits},
             .writes = {words, workspace},
             .work = argmax::work(dtype_of<T>, extents),
             .run = [=](const Run& run) {
               argmax::run(view(run.at), run.at.i32(words), run.at.at(workspace),
                           argmax::Variant::automatic, run.stream);
             }});
}

} // namespace

Progress begin(Tape& tape, std::int64_t batch, std::int64_t tokens) {
  const auto all = [&](std::int64_t count) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(batch),
                                     static_cast<std::int32_t>(count));
  };
  const Tensor none = tape.constant("progress.none", batch, 1, all(0));
  const Tensor prompt = tape.constant("progress.prompt", batch, 1, all(tokens));
  const Tensor after = tape.state("progress", batch, 1, Dtype::i32);
  assign(tape, prompt, after);
  return {none, after};
}

Progress advance(Tape& tape, const Progress& progress, std::int64_t most) {
  std::vector<std::int32_t> next;
  for (std::int64_t count = 0; count <= most; ++count)
    next.push_back(static_cast<std::int32_t>(std::min(count + 1, most)));
  const Tensor successor = tape.constant("progress.next", most + 1, 1, std::move(next));
  const Tensor before = tape.temporary("progress.before", progress.after.rows, 1, Dtype::i32);
  assign(tape, progress.after, before);
  pick(tape, successor, before, progress.after);
  return {before, progress.after};
}

Cache cache(Tape& tape, const std::string& name, const Heads& heads, std::int64_t batch,
            std::int64_t capacity, Dtype dtype) {
  const std::int64_t rows = batch * heads.keys * capacity;
  return {tape.state(name + ".keys", rows, heads.depth, dtype),
          tape.state(name + ".values", rows, heads.depth, dtype), batch, capacity};
}

void append(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
            const Cache& cache) {
  const std::int64_t tokens = qkv.rows / cache.batch;
  const auto each = static_cast<std::int64_t>(size_of(qkv.dtype));
  const auto problem = [=](const Addresses& at) {
    kv_append::Problem p;
    p.batch = cache.batch;
    p.tokens = tokens;
    p.heads = heads.keys;
    p.keys = cache.capacity;
    p.depth = p.value_depth = heads.depth;
    const std::byte* const row = at.as<std::byte>(qkv);
    p.k = row + heads.queries * heads.depth * each;
    p.v = row + (heads.queries + heads.keys) * heads.depth * each;
    p.k_stride = p.v_stride = {tokens * qkv.cols, heads.depth, qkv.cols};
    p.k_cache = at.at(cache.keys);
    p.v_cache = at.at(cache.values);
    p.k_cache_stride = p.v_cache_stride = strides(cache, heads);
    p.lengths = at.i32(progress.before);
    return p;
  };
  tape.step({.op = "kv_append",
             .reads = {qkv, progress.before},
             .writes = {cache.keys, cache.values},
             .work = kv_append::work(problem(tape.unplaced()), size_of(qkv.dtype)),
             .run = [=](const Run& run) {
               kv_append::run(problem(run.at), size_of(qkv.dtype), kv_append::Variant::automatic,
                              run.stream);
             }});
}

Tensor last_rows(Tape& tape, Tensor x, const Tokens& tokens) {
  std::vector<std::int32_t> last;
  for (std::int64_t sequence = 1; sequence <= tokens.batch; ++sequence)
    last.push_back(static_cast<std::int32_t>(sequence * tokens.sequence - 1));
  const Tensor y = tape.temporary("last", tokens.batch, x.cols, x.dtype);
  pick(tape, x, tape.constant("last tokens", tokens.batch, 1, std::move(last)), y);
  return y;
}

// Treats `all` as a key cache with one head of one element, and without values.
void append_words(Tape& tape, Tensor words, Tensor where, Tensor all) {
  const auto problem = [=](const Addresses& at) {
    kv_append::Problem p;
    p.batch = all.rows;
    p.tokens = words.size() / all.rows;
    p.heads = p.depth = 1;
    p.keys = all.cols;
    p.k = at.i32(words);
    p.k_stride = {p.tokens, 1, 1};
    p.k_cache = at.i32(all);
    p.k_cache_stride = {all.cols, all.cols, 1};
    p.lengths = at.i32(where);
    return p;
  };
  tape.step({.op = "kv_append",
             .reads = {words, where},
             .writes = {all},
             .work = kv_append::work(problem(tape.unplaced()), sizeof(std::int32_t)),
             .run = [=](const Run& run) {
               kv_append::run(problem(run.at), sizeof(std::int32_t), kv_append::Variant::automatic,
                              run.stream);
             }});
}

Tensor cached_attention(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
                        const Cache& cache) {
  return with_element(qkv.dtype, [&](auto element) {
    return cached_attention_of<decltype(element)>(tape, qkv, heads, progress, cache);
  });
}

void greedy(Tape& tape, Tensor logits, Tensor words) {
  return with_element(logits.dtype, [&](auto element) {
    return greedy_of<decltype(element)>(tape, logits, words);
  });
}

} // namespace kg::models
