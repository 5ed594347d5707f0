// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// batchnorm: y = (x - mean_c) rstd_c gamma[c] + beta[c] for every element of channel c. In training
// mean_c and rstd_c = 1 / sqrt(variance_c + epsilon) are those of the channel's n = batch x spatial
// elements, the variance over n; in inference they come from running statistics. Ioffe and Szegedy,
// "Batch Normalization", arXiv 1502.03167.
//
// Problem: dense tensors in nchw or nhwc, computed in f32 and rounded once to T. All that there is
// one of per channel is f32 whatever T is. gamma and beta may be null: ones and zeros. y may be x;
// other overlap is not allowed. Every variant adds in a fixed order: repeated runs on one device
// are bit-identical; on another number of multiprocessors the last bits of the statistics may
// differ. The variance is that of centred values: a mean far from 0 costs no more accuracy than the
// rounding of the mean.
//
// Training updates the running statistics, running = (1 - momentum) running + momentum batch, with
// the unbiased variance, over n - 1, as cuDNN and PyTorch do. Of one element per channel that is
// 0 / 0: the running variance becomes NaN, as it does in cuDNN (tensorflow issue 34062); PyTorch
// refuses such a batch. y is beta then.
//
// Special values: a NaN or an infinity makes its channel NaN, its running statistics not finite;
// other channels do not change. A channel of zero variance gives beta, and NaN if epsilon is 0 and
// the mean is exact. A channel whose sum or centred squares exceed f32's range gives beta or NaN.
// Inference follows IEEE 754 as the formula says. Subnormal results are kept.
#pragma once

#include "ops/batchnorm/problem.h"
#include "ops/batchnorm/variants.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>

namespace kg::batchnorm {

// One f32 per channel each, updated by training; both null: not wanted.
struct Running {
  float* mean = nullptr;
  float* variance = nullptr;
  float momentum = 0.1f;
};

// Bytes of device workspace that training needs, aligned to 16; may be 0.
std::size_t workspace_bytes(Variant variant, Dtype dtype, const Problem& problem);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0:
// without elements nothing is written. mean and rstd: where to put the batch's statistics, which
// the backward pass needs. Throws Error on negative extents, an epsilon that is negative or not
// finite, a momentum outside [0, 1], one running statistic without the other, null tensors or
// statistics, overlap, a workspace that is needed and null or not aligned, or more blocks than a
// launch has.
template <class T>
Variant run_training(const Problem& problem, const T* x, const float* gamma, const float* beta,
                     float epsilon, const Running& running, T* y, float* mean, float* rstd,
                     void* workspace, Variant variant, Stream& stream);

// The same with the statistics given, which are not changed; one read of x.
template <class T>
Variant run_inference(const Problem& problem, const T* x, const float* gamma, const float* beta,
                      const float* running_mean, const float* running_variance, float epsilon, T* y,
                      Variant variant, Stream& stream);

// One read and one write per element; per channel gamma, beta and the statistics, of which training
// writes the batch's and changes the running ones. Operations per element: 3 for y, and in training
// 4 for the sums.
Work training_work(Dtype dtype, const Problem& problem);
Work inference_work(Dtype dtype, const Problem& problem);

} // namespace kg::batchnorm
