// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The C interface of libcudart for stream capture and graphs.
#include "cuda/source/graph.h"

#include "cuda/binary/export.h"
#include "cuda/binary/modules.h"
#include "cuda/source/ptx_kernel.h"
#include "cuda/source/state.h"

namespace {

using kg::foreign::KernelHandle;

// The kernel at this address, bound to a copy of its arguments.
KernelHandle::Bound bind(const void* address, void** arguments) {
  const kg::ptx_run::LoadedKernel* kernel = nullptr;
  try {
    kernel = &kg::emulate::kernel_at(address);
  } catch (const kg::Error& error) {
    throw kg::foreign::Refusal(cudaErrorInvalidDeviceFunction, error.what());
  }
  std::vector<std::vector<char>> values;
  for (std::size_t i = 0; i < kernel->parameters.size(); ++i) {
    const auto* const value = static_cast<const char*>(arguments[i]);
    values.emplace_back(value, value + kernel->parameters[i]);
  }
  return [kernel, values = std::move(values)](const kg::LaunchConfig& config) mutable {
    std::vector<void*> pointers;
    for (std::vector<char>& value : values) pointers.push_back(value.data());
    return kg::foreign::launch_loaded(*kernel, config, pointers.data(), nullptr);
  };
}

// CUDA's layout, in which a kernel is only an address.
struct KernelParameters {
  const void* kernel;
  dim3 grid;
  dim3 block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;

  cudaKernelNodeParams bound() const {
    return {{kernel, kernel ? &bind : nullptr}, grid, block, shared_bytes, arguments, extra};
  }
};

cudaError_t add_kernel(cudaGraphNode_t* node, cudaGraph_t graph,
                       const cudaGraphNode_t* dependencies, std::size_t count,
                       const KernelParameters* given) {
  const cudaKernelNodeParams bound = given ? given->bound() : cudaKernelNodeParams{};
  return cudaGraphAddKernelNode(node, graph, dependencies, count, &bound);
}
cudaError_t set_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const KernelParameters* given) {
  const cudaKernelNodeParams bound = given ? given->bound() : cudaKernelNodeParams{};
  return cudaGraphExecKernelNodeSetParams(exec, node, &bound);
}

// Edges between ports, as in programmatic dependent launches. An edge has eight bytes, all zero for
// a full dependency.
cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                             const cudaGraphNode_t* to, const std::uint64_t* edges,
                             std::size_t count) {
  for (std::size_t i = 0; edges && i < count; ++i)
    if (edges[i] != 0)
      return kg::foreign::note_refusal(cudaErrorNotSupported, "cudaGraphAddDependencies",
                                       "an edge of a graph is a full dependency here");
  return cudaGraphAddDependencies(graph, from, to, count);
}

} // namespace

KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamBeginCapture, _ptsz,
                     (cudaStream_t stream, cudaStreamCaptureMode mode),
                     cudaStreamBeginCapture(stream, mode))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamEndCapture, _ptsz,
                     (cudaStream_t stream, cudaGraph_t* graph), cudaStreamEndCapture(stream, graph))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamIsCapturing, _ptsz,
                     (cudaStream_t stream, cudaStreamCaptureStatus* status),
                     cudaStreamIsCapturing(stream, status))
KG_EXPORT_PER_THREAD(cudaError_t, cudaStreamGetCaptureInfo, _ptsz,
                     (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                      cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                      const cudaGraphEdgeData** edges, std::size_t* count),
                     cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, edges,
                                              count))
KG_EXPORT(cudaError_t, cudaGraphGetNodes,
          (cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count),
          cudaGraphGetNodes(graph, nodes, count))
KG_EXPORT(cudaError_t, cudaGraphNodeGetType, (cudaGraphNode_t node, cudaGraphNodeType* type),
          cudaGraphNodeGetType(node, type))
KG_EXPORT(cudaError_t, cudaGraphDestroy, (cudaGraph_t graph), cudaGraphDestroy(graph))
KG_EXPORT(cudaError_t, cudaGraphInstantiate,
          (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
          cudaGraphInstantiate(exec, graph, flags))
KG_EXPORT(cudaError_t, cudaGraphInstantiateWithFlags,
          (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
          cudaGraphInstantiateWithFlags(exec, graph, flags))
KG_EXPORT(cudaError_t, cudaGraphExecDestroy, (cudaGraphExec_t exec), cudaGraphExecDestroy(exec))
KG_EXPORT_PER_THREAD(cudaError_t, cudaGraphUpload, _ptsz,
                     (cudaGraphExec_t exec, cudaStream_t stream), cudaGraphUpload(exec, stream))
KG_EXPORT_PER_THREAD(cudaError_t, cudaGraphLaunch, _ptsz,
                     (cudaGraphExec_t exec, cudaStream_t stream), cudaGraphLaunch(exec, stream))
KG_EXPORT(cudaError_t, cudaGraphCreate, (cudaGraph_t * graph, unsigned flags),
          cudaGraphCreate(graph, flags))
KG_EXPORT(cudaError_t, cudaGraphClone, (cudaGraph_t * clone, cudaGraph_t graph),
          cudaGraphClone(clone, graph))
KG_EXPORT(cudaError_t, cudaGraphAddDependencies,
          (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
           const std::uint64_t* edges, std::size_t count),
          add_dependencies(graph, from, to, edges, count))
KG_EXPORT(cudaError_t, cudaGraphAddKernelNode,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           std::size_t count, const KernelParameters* parameters),
          add_kernel(node, graph, dependencies, count, parameters))
KG_EXPORT(cudaError_t, cudaGraphAddMemcpyNode,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           std::size_t count, const cudaMemcpy3DParms* parameters),
          cudaGraphAddMemcpyNode(node, graph, dependencies, count, parameters))
KG_EXPORT(cudaError_t, cudaGraphAddMemcpyNode1D,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           std::size_t count, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind),
          cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind))
KG_EXPORT(cudaError_t, cudaGraphAddMemsetNode,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           std::size_t count, const cudaMemsetParams* parameters),
          cudaGraphAddMemsetNode(node, graph, dependencies, count, parameters))
KG_EXPORT(cudaError_t, cudaGraphAddHostNode,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           std::size_t count, const cudaHostNodeParams* parameters),
          cudaGraphAddHostNode(node, graph, dependencies, count, parameters))
KG_EXPORT(cudaError_t, cudaGraphAddEmptyNode,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           std::size_t count),
          cudaGraphAddEmptyNode(node, graph, dependencies, count))
KG_EXPORT(cudaError_t, cudaGraphAddChildGraphNode,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
           std::size_t count, cudaGraph_t child),
          cudaGraphAddChildGraphNode(node, graph, dependencies, count, child))
KG_EXPORT(cudaError_t, cudaGraphExecKernelNodeSetParams,
          (cudaGraphExec_t exec, cudaGraphNode_t node, const KernelParameters* parameters),
          set_kernel(exec, node, parameters))
KG_EXPORT(cudaError_t, cudaGraphExecUpdate,
          (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info),
          cudaGraphExecUpdate(exec, graph, info))
KG_EXPORT(cudaError_t, cudaUserObjectCreate,
          (cudaUserObject_t * object, void* pointer, cudaHostFn_t destroy, unsigned references,
           unsigned flags),
          cudaUserObjectCreate(object, pointer, destroy, references, flags))
KG_EXPORT(cudaError_t, cudaUserObjectRetain, (cudaUserObject_t object, unsigned count),
          cudaUserObjectRetain(object, count))
KG_EXPORT(cudaError_t, cudaUserObjectRelease, (cudaUserObject_t object, unsigned count),
          cudaUserObjectRelease(object, count))
KG_EXPORT(cudaError_t, cudaGraphRetainUserObject,
          (cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags),
          cudaGraphRetainUserObject(graph, object, count, flags))
KG_EXPORT(cudaError_t, cudaGraphReleaseUserObject,
          (cudaGraph_t graph, cudaUserObject_t object, unsigned count),
          cudaGraphReleaseUserObject(graph, object, count))
