// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers that depend on tokens and heads: embedding, rotary positions and attention.
#include "models/layers.h"

#include "models/element.h"
#include "ops/attention/attention.h"
#include "ops/attention_backward/attention_backward.h"
#include "ops/embedding_backward/embedding_backward.h"
#include "ops/gather/gather.h"
#include "ops/rope/rope.h"
#include "runtime/error.h"

#include <cmath>
#include <utility>

namespace kg::models {
namespace {

namespace forward = kg::attention;
namespace backward = kg::attention_backward;

template <class T>
forward::Problem<T> problem_of(Tensor qkv, const Heads& heads, const Tokens& tokens, Tensor out,
                               Tensor log_sum, const Addresses& at) {
  const std::int64_t row = qkv.cols;
  const forward::Strides packed{tokens.sequence * row, heads.depth, row};
  forward::Problem<T> p;
  p.batch = tokens.batch;
  p.heads = heads.queries;
  p.kv_heads = heads.keys;
  p.queries = p.keys = tokens.sequence;
  p.depth = p.value_depth = heads.depth;
  p.q = at.as<T>(qkv);
  p.k = p.q + heads.queries * heads.depth;
  p.v = p.k + heads.keys * heads.depth;
  p.q_stride = p.k_stride = p.v_stride = packed;
  p.out = at.as<T>(out);
  p.out_stride = {tokens.sequence * out.cols, heads.depth, out.cols};
  p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(heads.depth)));
  p.causal = true;
  p.log_sum = at.f32(log_sum);
  p.log_sum_stride = tokens.sequence;
  return p;
}

// dqkv has the layout of qkv.
template <class T>
backward::Problem<T> gradient_of(const forward::Problem<T>& forward, Tensor dout, Tensor dqkv,
                                 const Addresses& at) {
  backward::Problem<T> p{.forward = forward};
  p.dout = at.as<T>(dout);
  p.dout_stride = forward.out_stride;
  p.dq = at.as<T>(dqkv);
  p.dk = p.dq + (forward.k - forward.q);
  p.dv = p.dq + (forward.v - forward.q);
  p.dq_stride = p.dk_stride = p.dv_stride = forward.q_stride;
  return p;
}

template <class T>
void turn(Tape& tape, Tensor qkv, const Heads& heads, const Positions& positions,
          rope::Direction direction) {
  const auto problem = [=](const Addresses& at) {
    rope::Problem<T> p;
    p.tokens = qkv.rows;
    p.heads = heads.queries + heads.keys; // the key heads follow the query heads
    p.depth = p.rotary = heads.depth;
    p.direction = direction;
    p.x = p.y = at.as<T>(qkv);
    p.x_stride = p.y_stride = {qkv.cols, heads.depth};
    p.positions = positions.count;
    p.cosine = at.f32(positions.cosine);
    p.sine = at.f32(positions.sine);
    p.position = at.i32(positions.learned.ids);
    return p;
  };
  tape.step({.op = "rope",
             .reads = {qkv, positions.cosine, positions.sine, positions.learned.ids},
             .writes = {qkv},
             .work = rope::work(problem(tape.unplaced())),
             .run = [=](const Run& run) {
               rope::run(problem(run.at), rope::Variant::automatic, run.stream);
             }});
}

template <class T>
Tensor embed_of(Tape& tape, Tensor table, const Tokens& tokens) {
  const Tensor y = tape.temporary("embedding", tokens.count(), table.cols, table.dtype);
  const gather::Problem picked{1, table.rows, table.cols, tokens.count()};
  tape.step({.op = "gather",
             .reads = {table, tokens.ids},
             .writes = {y},
             .work = gather::work(dtype_of<T>, picked, sizeof(std::int32_t)),
             .run = [=](const Run& run) {
               gather::run(run.at.at(table), run.at.i32(tokens.ids), run.at.at(y), picked,
                           sizeof(T), gather::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    namespace op = embedding_backward;
    const Tensor dy = tape.gradient(y);
    const Tensor dtable = tape.temporary("embedding.dtable", table.rows, table.cols, table.dtype);
    const auto problem = [=](const Addresses& at) {
      return op::Problem<T>{tokens.count(),  table.rows,           table.cols,
                            at.as<T>(dy),    at.i32(tokens.order), at.i32(tokens.offsets),
                            at.as<T>(dtable)};
    };
    tape.step({.op = "embedding_backward",
               .reads = {dy, tokens.order, tokens.offsets},
               .writes = {dtable},
               .work = op::work(problem(tape.unplaced())),
               .run = [=](const Run& run) {
                 op::run(problem(run.at), op::Variant::automatic, run.stream);
               }});
    add_gradient(tape, table, dtable);
  });
  return y;
}

template <class T>
void rotate_of(Tape& tape, Tensor qkv, const Heads& heads, const Positions& positions) {
  turn<T>(tape, qkv, heads, positions, rope::Direction::forward);
  // Attention's gradient is that of the rotated qkv. In place: the gradient has no other reader.
  tape.on_backward([=](Tape& tape) {
    turn<T>(tape, tape.gradient(qkv), heads, positions, rope::Direction::backward);
  });
}

template <class T>
Tensor attention_of(Tape& tape, Tensor qkv, const Heads& heads, const Tokens& tokens) {
  require(qkv.cols == heads.width() && qkv.rows == tokens.count(),
          tape.name(qkv) + ": its shape is not that of the tokens and heads");
  const Tensor out = tape.temporary("attention", qkv.rows, heads.queries * heads.depth, qkv.dtype);
  const Tensor log_sum =
      tape.temporary("attention.log_sum", tokens.batch * heads.queries, tokens.sequence);
  const auto problem = [=](const Addresses& at) {
    return problem_of<T>(qkv, heads, tokens, out, log_sum, at);
  };
  const forward::Problem<T> sketch = problem(tape.unplaced());
  const Tensor workspace =
      tape.workspace(forward::workspace_bytes(sketch, forward::Variant::automatic));
  tape.step({.op = "attention",
             .reads = {qkv},
             .writes = {out, log_sum, workspace},
             .work = forward::work(sketch),
             .run = [=](const Run& run) {
               forward::Problem<T> p = problem(run.at);
               p.workspace = run.at.f32(workspace);
               forward::run(p, forward::Variant::automatic, run.stream);
             }});
  tape.on_backward([=](Tape& tape) {
    const Tensor dout = tape.gradient(out);
    const Tensor dqkv = tape.temporary("attention.dqkv", qkv.rows, qkv.cols, qkv.dtype);
    const auto gradient = [=](const Addresses& at) {
      return gradient_of<T>(problem(at), dout, dqkv, at);
    };
    const backward::Problem<T> sketch = gradient(tape.unplaced());
    const Tensor workspace =
        tape.workspace(backward::workspace_bytes(sketch, backward::Variant::automatic));
    tape.step({.op = "attention_backward",
               .reads = {qkv, out, log_sum, dout},
               .writes = {dqkv, workspace},
               .work = backward::work(sketch),
               .run = [=](const Run& run) {
                 backward::Problem<T> p = gradient(run.at);
                 p.workspace = run.at.f32(workspace);
                 backward::run(p, backward::Variant::automatic, run.stream);
               }});
    add_gradient(tape, qkv, dqkv);
  });
  return out;
}

} // namespace

Sorted sorted(std::span<const std::int32_t> words, std::int64_t vocabulary) {
  Sorted sorted{std::vector<std::int32_t>(words.size()),
                std::vector<std::int32_t>(static_cast<std::size_t>(vocabulary) + 1, 0)};
  for (const std::int32_t word : words) ++sorted.offsets[static_cast<std::size_t>(word) + 1];
  for (std::size_t word = 1; word < sorted.offsets.size(); ++word)
    sorted.offsets[word] += sorted.offsets[word - 1];
  std::vector<std::int32_t> next = sorted.offsets;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = static_cast<std::size_t>(words[i]);
    sorted.order[static_cast<std::size_t>(next[word]++)] = static_cast<std::int32_t>(i);
  }
  return sorted;
}

Positions learned_positions(Tape& tape, const Tokens& tokens, std::int64_t count) {
  std::vector<std::int32_t> of_token;
  for (std::int64_t token = 0; token < tokens.count(); ++token)
    of_token.push_back(static_cast<std::int32_t>(token % tokens.sequence));
  Positions positions{.learned = {tokens.batch, tokens.sequence}, .count = count};
  if (tokens.order.exists()) {
    Sorted by_position = sorted(of_token, count);
    positions.learned.order =
        tape.constant("positions.order", tokens.count(), 1, std::move(by_position.order));
    positions.learned.offsets =
        tape.constant("positions.offsets", count + 1, 1, std::move(by_position.offsets));
  }
  positions.learned.ids = tape.constant("positions", tokens.count(), 1, std::move(of_token));
  return positions;
}

Positions rotary_positions(Tape& tape, const Tokens& tokens, std::int64_t count, std::int64_t depth,
                           double base) {
  std::vector<float> cosine, sine;
  for (std::int64_t position = 0; position < count; ++position)
    for (std::int64_t pair = 0; pair < depth / 2; ++pair) {
      const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(depth);
      const double angle = static_cast<double>(position) * std::pow(base, exponent);
      cosine.push_back(static_cast<float>(std::cos(angle)));
      sine.push_back(static_cast<float>(std::sin(angle)));
    }
  // Without `order`, because these positions are not learned.
  Positions positions = learned_positions(tape, {tokens.batch, tokens.sequence}, count);
  positions.cosine = tape.constant("rope.cosine", count, depth / 2, std::move(cosine));
  positions.sine = tape.constant("rope.sine", count, depth / 2, std::move(sine));
  return positions;
}

Tensor embed(Tape& tape, Tensor table, const Tokens& tokens) {
  return with_element(
      table.dtype, [&](auto element) { return embed_of<decltype(element)>(tape, table, tokens); });
}

void rotate(Tape& tape, Tensor qkv, const Heads& heads, const Positions& positions) {
  return with_element(qkv.dtype, [&](auto element) {
    return rotate_of<decltype(element)>(tape, qkv, heads, positions);
  });
}

Tensor attention(Tape& tape, Tensor qkv, const Heads& heads, const Tokens& tokens) {
  return with_element(qkv.dtype, [&](auto element) {
    return attention_of<decltype(element)>(tape, qkv, heads, tokens);
  });
}

} // namespace kg::models
