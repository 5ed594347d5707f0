// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Layer and RMS normalisation and their gradients as cuDNN graphs, and the ids of their tensors.
// Building a graph needs no device.
#pragma once

#include "libraries/cuda/cudnn_graph.h"
#include "ops/normalization/kind.h"

#include <cstdint>
#include <memory>

namespace kg::vendor::cudnn {

// Ids of the tensors in the graphs.
enum NormId : std::int64_t { kX = 1, kGamma, kBeta, kY, kMean, kRstd, kDy, kDx, kDgamma, kDbeta };

// Identifies a plan. Gradients ignore `training` and `epsilon`.
struct NormShape {
  normalization::Kind norm;
  Dtype dtype;
  std::int64_t rows;
  std::int64_t cols;
  bool training;
  float epsilon;

  bool is_layer() const { return norm == normalization::Kind::layer; }
  Described elements(NormId id) const { return matrix(id, dtype, rows, cols); }
  Described per_column(NormId id) const { return matrix(id, dtype, 1, cols); }
  Described per_row(NormId id) const { return matrix(id, Dtype::f32, rows, 1); }

  friend bool operator==(const NormShape&, const NormShape&) = default;
};

// beta and mean: layer normalisation only. mean and rstd are outputs in training.
std::shared_ptr<Graph> norm_forward_graph(const NormShape& shape);
std::shared_ptr<Graph> norm_backward_graph(const NormShape& shape);

} // namespace kg::vendor::cudnn
