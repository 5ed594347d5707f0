// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/recording_cudart_model.h"

#include <cstring>

namespace kg::recording {
namespace {

std::unique_ptr<Model>& current() {
  static auto instance = std::make_unique<Model>();
  return instance;
}

cudaError_t finish(Model& state, const std::string& function, const std::string& arguments,
                   const std::string& made, cudaError_t result) {
  std::string line = function + "(" + arguments + ")";
  if (!made.empty()) line += " = " + made;
  if (result != cudaSuccess) {
    line += std::string(" -> ") + cudaGetErrorName(result);
    state.last_error = result;
  }
  state.calls.push_back(line);
  return result;
}

} // namespace

Model& model() { return *current(); }

void reset() { current() = std::make_unique<Model>(); }

std::vector<std::string> calls() { return model().calls; }
void clear_calls() { model().calls.clear(); }
std::vector<std::string> misuses() { return model().misuses; }
cudaError_t last_error() { return model().last_error; }
Machine& machine() { return model().machine; }
void break_device(cudaError_t error) { model().sticky = error; }

std::vector<std::string> leaks() {
  std::vector<std::string> labels;
  auto add = [&labels](const auto& registry) {
    for (const auto& object : registry.live()) labels.push_back(object->label);
  };
  for (const Block& block : model().blocks) labels.push_back(block.label);
  add(model().streams);
  add(model().events);
  add(model().graphs);
  add(model().executables);
  return labels;
}

void fail_call(const std::string& function, cudaError_t error, int nth) {
  model().faults.push_back({function, error, nth});
}

void register_kernel(const void* kernel, const std::string& mangled_name,
                     std::function<BoundKernel(void**)> bind) {
  model().kernels[kernel] = {mangled_name, std::move(bind)};
}

// Figures of an H100 (CUDA Programming Guide, compute capability 9.0).
Model::Model() {
  cudaDeviceProp& device = machine.properties;
  std::strcpy(device.name, "Stand-In 90");
  device.major = 9;
  device.minor = 0;
  device.multiProcessorCount = 132;
  device.warpSize = 32;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiProcessor = 2048;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerBlockOptin = 227 * 1024;
  device.sharedMemPerMultiprocessor = 228 * 1024;
  device.l2CacheSize = 50 * 1024 * 1024;
  device.totalGlobalMem = machine.memory_bytes;
  device.maxGridSize[0] = 0x7FFFFFFF;
  device.maxGridSize[1] = 65535;
  device.maxGridSize[2] = 65535;
}

cudaError_t Model::fault(const std::string& function) {
  if (sticky != cudaSuccess) return sticky;
  cudaError_t result = cudaSuccess;
  for (Fault& planned : faults)
    if (planned.function == function && --planned.calls_until == 0) result = planned.error;
  return result;
}

CUstream_st* Model::stream(cudaStream_t handle) {
  if (!handle) return &default_stream;
  return streams.has(handle) ? handle : nullptr;
}

std::string Model::stream_label(cudaStream_t handle) const {
  return handle ? streams.label(handle) : default_stream.label;
}

Block* Model::block_of(const void* pointer) {
  const auto* byte = static_cast<const unsigned char*>(pointer);
  for (Block& block : blocks)
    if (byte >= block.memory.get() && byte < block.memory.get() + block.bytes) return &block;
  return nullptr;
}

bool Model::on_device(const void* pointer, std::size_t bytes) {
  const Block* block = block_of(pointer);
  return block &&
         static_cast<const unsigned char*>(pointer) + bytes <= block->memory.get() + block->bytes;
}

std::string Model::memory_label(const void* pointer) {
  if (!pointer) return "null";
  const Block* block = block_of(pointer);
  if (!block) return "host";
  const auto offset = static_cast<const unsigned char*>(pointer) - block->memory.get();
  return offset == 0 ? block->label : block->label + "+" + std::to_string(offset);
}

std::size_t Model::free_bytes() const {
  std::size_t used = 0;
  for (const Block& block : blocks) used += block.bytes;
  return machine.memory_bytes - used;
}

cudaError_t Model::enqueue(cudaStream_t handle, Operation operation) {
  CUstream_st* target = stream(handle);
  if (!target) return misuse("work on an unknown stream", cudaErrorInvalidResourceHandle);
  if (!target->capture) {
    target->pending.push_back(std::move(operation));
    return cudaSuccess;
  }
  if (target->capture_invalid) return cudaErrorStreamCaptureInvalidated;
  target->capture->push_back(std::move(operation));
  return cudaSuccess;
}

void Model::run_pending(CUstream_st& target) {
  const std::vector<Operation> work = std::exchange(target.pending, {});
  for (const Operation& operation : work) {
    operation.run();
    clock_ns += operation.duration_ns;
  }
}

void Model::run_all_pending() {
  run_pending(default_stream);
  for (const auto& live : streams.live()) run_pending(*live);
}

cudaError_t Model::forbid_in_capture() {
  cudaError_t result = cudaSuccess;
  for (const auto& live : streams.live()) {
    if (!live->capture) continue;
    live->capture_invalid = true;
    result = cudaErrorStreamCaptureUnsupported;
  }
  return result;
}

cudaError_t Model::misuse(const std::string& what, cudaError_t error) {
  misuses.push_back(what);
  return error;
}

cudaError_t call(const std::string& function, const std::string& arguments, const Body& body) {
  Model& state = model();
  std::string made;
  cudaError_t result = state.fault(function);
  if (result == cudaSuccess) result = body(made);
  return finish(state, function, arguments, made, result);
}

cudaError_t release_call(const std::string& function, const std::string& arguments,
                         const Body& body) {
  Model& state = model();
  std::string made;
  const cudaError_t planned = state.fault(function);
  const cudaError_t result = body(made);
  return finish(state, function, arguments, made, planned != cudaSuccess ? planned : result);
}

} // namespace kg::recording
