// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn_norm_graphs.h"

#include <array>
#include <utility>

namespace kg::vendor::cudnn {

std::shared_ptr<Graph> norm_forward_graph(const NormShape& s) {
  const auto graph = empty_graph();
  const auto x = input(*graph, s.elements(kX)), gamma = input(*graph, s.per_column(kGamma));
  auto epsilon = graph->tensor(frontend::graph::Tensor_attributes(s.epsilon));
  const auto phase =
      s.training ? frontend::NormFwdPhase_t::TRAINING : frontend::NormFwdPhase_t::INFERENCE;
  if (s.is_layer()) {
    auto how = frontend::graph::Layernorm_attributes();
    how.set_forward_phase(phase).set_epsilon(epsilon);
    const auto [y, mean, rstd] =
        graph->layernorm(x, gamma, input(*graph, s.per_column(kBeta)), std::move(how));
    mark_output(y, s.elements(kY));
    if (s.training) mark_output(mean, s.per_row(kMean));
    if (s.training) mark_output(rstd, s.per_row(kRstd));
  } else {
    auto how = frontend::graph::Rmsnorm_attributes();
    how.set_forward_phase(phase).set_epsilon(epsilon);
    const auto [y, rstd] = graph->rmsnorm(x, gamma, std::move(how));
    mark_output(y, s.elements(kY));
    if (s.training) mark_output(rstd, s.per_row(kRstd));
  }
  return graph;
}

std::shared_ptr<Graph> norm_backward_graph(const NormShape& s) {
  const auto graph = empty_graph();
  const auto dy = input(*graph, s.elements(kDy)), x = input(*graph, s.elements(kX)),
             gamma = input(*graph, s.per_column(kGamma)), rstd = input(*graph, s.per_row(kRstd));
  std::array<TensorHandle, 3> gradients;
  if (s.is_layer()) {
    auto how = frontend::graph::Layernorm_backward_attributes();
    how.set_saved_mean_and_inv_variance(input(*graph, s.per_row(kMean)), rstd);
    gradients = graph->layernorm_backward(dy, x, gamma, std::move(how));
    mark_output(gradients[2], s.per_column(kDbeta));
  } else {
    auto how = frontend::graph::Rmsnorm_backward_attributes();
    how.has_dbias(false);
    gradients = graph->rmsnorm_backward(dy, x, gamma, rstd, std::move(how));
  }
  mark_output(gradients[0], s.elements(kDx));
  mark_output(gradients[1], s.per_column(kDgamma));
  return graph;
}

} // namespace kg::vendor::cudnn
