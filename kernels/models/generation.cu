// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What generation needs beside the layers: caches, and how far the sequences are. Everything lies
// on the device, so that no phase waits for the host to look at a word.
#include "models/layers.h"

#include "argmax/argmax.h"
#include "attention_decode/attention_decode.h"
#include "copy/copy.h"
#include "gather/gather.h"
#include "kv_append/kv_append.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kg::models {
namespace {

// Rows of `table` picked by `index`; elements of four bytes.
void pick(Tape& tape, Tensor table, Tensor index, Tensor y) {
  const gather::Problem problem{1, table.rows, table.cols, index.size()};
  tape.step({.op = "gather",
             .reads = {table, index},
             .writes = {y},
             .work = gather::work(Dtype::f32, problem, sizeof(std::int32_t)),
             .run = [=](const Run& run) {
               gather::run(run.at.at(table), run.at.i32(index), run.at.at(y), problem,
                           sizeof(std::int32_t), gather::Variant::automatic, run.stream);
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

// A head's tokens lie one behind the other: what attention reads of it is contiguous.
PageStrides strides(const Cache& cache, const Heads& heads) {
  return {heads.keys * cache.capacity * heads.depth, cache.capacity * heads.depth, heads.depth};
}

} // namespace

Progress begin(Tape& tape, std::int64_t batch, std::int64_t tokens) {
  const auto all = [&](std::int64_t count) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(batch),
                                     static_cast<std::int32_t>(count));
  };
  const Tensor none = tape.constant("progress.none", batch, 1, all(0));
  const Tensor prompt = tape.constant("progress.prompt", batch, 1, all(tokens));
  const Tensor after = tape.state("progress", batch, 1);
  assign(tape, prompt, after);
  return {none, after};
}

Progress advance(Tape& tape, const Progress& progress, std::int64_t most) {
  std::vector<std::int32_t> next;
  for (std::int64_t count = 0; count <= most; ++count)
    next.push_back(static_cast<std::int32_t>(std::min(count + 1, most)));
  const Tensor successor = tape.constant("progress.next", most + 1, 1, std::move(next));
  const Tensor before = tape.temporary("progress.before", progress.after.rows, 1);
  assign(tape, progress.after, before);
  pick(tape, successor, before, progress.after);
  return {before, progress.after};
}

Cache cache(Tape& tape, const std::string& name, const Heads& heads, std::int64_t batch,
            std::int64_t capacity) {
  const std::int64_t rows = batch * heads.keys * capacity;
  return {tape.state(name + ".keys", rows, heads.depth),
          tape.state(name + ".values", rows, heads.depth), batch, capacity};
}

void append(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
            const Cache& cache) {
  const std::int64_t tokens = qkv.rows / cache.batch;
  const auto problem = [=](const Addresses& at) {
    kv_append::Problem p;
    p.batch = cache.batch;
    p.tokens = tokens;
    p.heads = heads.keys;
    p.keys = cache.capacity;
    p.depth = p.value_depth = heads.depth;
    const float* const k = at.f32(qkv) + heads.queries * heads.depth;
    p.k = k;
    p.v = k + heads.keys * heads.depth;
    p.k_stride = p.v_stride = {tokens * qkv.cols, heads.depth, qkv.cols};
    p.k_cache = at.f32(cache.keys);
    p.v_cache = at.f32(cache.values);
    p.k_cache_stride = p.v_cache_stride = strides(cache, heads);
    p.lengths = at.i32(progress.before);
    return p;
  };
  tape.step({.op = "kv_append",
             .reads = {qkv, progress.before},
             .writes = {cache.keys, cache.values},
             .work = kv_append::work(problem(tape.unplaced()), sizeof(float)),
             .run = [=](const Run& run) {
               kv_append::run(problem(run.at), sizeof(float), kv_append::Variant::automatic,
                              run.stream);
             }});
}

Tensor cached_attention(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
                        const Cache& cache) {
  namespace op = attention_decode;
  require(qkv.cols == heads.width() && qkv.rows == cache.batch,
          tape.name(qkv) + ": its shape is not that of a token of each sequence");
  const Tensor out = tape.temporary("attention", qkv.rows, heads.queries * heads.depth);
  const auto problem = [=](const Addresses& at) {
    op::Problem<float> p;
    p.batch = cache.batch;
    p.heads = heads.queries;
    p.kv_heads = heads.keys;
    p.queries = 1;
    p.keys = cache.capacity;
    p.depth = p.value_depth = heads.depth;
    p.q = at.f32(qkv);
    p.q_stride = {qkv.cols, heads.depth, qkv.cols};
    p.k = at.f32(cache.keys);
    p.v = at.f32(cache.values);
    p.k_stride = p.v_stride = strides(cache, heads);
    p.out = at.f32(out);
    p.out_stride = {out.cols, heads.depth, out.cols};
    p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(heads.depth)));
    p.key_lengths = at.i32(progress.after);
    return p;
  };
  const op::Problem<float> sketch = problem(tape.unplaced());
  const Tensor workspace = tape.workspace(op::workspace_bytes(sketch, op::Variant::automatic));
  tape.step({.op = "attention_decode",
             .reads = {qkv, progress.after, cache.keys, cache.values},
             .writes = {out, workspace},
             .work = op::work(sketch),
             .run = [=](const Run& run) {
               op::Problem<float> p = problem(run.at);
               p.workspace = run.at.f32(workspace);
               op::run(p, op::Variant::automatic, run.stream);
             }});
  return out;
}

Tensor last_rows(Tape& tape, Tensor x, const Tokens& tokens) {
  std::vector<std::int32_t> last;
  for (std::int64_t sequence = 1; sequence <= tokens.batch; ++sequence)
    last.push_back(static_cast<std::int32_t>(sequence * tokens.sequence - 1));
  const Tensor y = tape.temporary("last", tokens.batch, x.cols);
  pick(tape, x, tape.constant("last tokens", tokens.batch, 1, std::move(last)), y);
  return y;
}

void greedy(Tape& tape, Tensor logits, Tensor words) {
  const reduction::Extents extents{logits.rows, logits.cols, 1};
  const auto view = [=](const Addresses& at) {
    return reduction::packed<float>(at.f32(logits), extents);
  };
  const Tensor workspace =
      tape.workspace(argmax::workspace_bytes(view(tape.unplaced()), argmax::Variant::automatic));
  tape.step({.op = "argmax",
             .reads = {logits},
             .writes = {words, workspace},
             .work = argmax::work(Dtype::f32, extents),
             .run = [=](const Run& run) {
               argmax::run(view(run.at), run.at.i32(words), run.at.at(workspace),
                           argmax::Variant::automatic, run.stream);
             }});
}

// A row of a cache whose tokens are words: one head of one element, and no values.
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

} // namespace kg::models
