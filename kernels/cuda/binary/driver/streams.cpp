// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events, and graphs made by capture.
#include "cuda/binary/driver/call.h"
#include "cuda/source/graph.h"
#include "cuda/source/state.h"

using namespace kg::emulate;

// --- Streams

KG_DRIVER cuStreamCreate(CUstream* stream, unsigned flags) {
  return by_runtime(cudaStreamCreateWithFlags, stream, flags);
}
KG_DRIVER cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return by_runtime(cudaStreamCreateWithPriority, stream, flags, priority);
}
KG_DRIVER cuStreamDestroy(CUstream stream) { return by_runtime(cudaStreamDestroy, stream); }
KG_DRIVER cuStreamSynchronize(CUstream stream) { return by_runtime(cudaStreamSynchronize, stream); }
KG_DRIVER cuStreamQuery(CUstream stream) { return by_runtime(cudaStreamQuery, stream); }
KG_DRIVER cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return by_runtime(cudaStreamWaitEvent, stream, event, flags);
}
KG_DRIVER cuStreamGetPriority(CUstream stream, int* priority) {
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaStreamGetPriority, stream, priority);
}
KG_DRIVER cuStreamGetFlags(CUstream stream, unsigned* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaStreamGetFlags, stream, flags);
}
KG_DRIVER cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return driver("cuStreamGetDevice", [&] {
    demand_pointer(device, "device");
    kg::foreign::stream_of(stream);
    *device = 0;
  });
}
KG_DRIVER cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return driver("cuStreamGetCtx", [&] {
    demand_pointer(context, "pctx");
    kg::foreign::stream_of(stream);
    cuCtxGetCurrent(context);
  });
}
KG_DRIVER cuStreamGetId(CUstream stream, unsigned long long* id) {
  return driver("cuStreamGetId", [&] {
    demand_pointer(id, "streamId");
    *id = reinterpret_cast<unsigned long long>(&kg::foreign::stream_of(stream));
  });
}
KG_DRIVER cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned) {
  if (!callback) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult missing = in_context()) return missing;
  return code_of(kg::foreign::call_on_host(stream, "cuStreamAddCallback",
                                           [=] { callback(stream, CUDA_SUCCESS, data); }));
}
KG_DRIVER cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t bytes,
                                 unsigned flags) {
  return by_runtime(cudaStreamAttachMemAsync, stream, pointer_to(address), bytes, flags);
}

// --- Events

KG_DRIVER cuEventCreate(CUevent* event, unsigned flags) {
  return by_runtime(cudaEventCreateWithFlags, event, flags);
}
KG_DRIVER cuEventDestroy(CUevent event) { return by_runtime(cudaEventDestroy, event); }
KG_DRIVER cuEventRecord(CUevent event, CUstream stream) {
  return by_runtime(cudaEventRecord, event, stream);
}
KG_DRIVER cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return by_runtime(cudaEventRecord, event, stream);
}
KG_DRIVER cuEventSynchronize(CUevent event) { return by_runtime(cudaEventSynchronize, event); }
KG_DRIVER cuEventQuery(CUevent event) { return by_runtime(cudaEventQuery, event); }
KG_DRIVER cuEventElapsedTime(float* milliseconds, CUevent start, CUevent stop) {
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaEventElapsedTime, milliseconds, start, stop);
}

// --- Capture and graphs

KG_DRIVER cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return by_runtime(cudaStreamBeginCapture, stream, static_cast<cudaStreamCaptureMode>(mode));
}
KG_DRIVER cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return by_runtime(cudaStreamEndCapture, stream, graph);
}
KG_DRIVER cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  cudaStreamCaptureStatus now{};
  const CUresult error = by_runtime(cudaStreamIsCapturing, stream, &now);
  if (!error) *status = static_cast<CUstreamCaptureStatus>(now);
  return error;
}
KG_DRIVER cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return mode ? initialised() : CUDA_ERROR_INVALID_VALUE; // all modes are equally strict here
}
KG_DRIVER cuGraphCreate(CUgraph* graph, unsigned flags) {
  return by_runtime(cudaGraphCreate, graph, flags);
}
KG_DRIVER cuGraphDestroy(CUgraph graph) { return by_runtime(cudaGraphDestroy, graph); }
KG_DRIVER cuGraphClone(CUgraph* clone, CUgraph graph) {
  return by_runtime(cudaGraphClone, clone, graph);
}
KG_DRIVER cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaGraphGetNodes, graph, nodes, count);
}
KG_DRIVER cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return by_runtime(cudaGraphInstantiateWithFlags, exec, graph, flags);
}
KG_DRIVER cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                       CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  parameters->hErrNode_out = nullptr;
  const CUresult error = by_runtime(cudaGraphInstantiateWithFlags, exec, graph, parameters->flags);
  parameters->result_out = error ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return error;
}
KG_DRIVER cuGraphExecDestroy(CUgraphExec exec) { return by_runtime(cudaGraphExecDestroy, exec); }
KG_DRIVER cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return by_runtime(cudaGraphUpload, exec, stream);
}
KG_DRIVER cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return by_runtime(cudaGraphLaunch, exec, stream);
}
