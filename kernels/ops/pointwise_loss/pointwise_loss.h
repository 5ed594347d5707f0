// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// pointwise_loss: a loss of each element x against its target t, or its gradient in x times dloss:
//   mse    (x - t)^2                                       2 (x - t)
//   huber  (x - t)^2 / 2 where |x - t| <= delta, else      x - t, clamped to
//          delta (|x - t| - delta / 2)                     [-delta, delta]
//   bce    max(x, 0) - x t + log(1 + exp(-|x|))            sigmoid(x) - t
//   kl     t (log t - x), 0 where t is 0                   -t
// bce is the binary cross entropy of sigmoid(x), where x is a logit. kl is the divergence between a
// probability t and one whose logarithm is x. `reduction` computes means and sums; their gradients
// enter through dloss.
//
// Problem: contiguous arrays of n elements. Layout: pointers need only T's own alignment. The
// result may be any of the inputs; other overlap is not allowed. Computed in f32 and rounded once
// to T. Repeated runs are bit-identical.
//
// Special values: IEEE 754 applied to the formula. NaN in an input gives NaN, except that kl with t
// = 0 has loss 0 whatever x is. bce is NaN where x t is infinity times 0. Subnormals are kept.
#pragma once

#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::pointwise_loss {

enum class Kind { mse, huber, bce, kl };
inline constexpr Kind kKinds[] = {Kind::mse, Kind::huber, Kind::bce, Kind::kl};
enum class Direction { forward, backward };

template <class T>
struct Problem {
  Kind kind = Kind::mse;
  Direction direction = Direction::forward;
  std::int64_t n = 0;
  const T* x = nullptr;
  const T* target = nullptr;
  const T* loss_gradient = nullptr; // dloss; backward only
  T* result = nullptr;              // the loss, or the gradient in x
  float delta = 1;                  // of huber
};

// naive: one thread per element. vectorized: 16-byte accesses, grid sized to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. Throws Error naming the field on a negative n, a required pointer that is null, a huber
// delta that is not positive and finite, or a result that partially overlaps an input.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Two reads (backward: three) and one write per element; the operations of the formula, with an
// exponential and a logarithm counted as one each.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::pointwise_loss
