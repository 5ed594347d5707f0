// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention and its gradients by cuDNN's fused kernels, with all masks of the problem. Each thread
// keeps the plan of its last problem, because building a plan compiles code.
#pragma once

#include "libraries/attention.h"
#include "libraries/attention_backward.h"

namespace kg::vendor::cudnn {

// What cuDNN 9 supports on at least one GPU: f16 and bf16, depths that are multiples of 16 bytes,
// and, for ragged sequences, no key lengths besides those that the offsets imply.
inline bool attention_supported(const AttentionProblem& p) {
  return (p.dtype == Dtype::f16 || p.dtype == Dtype::bf16) && p.depth % 8 == 0 &&
         p.value_depth % 8 == 0 && !(p.lengths && p.order == TokenOrder::ragged);
}

// Throw NotSupported, with cuDNN's message, if cuDNN has no engine for the problem on the current
// device, for example below compute capability 8.0.
void attention(const AttentionProblem& problem, const AttentionTensors& tensors, Stream& stream);
void attention_backward(const AttentionProblem& problem, const AttentionBackwardTensors& tensors,
                        Stream& stream);

} // namespace kg::vendor::cudnn
