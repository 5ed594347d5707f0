// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn_norm.h"

#include "libraries/cuda/cudnn_norm_graphs.h"
#include "libraries/cuda/cudnn_plan.h"

#include <vector>

namespace kg::vendor::cudnn {

void norm_forward(normalization::Kind norm, Dtype dtype, const NormForward& p, Stream& stream) {
  thread_local KeptPlan<NormShape> last;
  const NormShape shape{norm, dtype, p.rows, p.cols, p.rstd != nullptr, p.epsilon};
  std::vector<Binding> bindings = {{kX, p.x}, {kGamma, p.gamma}, {kY, p.y}};
  if (shape.is_layer()) bindings.push_back({kBeta, p.beta});
  if (shape.training) bindings.push_back({kRstd, p.rstd});
  if (shape.training && shape.is_layer()) bindings.push_back({kMean, p.mean});
  last.plan_of(shape, norm_forward_graph, stream).execute(bindings, stream);
}

void norm_backward(normalization::Kind norm, Dtype dtype, const NormBackward& p, Stream& stream) {
  thread_local KeptPlan<NormShape> last;
  const NormShape shape{norm, dtype, p.rows, p.cols, true, 0};
  std::vector<Binding> bindings = {{kX, p.x},       {kDy, p.dy}, {kGamma, p.gamma},
                                   {kRstd, p.rstd}, {kDx, p.dx}, {kDgamma, p.dgamma}};
  if (shape.is_layer()) {
    bindings.push_back({kMean, p.mean});
    bindings.push_back({kDbeta, p.dbeta});
  }
  last.plan_of(shape, norm_backward_graph, stream).execute(bindings, stream);
}

} // namespace kg::vendor::cudnn
