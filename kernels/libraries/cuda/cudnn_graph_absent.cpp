// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the files that need cudnn-frontend in a build without it. Rows of these variants are
// then skipped, with the message below.
#include "libraries/cuda/cudnn_attention.h"
#include "libraries/cuda/cudnn_norm.h"
#include "libraries/not_supported.h"

namespace kg::vendor::cudnn {
namespace {

[[noreturn]] void absent() {
  throw NotSupported(
      "cuDNN's graphs are not available here: this was built without cudnn-frontend. "
      "Install nvidia-cudnn-frontend 1.18, or set CUDNN_FRONTEND_ROOT, and "
      "configure again");
}

} // namespace

void norm_forward(normalization::Kind, Dtype, const NormForward&, Stream&) { absent(); }
void norm_backward(normalization::Kind, Dtype, const NormBackward&, Stream&) { absent(); }
void attention(const AttentionProblem&, const AttentionTensors&, Stream&) { absent(); }
void attention_backward(const AttentionProblem&, const AttentionBackwardTensors&, Stream&) {
  absent();
}

} // namespace kg::vendor::cudnn
