// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: the work of a stream becomes a graph instead of running.
#include "cuda/source/graph_nodes.h"
#include "runtime/host/queue.h"

#include <map>
#include <mutex>

namespace kg::foreign {
namespace {

// A graph exists from the beginning of its capture. It gets its nodes at the end, or earlier if the
// program asks for them.
struct Capture {
  cudaGraph_t graph = nullptr;
  unsigned long long id = 0;
  std::vector<cudaGraphNode_t> nodes{};        // so far
  std::vector<cudaGraphNode_t> dependencies{}; // the last ones that the program asked for
  std::vector<cudaGraphEdgeData> edges{};
};
struct Captures {
  std::mutex mutex;
  std::map<const host::Queue::Nodes*, Capture> active;
  unsigned long long count = 0;
};
Captures& captures() {
  static auto& instance = *new Captures;
  return instance;
}

void note_begin(const host::Queue::Nodes* nodes) {
  const cudaGraph_t graph = graphs().add(std::make_unique<CUgraph_st>());
  const std::lock_guard lock(captures().mutex);
  captures().active[nodes] = {.graph = graph, .id = ++captures().count};
}
Capture& capture_of(const host::Queue::Nodes* nodes) {
  const std::lock_guard lock(captures().mutex);
  return captures().active.at(nodes);
}
Capture note_end(const host::Queue::Nodes* nodes) {
  const std::lock_guard lock(captures().mutex);
  return captures().active.extract(nodes).mapped();
}

// Adds the nodes that were captured since the last call.
void add_nodes(Capture& capture, host::Queue::Nodes& captured) {
  CUgraph_st& graph = graphs().get(capture.graph, "graph");
  for (std::size_t i = capture.nodes.size(); i < captured.size(); ++i) {
    host::Queue::Node& from = captured[i];
    auto node = std::make_unique<CUgraphNode_st>();
    node->type = cudaGraphNodeTypeKernel; // or another type, which is not recorded
    node->run = [task = std::move(from.task)] { run_grid(task); };
    for (const std::size_t other : from.after) node->dependencies.push_back(capture.nodes[other]);
    node->call_site = from.call_site;
    capture.nodes.push_back(node.get());
    graph.nodes.push_back(std::move(node));
  }
}

// The streams that take part in a capture.
std::vector<cudaStream_t> capturing_streams(const std::shared_ptr<host::Queue::Nodes>& nodes) {
  std::vector<cudaStream_t> streams;
  for (cudaStream_t stream : all_streams()) {
    if (host::queue_of(stream->stream).capture() == nodes) streams.push_back(stream);
  }
  return streams;
}

} // namespace
} // namespace kg::foreign

using namespace kg::foreign;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return call("cudaStreamBeginCapture", [&] {
    demand(stream != nullptr && stream != cudaStreamLegacy, cudaErrorStreamCaptureUnsupported,
           "the default stream cannot be captured");
    kg::host::Queue& queue = kg::host::queue_of(stream_of(stream));
    demand(!queue.capturing(), cudaErrorIllegalState, "the stream is being captured already");
    queue.begin_capture();
    note_begin(queue.capture().get());
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture", [&] {
    const auto nodes = kg::host::queue_of(stream_of(stream)).capture();
    demand(nodes != nullptr, cudaErrorIllegalState, "the stream is not being captured");
    for (cudaStream_t joined : capturing_streams(nodes))
      kg::host::queue_of(joined->stream).end_capture();
    Capture ended = note_end(nodes.get());
    add_nodes(ended, *nodes);
    if (graph) *graph = ended.graph;
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", [&] {
    *status = kg::host::queue_of(stream_of(stream)).capturing() ? cudaStreamCaptureStatusActive
                                                                : cudaStreamCaptureStatusNone;
  });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  return call("cudaStreamGetCaptureInfo", [&] {
    demand(status != nullptr, cudaErrorInvalidValue, "the pointer to the status is null");
    kg::host::Queue& queue = kg::host::queue_of(stream_of(stream));
    *status = queue.capturing() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    if (!queue.capturing()) return;
    Capture& now = capture_of(queue.capture().get());
    if (id) *id = now.id;
    if (graph) *graph = now.graph;
    if (!dependencies && !edges && !count) return;
    add_nodes(now, *queue.capture());
    now.dependencies.clear();
    for (const std::size_t node : queue.last()) now.dependencies.push_back(now.nodes[node]);
    now.edges.assign(queue.last().size(), {});
    if (dependencies) *dependencies = now.dependencies.data();
    if (edges) *edges = now.edges.data();
    if (count) *count = now.dependencies.size();
  });
}
