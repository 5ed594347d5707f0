// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Capture of streams, graphs and their user objects.
#include "cuda/binary/driver/call.h"
#include "cuda/source/graph.h"
#include "cuda/source/state.h"

using namespace kg::emulate;

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
KG_DRIVER cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                 CUgraph* graph, const CUgraphNode** dependencies,
                                 const CUgraphEdgeData** edges, std::size_t* count) {
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  cudaStreamCaptureStatus now{};
  unsigned long long number = 0;
  const CUresult error =
      by_runtime(cudaStreamGetCaptureInfo, stream, &now, &number, graph, dependencies,
                 reinterpret_cast<const cudaGraphEdgeData**>(edges), count);
  if (error) return error;
  *status = static_cast<CUstreamCaptureStatus>(now);
  if (id && now == cudaStreamCaptureStatusActive) *id = number;
  return CUDA_SUCCESS;
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
KG_DRIVER cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  if (!info) return CUDA_ERROR_INVALID_VALUE;
  cudaGraphExecUpdateResultInfo result{};
  const CUresult error = by_runtime(
      static_cast<cudaError_t (*)(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo*)>(
          cudaGraphExecUpdate),
      exec, graph, &result);
  *info = {static_cast<CUgraphExecUpdateResult>(result.result), result.errorNode,
           result.errorFromNode};
  return error;
}

// --- User objects

KG_DRIVER cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy,
                             unsigned references, unsigned flags) {
  return by_runtime(cudaUserObjectCreate, object, pointer, destroy, references, flags);
}
KG_DRIVER cuUserObjectRetain(CUuserObject object, unsigned count) {
  return by_runtime(cudaUserObjectRetain, object, count);
}
KG_DRIVER cuUserObjectRelease(CUuserObject object, unsigned count) {
  return by_runtime(cudaUserObjectRelease, object, count);
}
KG_DRIVER cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                  unsigned flags) {
  return by_runtime(cudaGraphRetainUserObject, graph, object, count, flags);
}
KG_DRIVER cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return by_runtime(cudaGraphReleaseUserObject, graph, object, count);
}
