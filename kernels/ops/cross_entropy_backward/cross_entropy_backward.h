// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cross_entropy_backward: the gradient of cross_entropy's losses with respect to the logits. It
// recomputes the probabilities from the logits and from lse_i, each row's log-sum-exp of the
// forward pass:
//   dx[i][j] = dloss_i (exp(x[i][j] - lse_i) (1 + 2 z lse_i) - s / C - (1 - s) [j is the target])
//
// Problem: rows x classes matrices with rows `logits_stride` and `gradient_stride` elements apart,
// at any alignment of the element itself; lse and dloss per row in f32. dloss carries the factor of
// a mean or sum of the losses, e.g. 1 / rows. Computed in f32 and rounded once to T. lse is not
// checked: the probabilities need not sum to 1. A row whose target is `ignored` is not read, and
// its gradient is +0. Any other target outside [0, classes) traps, as in cross_entropy.h. dx may be
// the logits, with the same row stride, or its rows may lie in the gaps between their rows. dx
// overlaps nothing else. Repeated runs are bit-identical.
//
// Special values: IEEE 754 applied to the formula. A NaN logit affects only its own element; a NaN
// in lse or dloss affects the whole row. A logit of -inf has probability 0. Subnormal results are
// kept.
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

// naive: one thread per element. vectorized: 16-byte accesses if the rows of both matrices have the
// same offset from a multiple of 16 bytes, as they do in place; else single elements.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. Throws Error on a negative extent, zero classes, a stride below classes, or a required
// pointer that is null. Also on a label_smoothing outside [0, 1], a z_loss that is negative or not
// finite, or a gradient that overlaps an input otherwise. If the strides differ, only the logits'
// first row is checked for overlap.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// One read and one write per element; a target, lse and dloss per row. About five operations per
// element (difference, exponential, two products, difference).
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::cross_entropy_backward
