// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arguments of attention_backward's kernels, and the gradient with respect to a score.
#pragma once

#include "ops/attention/visible.h"
#include "ops/attention_backward/attention_backward.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention_backward {

using attention::kLog2E;
using attention::Visible;

template <class T>
struct Arguments {
  Problem<T> problem;
  bool vector; // every row of every tensor of T begins and ends at a multiple of 16 bytes

  // See attention::Arguments.
  __device__ __forceinline__ float score_unit() const {
    return problem.forward.bias == nullptr ? problem.forward.scale : 1.0F;
  }
};

// Per query; loaded and copied as a whole.
struct alignas(8) Row {
  float reference; // log_sum x log2 e, subtracted from the exponents of its scores
  float delta;     // the sum of dout out

  // A query that sees no key, or only scores of -inf, has a log_sum of -inf: all its weights are 0.
  __device__ __forceinline__ static float reference_of(float log_sum) {
    return log_sum == -INFINITY ? INFINITY : log_sum * kLog2E;
  }
  // The weight's exponent to base 2. by: log2(e) * score_unit().
  __device__ __forceinline__ float exponent(float score, float by) const {
    return fmaf(score, by, -reference);
  }
  // The gradient with respect to the score, from the gradient with respect to the weight.
  __device__ __forceinline__ float gradient(float weight, float by_weight) const {
    return weight * (by_weight - delta);
  }
};

// One head of one sequence, with pointers to the additional inputs and the gradients.
template <class T>
struct Head : attention::Head<T> {
  const T* dout;
  T *dq, *dk, *dv; // dk, dv: shared by the group

  __device__ __forceinline__ Head(const Problem<T>& p, int number)
      : attention::Head<T>(p.forward, number), dout(p.dout + this->of_queries(p.dout_stride)),
        dq(p.dq + this->of_queries(p.dq_stride)), dk(p.dk + this->of_keys(p.dk_stride)),
        dv(p.dv + this->of_keys(p.dv_stride)) {}
};

} // namespace kg::attention_backward
