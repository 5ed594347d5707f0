// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The losses of one element and their derivatives, in f32.
#pragma once

#include "ops/pointwise_loss/pointwise_loss.h"
#include "primitives/activation.h"

namespace kg::pointwise_loss {

template <Kind kind>
__device__ inline float loss(float x, float t, float delta) {
  const float apart = x - t;
  if constexpr (kind == Kind::mse) return apart * apart;
  if constexpr (kind == Kind::huber) {
    const float distance = fabsf(apart);
    return distance <= delta ? 0.5f * apart * apart : delta * (distance - 0.5f * delta);
  }
  // fmaxf ignores NaN, but the product propagates it. log1p is accurate to the last digit near
  // log(1).
  if constexpr (kind == Kind::bce) return fmaf(-x, t, fmaxf(x, 0.0f)) + log1pf(expf(-fabsf(x)));
  if constexpr (kind == Kind::kl) return t == 0.0f ? 0.0f : t * (logf(t) - x);
}

template <Kind kind>
__device__ inline float slope(float x, float t, float delta) {
  const float apart = x - t;
  if constexpr (kind == Kind::mse) return 2.0f * apart;
  if constexpr (kind == Kind::huber) // not fminf and fmaxf, which ignore NaN
    return apart < -delta ? -delta : apart > delta ? delta : apart;
  if constexpr (kind == Kind::bce) return activation::logistic(x).value - t;
  if constexpr (kind == Kind::kl) return -t;
}

} // namespace kg::pointwise_loss
