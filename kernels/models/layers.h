// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The operations of this suite as model layers. Each layer records its call on the tape and
// registers the calls of its gradient. Elements have the input's type (f32, f16 or bf16); sums are
// f32. Rows are tokens or samples, columns are their features.
#pragma once

#include "models/tape.h"
#include "ops/bias_gelu/form.h"
#include "ops/optimizer/optimizer.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kg::models {

// --- Parameters: initial values are uniform around 0, or around 1 for a norm's gamma.

// A matrix with one row per output. Its parts are consecutive rows.
Tensor weight(Tape& tape, std::vector<Part> parts, std::int64_t inputs, double spread,
              Dtype dtype = Dtype::f32);
Tensor vector(Tape& tape, std::vector<Part> parts, double centre, double spread,
              Dtype dtype = Dtype::f32);

// --- Dense layers

// x W^T + b. Without a bias: x W^T.
Tensor linear(Tape& tape, Tensor x, Tensor weight, Tensor bias = {});
// gelu(x + b).
Tensor bias_gelu(Tape& tape, Tensor x, Tensor bias,
                 kg::bias_gelu::Form form = kg::bias_gelu::Form::erf);
// silu(first half of the columns) times the second half.
Tensor swiglu(Tape& tape, Tensor x);
Tensor add(Tape& tape, Tensor a, Tensor b);

// --- Norms

struct Normed {
  Tensor sum;    // x + residual
  Tensor normed; // rmsnorm of `sum`
};
Tensor rmsnorm(Tape& tape, Tensor x, Tensor gamma, float epsilon);
Normed add_rmsnorm(Tape& tape, Tensor x, Tensor residual, Tensor gamma, float epsilon);
Tensor layernorm(Tape& tape, Tensor x, Tensor gamma, Tensor beta, float epsilon);

// --- Sequences

struct Tokens {
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  Tensor ids = {};     // batch x sequence token ids
  Tensor order = {};   // for the gradient: token indices sorted by id,
  Tensor offsets = {}; // and where each id begins; vocabulary + 1 entries
  std::int64_t count() const { return batch * sequence; }
};

// The layout of a row [queries | keys | values], each with contiguous heads.
struct Heads {
  std::int64_t queries = 0; // heads of the queries
  std::int64_t keys = 0;    // heads of the keys, and of the values
  std::int64_t depth = 0;   // head dimension
  std::int64_t width() const { return (queries + 2 * keys) * depth; }
};

// Gathers the table's row of each token.
Tensor embed(Tape& tape, Tensor table, const Tokens& tokens);

// A stable sort of the indices of `words` by token id, and the offset where each id begins.
struct Sorted {
  std::vector<std::int32_t> order, offsets;
};
Sorted sorted(std::span<const std::int32_t> words, std::int64_t vocabulary);

// The position of each token as an index into a learned table: Radford et al., "Language models are
// unsupervised multitask learners", 2019. Rotary positions add the cosines and sines of the angles.
struct Positions {
  Tokens learned = {};
  Tensor cosine = {}, sine = {};
  std::int64_t count = 0;
};
Positions learned_positions(Tape& tape, const Tokens& tokens, std::int64_t count);
Positions rotary_positions(Tape& tape, const Tokens& tokens, std::int64_t count, std::int64_t depth,
                           double base);

// Applies rotary positions to the heads of the queries and keys, in place.
void rotate(Tape& tape, Tensor qkv, const Heads& heads, const Positions& positions);
// Causal attention within each sequence.
Tensor attention(Tape& tape, Tensor qkv, const Heads& heads, const Tokens& tokens);

// --- Generation: keys and values are cached, so each step computes only the newest token.

// The number of tokens of each sequence before and after a phase. The counts stay on the device and
// are the phase's only record of progress, so one captured graph can be launched repeatedly.
struct Progress {
  Tensor before;
  Tensor after;
};
// `before` is 0 and `after` is `tokens`, for each of `batch` sequences.
Progress begin(Tape& tape, std::int64_t batch, std::int64_t tokens);
// Adds one token to each sequence of `progress`, up to `most`.
Progress advance(Tape& tape, const Progress& progress, std::int64_t most);

// Keys and values of a layer, batch x heads x capacity x depth: `capacity` tokens per sequence.
struct Cache {
  Tensor keys, values;
  std::int64_t batch = 0, capacity = 0;
};
Cache cache(Tape& tape, const std::string& name, const Heads& heads, std::int64_t batch,
            std::int64_t capacity, Dtype dtype);
void append(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
            const Cache& cache);
// Attention of each sequence's newest token over all its cached tokens.
Tensor cached_attention(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
                        const Cache& cache);

Tensor last_rows(Tape& tape, Tensor x, const Tokens& tokens); // of each sequence's last token
// The index of the largest logit of each row; of equal logits, the first.
void greedy(Tape& tape, Tensor logits, Tensor words);
// Writes `words` to `all`, which has a row per sequence, from the sequence's column `where` on.
void append_words(Tape& tape, Tensor words, Tensor where, Tensor all);

// --- Losses: a scalar, the mean over rows or elements.

Tensor cross_entropy(Tape& tape, Tensor logits, Tensor target);
Tensor mean_square_error(Tape& tape, Tensor y, Tensor target);

// --- Training

// Records phase update: one step for all parameters with a gradient. Call it last. A 16-bit
// model's step removes the loss scale, and is skipped if a gradient is not finite (loss_scale.h).
void optimise(Tape& tape, optimizer::Kind kind, const optimizer::Step& settings);

// Adds the contribution of one use of a tensor to the tensor's gradient. The sum overwrites
// `contribution`, which must have no other use.
void add_gradient(Tape& tape, Tensor of, Tensor contribution);
// Makes the gradient of `sum` the gradient of both terms, which must not have one yet. Both can
// share the tensor, because add_gradient overwrites the contribution, not the existing gradient.
void share_gradient(Tape& tape, Tensor sum, Tensor a, Tensor b);

} // namespace kg::models
