// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of the CUDA runtime that the cuda backend calls, on the stand-in's model.
#include "tests/unit/kernels/runtime/recording_cudart_model.h"

#include <cstring>

using namespace kg::recording;

namespace {

std::string text(dim3 value) {
  return "(" + std::to_string(value.x) + ", " + std::to_string(value.y) + ", " +
         std::to_string(value.z) + ")";
}

std::string hex(int byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return std::string("0x") + kDigits[byte >> 4 & 15] + kDigits[byte & 15];
}

const char* name(cudaMemcpyKind kind) {
  switch (kind) {
  case cudaMemcpyHostToDevice: return "HostToDevice";
  case cudaMemcpyDeviceToHost: return "DeviceToHost";
  case cudaMemcpyDeviceToDevice: return "DeviceToDevice";
  default: return "another kind";
  }
}

// A copy's directions are checked when it is enqueued; the bytes move when it runs.
cudaError_t check_copy(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool to_device = model().on_device(to, bytes);
  const bool from_device = model().on_device(from, bytes);
  if (to_device != (kind != cudaMemcpyDeviceToHost) ||
      from_device != (kind != cudaMemcpyHostToDevice))
    return model().misuse("a copy whose pointers do not fit its kind or leave their memory",
                          cudaErrorInvalidValue);
  return cudaSuccess;
}

template <class T>
cudaError_t destroy(Registry<T>& registry, const char* function, T* handle) {
  return release_call(function, registry.label(handle), [&](std::string&) {
    if (registry.destroy(handle)) return cudaSuccess;
    return model().misuse(std::string(function) + " of an unknown handle",
                          cudaErrorInvalidResourceHandle);
  });
}

} // namespace

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", "", [&](std::string&) {
    *version = machine().driver_version;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", "", [&](std::string&) {
    *count = machine().device_count;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", "", [&](std::string&) {
    *device = machine().device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call("cudaGetDeviceProperties", std::to_string(device), [&](std::string&) {
    *properties = machine().properties;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", "", [](std::string&) {
    const cudaError_t forbidden = model().forbid_in_capture();
    if (forbidden == cudaSuccess) model().run_all_pending();
    return forbidden;
  });
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call("cudaMalloc", std::to_string(bytes), [&](std::string& made) {
    if (const cudaError_t forbidden = model().forbid_in_capture()) return forbidden;
    if (bytes > model().free_bytes()) return cudaErrorMemoryAllocation;
    // 256: the alignment that the runtime promises. 0x11: garbage that is neither poison nor guard.
    constexpr std::size_t kAlignment = 256;
    auto* memory = static_cast<unsigned char*>(
        std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment));
    std::memset(memory, 0x11, bytes);
    made = "memory" + std::to_string(model().blocks_created++);
    model().blocks.push_back({made, bytes, std::unique_ptr<unsigned char, Free>(memory)});
    *pointer = memory;
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* pointer) {
  return release_call("cudaFree", model().memory_label(pointer), [&](std::string&) {
    if (!pointer) return cudaSuccess;
    if (const cudaError_t forbidden = model().forbid_in_capture()) return forbidden;
    model().run_all_pending(); // cudaFree waits for the device
    const auto removed =
        model().blocks.remove_if([&](const Block& block) { return block.memory.get() == pointer; });
    if (removed == 1) return cudaSuccess;
    return model().misuse("cudaFree of what cudaMalloc did not return", cudaErrorInvalidValue);
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", "", [&](std::string&) {
    *free = model().free_bytes();
    *total = machine().memory_bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const std::string arguments = model().memory_label(to) + ", " + model().memory_label(from) +
                                ", " + std::to_string(bytes) + ", " + name(kind);
  return call("cudaMemcpy", arguments, [&](std::string&) {
    if (const cudaError_t forbidden = model().forbid_in_capture()) return forbidden;
    if (const cudaError_t invalid = check_copy(to, from, bytes, kind)) return invalid;
    model().run_pending(model().default_stream); // and of no other stream: those do not wait for it
    std::memcpy(to, from, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const std::string arguments = model().memory_label(to) + ", " + model().memory_label(from) +
                                ", " + std::to_string(bytes) + ", " + name(kind) + ", " +
                                model().stream_label(stream);
  return call("cudaMemcpyAsync", arguments, [&](std::string&) {
    if (const cudaError_t invalid = check_copy(to, from, bytes, kind)) return invalid;
    return model().enqueue(stream, {[=] { std::memmove(to, from, bytes); }});
  });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  const std::string arguments = model().memory_label(pointer) + ", " + hex(value) + ", " +
                                std::to_string(bytes) + ", " + model().stream_label(stream);
  return call("cudaMemsetAsync", arguments, [&](std::string&) {
    if (!model().on_device(pointer, bytes))
      return model().misuse("a fill that leaves its memory", cudaErrorInvalidValue);
    return model().enqueue(stream, {[=] { std::memset(pointer, value, bytes); }});
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const std::string arguments = flags == cudaStreamNonBlocking ? "NonBlocking" : "blocking";
  return call("cudaStreamCreateWithFlags", arguments, [&](std::string& made) {
    *stream = model().streams.create();
    made = (*stream)->label;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (model().streams.has(stream)) model().run_pending(*stream);
  return destroy(model().streams, "cudaStreamDestroy", stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", model().stream_label(stream), [&](std::string&) {
    CUstream_st* target = model().stream(stream);
    if (!target)
      return model().misuse("wait for an unknown stream", cudaErrorInvalidResourceHandle);
    if (target->capture) return model().forbid_in_capture();
    model().run_pending(*target);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", model().stream_label(stream), [&](std::string&) {
    const CUstream_st* target = model().stream(stream);
    if (!target) return cudaErrorInvalidResourceHandle;
    *status = !target->capture          ? cudaStreamCaptureStatusNone
              : target->capture_invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const std::string arguments =
      model().stream_label(stream) +
      (mode == cudaStreamCaptureModeThreadLocal ? ", ThreadLocal" : ", another mode");
  return call("cudaStreamBeginCapture", arguments, [&](std::string&) {
    if (!model().streams.has(stream)) return cudaErrorStreamCaptureUnsupported;
    if (stream->capture) return cudaErrorIllegalState;
    stream->capture.emplace();
    stream->capture_invalid = false;
    return cudaSuccess;
  });
}

// Ends the capture even when it reports an error.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  std::optional<std::vector<Operation>> nodes;
  if (model().streams.has(stream)) nodes = std::exchange(stream->capture, {});
  return call("cudaStreamEndCapture", model().stream_label(stream), [&](std::string& made) {
    if (!nodes) return cudaErrorIllegalState;
    if (stream->capture_invalid) return cudaErrorStreamCaptureInvalidated;
    *graph = model().graphs.create();
    (*graph)->nodes = *nodes;
    made = (*graph)->label;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  const std::string arguments = model().graphs.label(graph) + (nodes ? ", nodes" : ", count only");
  return call("cudaGraphGetNodes", arguments, [&](std::string&) {
    *count = graph->nodes.size();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  const std::string arguments = model().graphs.label(graph) + ", " + std::to_string(flags);
  return call("cudaGraphInstantiate", arguments, [&](std::string& made) {
    *executable = model().executables.create();
    (*executable)->nodes = graph->nodes;
    made = (*executable)->label;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return destroy(model().graphs, "cudaGraphDestroy", graph);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return destroy(model().executables, "cudaGraphExecDestroy", executable);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::string arguments =
      model().executables.label(executable) + ", " + model().stream_label(stream);
  return call("cudaGraphLaunch", arguments, [&](std::string&) {
    for (const Operation& node : executable->nodes)
      if (const cudaError_t failed = model().enqueue(stream, node)) return failed;
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const std::string arguments = flags == cudaEventDefault ? "Default" : "other flags";
  return call("cudaEventCreateWithFlags", arguments, [&](std::string& made) {
    *event = model().events.create();
    made = (*event)->label;
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return destroy(model().events, "cudaEventDestroy", event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::string arguments = model().events.label(event) + ", " + model().stream_label(stream);
  return call("cudaEventRecord", arguments, [&](std::string&) {
    if (!model().events.has(event)) return cudaErrorInvalidResourceHandle;
    event->recorded = true;
    event->stream = stream;
    event->reached_at_ns.reset();
    return model().enqueue(stream, {[event] {
                                      if (model().events.has(event))
                                        event->reached_at_ns = model().clock_ns;
                                    },
                                    0});
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", model().events.label(event), [&](std::string&) {
    if (!model().events.has(event)) return cudaErrorInvalidResourceHandle;
    if (CUstream_st* stream = model().stream(event->stream)) model().run_pending(*stream);
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  const std::string arguments = model().events.label(start) + ", " + model().events.label(stop);
  return call("cudaEventElapsedTime", arguments, [&](std::string&) {
    if (!model().events.has(start) || !model().events.has(stop) || !start->recorded ||
        !stop->recorded)
      return cudaErrorInvalidResourceHandle;
    if (!start->reached_at_ns || !stop->reached_at_ns) return cudaErrorNotReady;
    *milliseconds = static_cast<float>((*stop->reached_at_ns - *start->reached_at_ns) * 1e-6);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** mangled_name, const void* kernel) {
  return call("cudaFuncGetName", "", [&](std::string& made) {
    const auto found = model().kernels.find(kernel);
    if (found == model().kernels.end()) return cudaErrorInvalidDeviceFunction;
    *mangled_name = found->second.mangled_name.c_str();
    made = *mangled_name;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const auto found = model().kernels.find(kernel);
  const bool known = found != model().kernels.end();
  const std::string arguments =
      (known ? found->second.mangled_name : "unknown kernel") +
      (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize ? ", MaxDynamicSharedMemorySize, "
                                                                : ", another attribute, ") +
      std::to_string(value);
  return call("cudaFuncSetAttribute", arguments, [&](std::string&) {
    if (!known) return cudaErrorInvalidDeviceFunction;
    found->second.dynamic_shared_limit = static_cast<std::size_t>(value);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  const auto found = model().kernels.find(kernel);
  const bool known = found != model().kernels.end();
  const std::string arguments = (known ? found->second.mangled_name : "unknown kernel") +
                                ", block " + text(config->blockDim) + ", shared " +
                                std::to_string(config->dynamicSmemBytes) + ", attributes " +
                                std::to_string(config->numAttrs);
  return call("cudaOccupancyMaxActiveClusters", arguments, [&](std::string&) {
    if (!known) return cudaErrorInvalidDeviceFunction;
    *clusters = 30;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  const auto found = model().kernels.find(kernel);
  const bool known = found != model().kernels.end();
  std::string text_of_call = (known ? found->second.mangled_name : "unknown kernel") + ", grid " +
                             text(config->gridDim) + ", block " + text(config->blockDim) +
                             ", shared " + std::to_string(config->dynamicSmemBytes) + ", " +
                             model().stream_label(config->stream);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      text_of_call += ", cluster " + text({attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                                           attribute.val.clusterDim.z});
    else if (attribute.id == cudaLaunchAttributeCooperative)
      text_of_call += ", cooperative " + std::to_string(attribute.val.cooperative);
    else
      text_of_call += ", another attribute";
  }
  return call("cudaLaunchKernelExC", text_of_call, [&](std::string&) {
    if (!known) return cudaErrorInvalidDeviceFunction;
    if (config->dynamicSmemBytes > found->second.dynamic_shared_limit) return cudaErrorInvalidValue;
    return model().enqueue(config->stream, {found->second.bind(arguments)});
  });
}

} // extern "C"
