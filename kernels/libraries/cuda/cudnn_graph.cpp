// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn_graph.h"

#include "libraries/cuda/scratch.h"
#include "libraries/cuda/time_of.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kg::vendor::cudnn {
namespace {

// What a heuristic proposes for the graph, the best first.
std::vector<Descriptor> proposals(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  heuristic.finalize();
  std::int64_t count = 0;
  const auto get = [&](std::int64_t most, cudnnBackendDescriptor_t* into) {
    check_support(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                           CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, into),
                  "the heuristic");
  };
  get(0, nullptr);
  std::vector<Descriptor> configurations;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < count; ++i) {
    configurations.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    raw.push_back(configurations.back().get());
  }
  get(count, raw.data());
  configurations.erase(configurations.begin() + count, configurations.end()); // may be fewer now
  return configurations;
}

Descriptor graph_of(const Descriptor& operation, cudnnHandle_t handle) {
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  graph.finalize();
  return graph;
}

Descriptor plan_of(const Descriptor& configuration, cudnnHandle_t handle) {
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  plan.finalize();
  return plan;
}

Descriptor tensor(std::int64_t id, cudnnDataType_t type, std::span<const std::int64_t, 4> extents,
                  std::span<const std::int64_t, 4> strides) {
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, extents.data());
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.data());
  return tensor;
}

// Of elements that begin where a pack of 16 bytes may.
Descriptor aligned_tensor(std::int64_t id, Dtype dtype, std::span<const std::int64_t, 4> extents,
                          std::span<const std::int64_t, 4> strides) {
  constexpr std::int64_t kAlignment = 16;
  Descriptor made = tensor(id, type_of(dtype).value(), extents, strides);
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  made.finalize();
  return made;
}

} // namespace

void check_support(cudnnStatus_t status, const char* what, Location where) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const std::string text = std::string("cuDNN, ") + what + ": " + describe(status).text;
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) throw NotSupported(text);
  fail(text, where);
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  check_support(cudnnBackendCreateDescriptor(type, &descriptor_), "making a descriptor");
}

Descriptor::~Descriptor() {
  if (descriptor_ != nullptr) cudnnBackendDestroyDescriptor(descriptor_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                     std::int64_t count, const void* values) {
  check_support(cudnnBackendSetAttribute(descriptor_, name, type, count, values),
                "setting an attribute");
}

void Descriptor::set(cudnnBackendAttributeName_t name, const Descriptor& value) {
  const cudnnBackendDescriptor_t raw = value.get();
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
}

void Descriptor::set(cudnnBackendAttributeName_t name, std::int64_t value) {
  set(name, CUDNN_TYPE_INT64, 1, &value);
}

void Descriptor::finalize() {
  check_support(cudnnBackendFinalize(descriptor_), "finalising a descriptor");
}

Descriptor matrix_tensor(std::int64_t id, Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const std::int64_t extents[] = {rows, cols, 1, 1};
  const std::int64_t strides[] = {cols, 1, cols, cols};
  return aligned_tensor(id, dtype, extents, strides);
}

Descriptor packed_tensor(std::int64_t id, Dtype dtype, const std::array<std::int64_t, 4>& extents) {
  const std::int64_t rows = extents[2] * extents[3];
  const std::int64_t strides[] = {extents[1] * rows, rows, extents[3], 1};
  return aligned_tensor(id, dtype, extents, strides);
}

Descriptor scalar_tensor(std::int64_t id) {
  const std::int64_t ones[] = {1, 1, 1, 1};
  Descriptor made = tensor(id, CUDNN_DATA_FLOAT, ones, ones);
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, sizeof(float));
  const bool yes = true;
  made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
  made.finalize();
  return made;
}

void Operation::set(cudnnBackendAttributeName_t name, Descriptor tensor) {
  descriptor_.set(name, tensor);
  tensors_.push_back(std::move(tensor));
}

const Descriptor& Operation::finalized() {
  descriptor_.finalize();
  return descriptor_;
}

Plan::Plan(Operation operation, Stream& stream)
    : operation_(std::move(operation)),
      graph_(graph_of(operation_.finalized(), handle_on(stream))) {
  std::string refusal = "cuDNN proposes no engine for it";
  const auto ask = [&](cudnnBackendHeurMode_t mode) {
    try {
      return proposals(graph_, mode);
    } catch (const NotSupported& error) {
      refusal = error.what();
      return std::vector<Descriptor>();
    }
  };
  // The best of A, the best of B, the second of A, ...; what falls back comes last.
  std::vector<Descriptor> a = ask(CUDNN_HEUR_MODE_A), b = ask(CUDNN_HEUR_MODE_B);
  std::vector<Engine> engines;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    for (std::vector<Descriptor>* ranked : {&a, &b})
      if (i < ranked->size()) engines.push_back({std::move((*ranked)[i])});
  for (Descriptor& one : ask(CUDNN_HEUR_MODE_FALLBACK)) engines.push_back({std::move(one)});
  engines_ = Proposals<Engine>(std::move(engines), std::move(refusal));
}

void Plan::make(Engine& engine, Stream& stream) {
  Descriptor plan = plan_of(engine.configuration, handle_on(stream));
  check_support(cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                         CUDNN_TYPE_INT64, 1, nullptr, &engine.workspace_bytes),
                "the workspace");
  engine.plan = std::move(plan);
}

void Plan::execute(std::span<const Binding> bindings, Stream& stream) {
  std::vector<std::int64_t> ids;
  std::vector<void*> data;
  for (const Binding& each : bindings) {
    ids.push_back(each.id);
    data.push_back(const_cast<void*>(each.data)); // the interface knows no const
  }
  const auto count = static_cast<std::int64_t>(ids.size());
  const auto call = [&](Engine& engine) {
    if (!engine.plan) make(engine, stream);
    void* const workspace = scratch(static_cast<std::size_t>(engine.workspace_bytes), stream);
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, data.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    pack.finalize();
    check_support(cudnnBackendExecute(handle_on(stream), engine.plan->get(), pack.get()),
                  "executing a plan");
  };
  if (executed_)
    engines_.run_fastest(call, TimeOn(stream));
  else
    engines_.run(call);
  executed_ = true;
}

} // namespace kg::vendor::cudnn
