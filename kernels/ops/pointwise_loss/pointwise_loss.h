// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// pointwise_loss: a loss of each element x against its target t, and its gradient by x times dloss:
//   mse    (x - t)^2                                       2 (x - t)
//   huber  (x - t)^2 / 2 where |x - t| <= delta, else      x - t, held within
//          delta (|x - t| - delta / 2)                     -delta ... delta
//   bce    max(x, 0) - x t + log(1 + exp(-|x|))            sigmoid(x) - t
//   kl     t (log t - x), 0 where t is 0                   -t
// bce is binary cross entropy of sigmoid(x), a logit; kl the divergence of a probability t from one
// whose logarithm x is. Means and sums are `reduction`'s, and dloss is where their gradients come
// in.
//
// Problem: contiguous arrays of n elements. Layout: any alignment of T itself; the result may be
// any of the inputs, other overlap is not allowed. Computed in f32 and rounded once to T. Repeated
// runs are bit-identical.
//
// Special values: IEEE 754 as the formula says; NaN in an input gives NaN, but where kl has t = 0,
// whose loss is 0 whatever x is. bce is NaN where x t is infinity times 0. Subnormals are kept.
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
  const T* loss_gradient = nullptr; // dloss; backward alone
  T* result = nullptr;              // the loss, or the gradient by x
  float delta = 1;                  // of huber
};

// naive: one element per thread, one thread per element. vectorized: 16-byte accesses, grid sized
// to fill the device.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Enqueues the operation and returns the variant that runs; automatic is vectorized. T: float, f16,
// bf16. Throws Error naming the field on a negative n, a null pointer where one is needed, a delta
// of huber that is not positive and finite, or a result that overlaps an input in part.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Two reads (backward: three) and one write per element; the operations of the formula, with an
// exponential and a logarithm as one each.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::pointwise_loss
