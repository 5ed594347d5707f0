// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention and its gradients by cuDNN's fused kernels, with all masks of the problem. The plan of
// the last problem is kept, for each thread: making one compiles.
#pragma once

#include "libraries/attention.h"
#include "libraries/attention_backward.h"

namespace kg::vendor::cudnn {

// What cuDNN 9 takes on some GPU: f16 and bf16, depths of whole packs of 16 bytes, and no key
// lengths of ragged sequences beside those that their offsets say.
inline bool attention_supported(const AttentionProblem& p) {
  return (p.dtype == Dtype::f16 || p.dtype == Dtype::bf16) && p.depth % 8 == 0 &&
         p.value_depth % 8 == 0 && !(p.lengths && p.order == TokenOrder::ragged);
}

// Throw NotSupported, with cuDNN's words, where it has no engine for the problem on the current
// device: below compute capability 8.0, say.
void attention(const AttentionProblem& problem, const AttentionTensors& tensors, Stream& stream);
void attention_backward(const AttentionProblem& problem, const AttentionBackwardTensors& tensors,
                        Stream& stream);

} // namespace kg::vendor::cudnn
