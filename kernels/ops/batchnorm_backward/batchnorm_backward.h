// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// batchnorm_backward: the gradients of a loss with respect to batchnorm's x, gamma and beta in
// training, from dy, the gradient with respect to its result. With n = (x - mean_c) rstd_c, sums
// and N over the elements of channel c:
//   dbeta[c] = sum of dy, dgamma[c] = sum of dy n
//   dx = gamma[c] rstd_c (dy - dbeta[c] / N - n dgamma[c] / N)
// (the chain rule on the formula of batchnorm.h).
//
// Problem: dense tensors in nchw or nhwc, computed in f32, dx rounded once to T. Per-channel values
// are f32 for every T. mean and rstd: the results of training, used unchanged. gamma may be null:
// ones. dx may be x or dy; other overlap is not allowed. Every variant adds in a fixed order:
// repeated runs on one device are bit-identical. The last bits may differ with the number of
// multiprocessors.
//
// Special values: IEEE 754 as in the formulas. A NaN in dy or x, or one produced by infinities in a
// channel's sums, reaches dx, dgamma and dbeta of its channel as far as it contributes to them;
// other channels are unchanged. Subnormal results are kept.
#pragma once

#include "ops/batchnorm/problem.h"
#include "ops/batchnorm/variants.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>

namespace kg::batchnorm_backward {

using batchnorm::kVariants;
using batchnorm::Layout;
using batchnorm::name;
using batchnorm::Problem;
using batchnorm::resolved;
using batchnorm::Variant;

// Bytes of device workspace that `run` needs, aligned to 16; may be 0.
std::size_t workspace_bytes(Variant variant, Dtype dtype, const Problem& problem);

// The longest sequential chain of additions in a channel's sums, with which the error bounds grow.
std::int64_t chain(Variant variant, Dtype dtype, const Problem& problem);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0;
// dgamma and dbeta of channels without elements are 0. Throws Error for: negative extents; null
// tensors, statistics or gradients; overlap; a required workspace that is null or misaligned; more
// blocks than a launch can have.
template <class T>
Variant run(const Problem& problem, const T* dy, const T* x, const float* gamma, const float* mean,
            const float* rstd, T* dx, float* dgamma, float* dbeta, void* workspace, Variant variant,
            Stream& stream);

// Two reads and one write per element; per channel gamma, the statistics and two gradients; 11
// operations per element (5 for the sums, 6 for dx).
Work work(Dtype dtype, const Problem& problem);

} // namespace kg::batchnorm_backward
