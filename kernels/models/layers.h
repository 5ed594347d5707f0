// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The operations of this suite as layers of a model: each puts its call on the tape and says what
// calls its gradient takes. Elements are those of the input, f32, f16 or bf16, sums f32; rows are
// tokens or samples, columns their features.
#pragma once

#include "models/tape.h"
#include "ops/bias_gelu/form.h"
#include "ops/optimizer/optimizer.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kg::models {

// --- Parameters: first values are uniform, about 0 or, of a norm's gamma, about 1.

// A matrix of as many rows as its parts have together, stored by outputs.
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
// silu of the first half of the columns times the second.
Tensor swiglu(Tape& tape, Tensor x);
Tensor add(Tape& tape, Tensor a, Tensor b);

// --- Norms

struct Normed {
  Tensor sum;    // x + residual
  Tensor normed; // rmsnorm of that
};
Tensor rmsnorm(Tape& tape, Tensor x, Tensor gamma, float epsilon);
Normed add_rmsnorm(Tape& tape, Tensor x, Tensor residual, Tensor gamma, float epsilon);
Tensor layernorm(Tape& tape, Tensor x, Tensor gamma, Tensor beta, float epsilon);

// --- Sequences

struct Tokens {
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  Tensor ids = {};     // batch x sequence words
  Tensor order = {};   // for the gradient: the tokens sorted by their word,
  Tensor offsets = {}; // and where each word's begin; vocabulary + 1
  std::int64_t count() const { return batch * sequence; }
};

// Of a row [queries | keys | values], the heads of each side by side.
struct Heads {
  std::int64_t queries = 0; // heads
  std::int64_t keys = 0;    // heads of keys and of values
  std::int64_t depth = 0;   // of each
  std::int64_t width() const { return (queries + 2 * keys) * depth; }
};

// Rows of the table.
Tensor embed(Tape& tape, Tensor table, const Tokens& tokens);

// The words of a text, sorted: those of one word in their order, and where each word's begin.
struct Sorted {
  std::vector<std::int32_t> order, offsets;
};
Sorted sorted(std::span<const std::int32_t> words, std::int64_t vocabulary);

// Which position each token has: as words of a table that is learned, Radford et al., "Language
// models are unsupervised multitask learners", 2019; and where positions are angles, their cosines
// and sines.
struct Positions {
  Tokens learned = {};
  Tensor cosine = {}, sine = {};
  std::int64_t count = 0;
};
Positions learned_positions(Tape& tape, const Tokens& tokens, std::int64_t count);
Positions rotary_positions(Tape& tape, const Tokens& tokens, std::int64_t count, std::int64_t depth,
                           double base);

// Turns the heads of queries and keys by their positions, in place.
void rotate(Tape& tape, Tensor qkv, const Heads& heads, const Positions& positions);
// Causal attention within each sequence.
Tensor attention(Tape& tape, Tensor qkv, const Heads& heads, const Tokens& tokens);

// --- Generation: keys and values are kept, and each further token is computed alone.

// How many tokens each sequence has, on the device: what a phase begins with, and all that it knows
// of how far the sequences are, so that one graph of it can be launched again and again.
struct Progress {
  Tensor before; // this phase
  Tensor after;
};
// `after` becomes `tokens` of each of `batch` sequences; before that there was none.
Progress begin(Tape& tape, std::int64_t batch, std::int64_t tokens);
// One token more than `progress` had, up to `most`.
Progress advance(Tape& tape, const Progress& progress, std::int64_t most);

// Keys and values of a layer, head by head, with room for `capacity` tokens of each sequence.
struct Cache {
  Tensor keys, values;
  std::int64_t batch = 0, capacity = 0;
};
Cache cache(Tape& tape, const std::string& name, const Heads& heads, std::int64_t batch,
            std::int64_t capacity, Dtype dtype);
void append(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
            const Cache& cache);
// Attention of each sequence's newest token to all that the cache has.
Tensor cached_attention(Tape& tape, Tensor qkv, const Heads& heads, const Progress& progress,
                        const Cache& cache);

Tensor last_rows(Tape& tape, Tensor x, const Tokens& tokens); // those of each sequence's last token
// The words of the greatest logits, the first of equal ones.
void greedy(Tape& tape, Tensor logits, Tensor words);
// A row of `all` is a sequence; `words` are put behind the tokens that it had at `where`.
void append_words(Tape& tape, Tensor words, Tensor where, Tensor all);

// --- Losses: one number, the mean over rows or elements.

Tensor cross_entropy(Tape& tape, Tensor logits, Tensor target);
Tensor mean_square_error(Tape& tape, Tensor y, Tensor target);

// --- Training

// One step of all parameters that have a gradient, as the phase update. Call it last. Of 16 bits it
// takes the scale of the loss back, and is skipped where a gradient is not finite (loss_scale.h).
void optimise(Tape& tape, optimizer::Kind kind, const optimizer::Step& settings);

// What one of several uses of a tensor adds to its gradient. `contribution` is given away: the sum
// is written over it.
void add_gradient(Tape& tape, Tensor of, Tensor contribution);
// A sum hands its gradient to both of its terms, which must have none yet. They share one tensor,
// which nobody writes to afterwards: add_gradient writes over what comes, not over what is there.
void share_gradient(Tape& tape, Tensor sum, Tensor a, Tensor b);

} // namespace kg::models
