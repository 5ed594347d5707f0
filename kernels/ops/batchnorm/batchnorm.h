// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// batchnorm: y = (x - mean_c) rstd_c gamma[c] + beta[c] for every element of channel c. In
// training, mean_c and rstd_c = 1 / sqrt(variance_c + epsilon) are those of the channel's n = batch
// x spatial elements, the variance over n. In inference they come from running statistics. Ioffe
// and Szegedy, "Batch Normalization", arXiv 1502.03167.
//
// Problem: dense tensors in nchw or nhwc, computed in f32 and rounded once to T. Per-channel values
// are f32 for every T. gamma and beta may be null: ones and zeros. y may be x; other overlap is not
// allowed. Every variant adds in a fixed order: repeated runs on one device are bit-identical. The
// last bits of the statistics may differ with the number of multiprocessors. The variance uses
// centred values: a mean far from 0 costs no more accuracy than its own rounding.
//
// Training updates the running statistics, running = (1 - momentum) running + momentum batch, with
// the unbiased variance, over n - 1, as cuDNN and PyTorch do. With one element per channel this is
// 0 / 0: the running variance becomes NaN, as in cuDNN (tensorflow issue 34062), and y is beta.
// PyTorch rejects such a batch.
//
// Special values: a NaN or an infinity makes its channel NaN and the channel's running statistics
// not finite; other channels are unchanged. A channel of zero variance gives beta, or NaN if
// epsilon is 0 and the mean is exact. A channel whose sum or centred squares exceed f32's range
// gives beta or NaN. Inference follows IEEE 754 as in the formula. Subnormal results are kept.
#pragma once

#include "ops/batchnorm/problem.h"
#include "ops/batchnorm/variants.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>

namespace kg::batchnorm {

// One f32 per channel each, updated by training; both null: omitted.
struct Running {
  float* mean = nullptr;
  float* variance = nullptr;
  float momentum = 0.1f;
};

// Bytes of device workspace that training needs, aligned to 16; may be 0.
std::size_t workspace_bytes(Variant variant, Dtype dtype, const Problem& problem);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0;
// without elements nothing is written. mean and rstd: outputs for the backward pass. Throws Error
// for: negative extents; an epsilon that is negative or not finite; a momentum outside [0, 1]; only
// one of the running statistics; null tensors or statistics; overlap; a required workspace that is
// null or misaligned; more blocks than a launch can have.
template <class T>
Variant run_training(const Problem& problem, const T* x, const float* gamma, const float* beta,
                     float epsilon, const Running& running, T* y, float* mean, float* rstd,
                     void* workspace, Variant variant, Stream& stream);

// The same with given statistics, which are not changed; reads x once.
template <class T>
Variant run_inference(const Problem& problem, const T* x, const float* gamma, const float* beta,
                      const float* running_mean, const float* running_variance, float epsilon, T* y,
                      Variant variant, Stream& stream);

// One read and one write per element. Per channel: gamma, beta and the statistics; training writes
// the batch's statistics and updates the running ones. Operations per element: 3 for y, and 4 for
// the sums in training.
Work training_work(Dtype dtype, const Problem& problem);
Work inference_work(Dtype dtype, const Problem& problem);

} // namespace kg::batchnorm
