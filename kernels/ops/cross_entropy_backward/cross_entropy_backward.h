// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cross_entropy_backward: the gradient of cross_entropy's losses by the logits. The probabilities
// are computed again from the logits and the log-sum-exp of each row, lse_i, that the forward
// operation left:
//   dx[i][j] = dloss_i (exp(x[i][j] - lse_i) (1 + 2 z lse_i) - s / C - (1 - s) [j is the target])
//
// Problem: matrices of rows x classes, rows `logits_stride` and `gradient_stride` elements apart,
// at any alignment of the element itself; lse and dloss of each row in f32. dloss is where a mean
// or a sum of the losses comes in: 1 / rows in each, say. Computed in f32 and rounded once to T.
// lse is taken as it is: probabilities that do not sum to 1 are no error. A row whose target is
// `ignored` is not read, and its gradient is +0; another target that is no class ends the kernel
// with a trap, as in cross_entropy.h. dx may be the logits, with the same row stride, or its rows
// may lie in the gaps between theirs; it overlaps nothing else. Repeated runs are bit-identical.
//
// Special values: IEEE 754 as the formula says. A NaN among the logits reaches its own element
// alone, one in lse or dloss the whole row; a logit of -inf has probability 0. Subnormal results
// are kept.
#pragma once

#include "ops/cross_entropy/objective.h"
#include "primitives/vectorization.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::cross_entropy_backward {

using cross_entropy::Objective;

template <class T>
struct Problem {
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const T* logits = nullptr;
  std::int64_t logits_stride = 0;
  Objective objective = {};
  const float* log_sum = nullptr;       // lse
  const float* loss_gradient = nullptr; // dloss
  T* gradient = nullptr;                // dx
  std::int64_t gradient_stride = 0;
};

// naive: one thread per element. vectorized: 16 bytes per access wherever the rows of both matrices
// begin equally far from a multiple of 16 bytes, as they do in place; else single elements.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. Throws Error on a negative extent, no classes, a stride below classes, a null pointer where
// one is needed, a label_smoothing outside of [0, 1], a z_loss that is negative or not finite, or a
// gradient that overlaps an input otherwise; where the two strides differ, the logits' first row
// alone is looked at.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// A read and a write of each element, a target, lse and dloss of each row; about five operations
// per element (difference, exponential, two products, difference).
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::cross_entropy_backward
