// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs of cuDNN operations on described tensors, built with cudnn-frontend. Building a graph
// needs no device; cudnn_plan.h runs it.
//
// Sources: cuDNN's documentation, "Graph API"; github.com/NVIDIA/cudnn-frontend, docs.
#pragma once

#include "runtime/dtype.h"

#include <cudnn_frontend.h>

#include <array>
#include <cstdint>
#include <memory>

namespace kg::vendor::cudnn {

namespace frontend = cudnn_frontend;
using frontend::graph::Graph;
using TensorHandle = std::shared_ptr<frontend::graph::Tensor_attributes>;
using Axes = std::array<std::int64_t, 4>;

// An empty graph whose operations compute in f32.
std::shared_ptr<Graph> empty_graph();

// A tensor's type and layout; strides are in elements. `id` identifies the tensor in the graph.
struct Described {
  std::int64_t id;
  Dtype dtype; // f32, f16, bf16 or i32
  Axes extents, strides;
};
TensorHandle input(Graph& graph, const Described& tensor);
void mark_output(const TensorHandle& result, const Described& tensor);

// A packed row-major matrix, as (rows, cols, 1, 1); columns have stride 1.
Described matrix(std::int64_t id, Dtype dtype, std::int64_t rows, std::int64_t cols);
// Packed; the last axis has stride 1.
Described packed(std::int64_t id, Dtype dtype, const Axes& extents);

} // namespace kg::vendor::cudnn
