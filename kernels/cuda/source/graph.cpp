// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/graph.h"

#include "cuda/source/graph_nodes.h"

#include <algorithm>
#include <vector>

struct CUgraphExec_st {
  std::vector<kg::foreign::GraphStep> steps;
  kg::foreign::GraphOrder order{};
  std::vector<kg::foreign::UserReference> held{}; // those of the graph
};

namespace kg::foreign {
namespace {

Handles<CUgraphExec_st>& execs() {
  static auto& instance = *new Handles<CUgraphExec_st>;
  return instance;
}
CUgraph_st& graph_of(cudaGraph_t graph) { return graphs().get(graph, "graph"); }

bool holds(const CUgraph_st& graph, cudaGraphNode_t node) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const auto& held) { return held.get() == node; });
}

// cudaGraphLaunch returns the error of the node's call.
void demand_done(cudaError_t error) {
  if (error != cudaSuccess) throw Refusal(error, "a node of the graph failed");
}

cudaError_t add(const char* name, cudaGraphNode_t* node, cudaGraph_t graph,
                const cudaGraphNode_t* dependencies, std::size_t count, cudaGraphNodeType type,
                const std::function<std::function<void()>()>& make) {
  return call(name, [&] {
    CUgraph_st& target = graph_of(graph);
    demand(node != nullptr, cudaErrorInvalidValue, "the pointer to the node is null");
    auto added = std::make_unique<CUgraphNode_st>();
    for (std::size_t i = 0; i < count; ++i) {
      demand(holds(target, dependencies[i]), cudaErrorInvalidValue,
             "dependency " + std::to_string(i) + " is not a node of this graph");
      added->dependencies.push_back(dependencies[i]);
    }
    added->type = type;
    added->run = make();
    if (host::observer) added->call_site = host::observer->call_site();
    *node = added.get();
    target.nodes.push_back(std::move(added));
  });
}

// The nodes in insertion order, each as soon as its dependencies have run. The nodes of a child
// graph precede their child-graph node.
std::vector<GraphStep> steps_of(const CUgraph_st& graph) {
  std::vector<GraphStep> steps;
  std::vector<const CUgraphNode_st*> left;
  for (const auto& node : graph.nodes) left.push_back(node.get());
  std::map<const CUgraphNode_st*, std::size_t> done;
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(), [&](const CUgraphNode_st* node) {
      return std::all_of(node->dependencies.begin(), node->dependencies.end(),
                         [&](cudaGraphNode_t other) { return done.count(other) == 1; });
    });
    demand(next != left.end(), cudaErrorInvalidValue, "the dependencies form a circle");
    const CUgraphNode_st& node = **next;
    std::vector<std::size_t> after;
    for (const cudaGraphNode_t other : node.dependencies) after.push_back(done[other]);
    const std::size_t first = steps.size();
    for (GraphStep step : node.child) {
      for (std::size_t& other : step.after) other += first;
      if (step.after.empty()) step.after = after;
      steps.push_back(std::move(step));
    }
    for (std::size_t i = first; i < first + node.child.size(); ++i) after.push_back(i);
    done[*next] = steps.size();
    steps.push_back({const_cast<cudaGraphNode_t>(*next), node.type, node.run, std::move(after),
                     node.call_site});
    left.erase(next);
  }
  return steps;
}

std::function<void()> kernel_task(const cudaKernelNodeParams* parameters) {
  demand(parameters && parameters->func && parameters->kernelParams, cudaErrorInvalidValue,
         "a kernel node needs func and kernelParams");
  LaunchConfig config{.grid = parameters->gridDim, .block = parameters->blockDim};
  config.shared_bytes = parameters->sharedMemBytes;
  return [config, kernel = parameters->func.bound(parameters->kernelParams)] {
    demand_done(kernel(config));
  };
}

template <class T>
void set_rows(const cudaMemsetParams& p) {
  for (std::size_t row = 0; row < p.height; ++row) {
    auto* const elements = reinterpret_cast<T*>(static_cast<char*>(p.dst) + row * p.pitch);
    std::fill_n(elements, p.width, static_cast<T>(p.value));
    note_written(elements, p.width * sizeof(T));
  }
}

} // namespace

Handles<CUgraph_st>& graphs() {
  static auto& instance = *new Handles<CUgraph_st>;
  return instance;
}

} // namespace kg::foreign

using namespace kg::foreign;

// --- Graphs

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  return call("cudaGraphCreate", [&] {
    demand(graph != nullptr, cudaErrorInvalidValue, "the pointer to the graph is null");
    *graph = graphs().add(std::make_unique<CUgraph_st>());
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", [&] { graphs().remove(graph, "graph"); });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return call("cudaGraphClone", [&] {
    const CUgraph_st& from = graph_of(graph);
    auto copy = std::make_unique<CUgraph_st>();
    copy->held = from.held;
    std::map<cudaGraphNode_t, cudaGraphNode_t> twins;
    for (const auto& node : from.nodes) {
      copy->nodes.push_back(std::make_unique<CUgraphNode_st>(*node));
      twins[node.get()] = copy->nodes.back().get();
    }
    for (const auto& node : copy->nodes) {
      for (cudaGraphNode_t& dependency : node->dependencies) dependency = twins[dependency];
    }
    *clone = graphs().add(std::move(copy));
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return call("cudaGraphGetNodes", [&] {
    const CUgraph_st& from = graph_of(graph);
    if (nodes) {
      *count = std::min(*count, from.nodes.size());
      for (std::size_t i = 0; i < *count; ++i) nodes[i] = from.nodes[i].get();
    } else {
      *count = from.nodes.size();
    }
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call("cudaGraphNodeGetType", [&] {
    demand(node && type, cudaErrorInvalidValue, "a pointer is null");
    *type = node->type;
  });
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  return call("cudaGraphAddDependencies", [&] {
    const CUgraph_st& target = graph_of(graph);
    for (std::size_t i = 0; i < count; ++i) {
      demand(holds(target, from[i]) && holds(target, to[i]), cudaErrorInvalidValue,
             "edge " + std::to_string(i) + " does not join nodes of this graph");
      to[i]->dependencies.push_back(from[i]);
    }
  });
}

// --- Nodes

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return add("cudaGraphAddKernelNode", node, graph, dependencies, count, cudaGraphNodeTypeKernel,
             [=] { return kernel_task(parameters); });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add("cudaGraphAddMemcpyNode", node, graph, dependencies, count, cudaGraphNodeTypeMemcpy,
             [=]() -> std::function<void()> {
               return [p = *parameters] { demand_done(cudaMemcpy3DAsync(&p, nullptr)); };
             });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", node, graph, dependencies, count, cudaGraphNodeTypeMemcpy,
             [=]() -> std::function<void()> {
               return [=] { demand_done(cudaMemcpyAsync(to, from, bytes, kind, nullptr)); };
             });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  return add("cudaGraphAddMemsetNode", node, graph, dependencies, count, cudaGraphNodeTypeMemset,
             [=]() -> std::function<void()> {
               const cudaMemsetParams p = *parameters;
               const std::size_t row = p.width * p.elementSize;
               demand(p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4,
                      cudaErrorInvalidValue, "elements have 1, 2 or 4 bytes");
               demand(p.height <= 1 || p.pitch >= row, cudaErrorInvalidPitchValue,
                      "the rows are wider than the pitch");
               if (row != 0 && p.height != 0)
                 demand_on_device(p.dst, p.pitch * (p.height - 1) + row, "the target");
               return [p] {
                 if (p.elementSize == 1) set_rows<std::uint8_t>(p);
                 if (p.elementSize == 2) set_rows<std::uint16_t>(p);
                 if (p.elementSize == 4) set_rows<std::uint32_t>(p);
               };
             });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add("cudaGraphAddHostNode", node, graph, dependencies, count, cudaGraphNodeTypeHost,
             [=]() -> std::function<void()> {
               return [p = *parameters] {
                 p.fn(p.userData);
                 if (kg::host::observer) kg::host::observer->work_tells_host();
               };
             });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return add("cudaGraphAddEmptyNode", node, graph, dependencies, count, cudaGraphNodeTypeEmpty,
             []() -> std::function<void()> { return [] {}; });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  const cudaError_t error = add("cudaGraphAddChildGraphNode", node, graph, dependencies, count,
                                cudaGraphNodeTypeGraph, [=]() -> std::function<void()> {
                                  graph_of(child);
                                  return [] {};
                                });
  return error != cudaSuccess ? error : call("cudaGraphAddChildGraphNode", [&] {
    (*node)->child = steps_of(graph_of(child)); // a copy of the child's current nodes
  });
}

// --- Execution

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call("cudaGraphInstantiate", [&] {
    demand(exec != nullptr, cudaErrorInvalidValue, "the pointer to the executable graph is null");
    auto made = std::make_unique<CUgraphExec_st>();
    made->steps = steps_of(graph_of(graph));
    made->held = graph_of(graph).held;
    *exec = execs().add(std::move(made));
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                 std::size_t) {
  return cudaGraphInstantiate(exec, graph);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long) {
  return cudaGraphInstantiate(exec, graph);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call("cudaGraphExecDestroy", [&] { execs().remove(exec, "executable graph"); });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphUpload", [&] {
    execs().get(exec, "executable graph");
    stream_of(stream);
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", [&] {
    CUgraphExec_st& launched = execs().get(exec, "executable graph");
    run_steps(launched.steps, stream, launched.order); // after a kernel fault, later calls fail
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return call("cudaGraphExecKernelNodeSetParams", [&] {
    for (GraphStep& step : execs().get(exec, "executable graph").steps) {
      if (step.node != node) continue;
      step.run = kernel_task(parameters);
      return;
    }
    throw Refusal(cudaErrorInvalidValue, "this node is not of the graph that was instantiated");
  });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return call("cudaGraphExecUpdate", [&] {
    std::vector<GraphStep>& steps = execs().get(exec, "executable graph").steps;
    std::vector<GraphStep> updated = steps_of(graph_of(graph));
    const bool same = std::equal(steps.begin(), steps.end(), updated.begin(), updated.end(),
                                 [](const auto& a, const auto& b) { return a.type == b.type; });
    if (info)
      *info = {same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged, nullptr,
               nullptr};
    demand(same, cudaErrorGraphExecUpdateFailure, "the graph has other nodes now");
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].run = std::move(updated[i].run);
    execs().get(exec, "executable graph").held = graph_of(graph).held;
  });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphNode_t* error_node, cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateError, nullptr, nullptr};
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  if (error_node) *error_node = nullptr;
  *result = info.result;
  return error;
}
