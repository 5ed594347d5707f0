// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn_graph.h"

#include "runtime/error.h"

#include <string>

namespace kg::vendor::cudnn {
namespace {

frontend::DataType_t frontend_type(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return frontend::DataType_t::FLOAT;
  case Dtype::f16: return frontend::DataType_t::HALF;
  case Dtype::bf16: return frontend::DataType_t::BFLOAT16;
  case Dtype::i32: return frontend::DataType_t::INT32;
  default: fail("cuDNN: its graphs get no tensor of " + std::string(name(dtype)));
  }
}

frontend::graph::Tensor_attributes attributes(const Described& tensor) {
  return frontend::graph::Tensor_attributes()
      .set_uid(tensor.id)
      .set_data_type(frontend_type(tensor.dtype))
      .set_dim({tensor.extents.begin(), tensor.extents.end()})
      .set_stride({tensor.strides.begin(), tensor.strides.end()});
}

} // namespace

std::shared_ptr<Graph> empty_graph() {
  const auto graph = std::make_shared<Graph>();
  graph->set_intermediate_data_type(frontend::DataType_t::FLOAT)
      .set_compute_data_type(frontend::DataType_t::FLOAT);
  return graph;
}

TensorHandle input(Graph& graph, const Described& tensor) {
  return graph.tensor(attributes(tensor));
}

void mark_output(const TensorHandle& result, const Described& tensor) {
  result->set_output(true)
      .set_uid(tensor.id)
      .set_data_type(frontend_type(tensor.dtype))
      .set_dim({tensor.extents.begin(), tensor.extents.end()})
      .set_stride({tensor.strides.begin(), tensor.strides.end()});
}

Described matrix(std::int64_t id, Dtype dtype, std::int64_t rows, std::int64_t cols) {
  return {id, dtype, {rows, cols, 1, 1}, {cols, 1, cols, cols}};
}

Described packed(std::int64_t id, Dtype dtype, const Axes& extents) {
  const std::int64_t rows = extents[2] * extents[3];
  return {id, dtype, extents, {extents[1] * rows, rows, extents[3], 1}};
}

} // namespace kg::vendor::cudnn
