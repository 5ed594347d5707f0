// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/native.h"
#include "runtime/cuda/status.h"
#include "runtime/error.h"
#include "runtime/stream.h"

#include <utility>

namespace kg {
namespace {

// The graph as captured; destroyed at the end of Graph::capture, only its executable copy remains.
struct CapturedGraph {
  cudaGraph_t graph = nullptr;

  CapturedGraph() = default;
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() {
    if (graph) cuda::check_release(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
};

void destroy_executable(void* handle) {
  if (!handle) return;
  cuda::check_release(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(handle)),
                      "cudaGraphExecDestroy");
}

// Ends a capture whose work threw. The capture is usually invalid (an API call that cannot be
// captured invalidates it); this error must not hide the exception in flight.
void abandon_capture(cudaStream_t stream) {
  CapturedGraph partial;
  if (cudaStreamEndCapture(stream, &partial.graph) != cudaSuccess) cudaGetLastError();
}

} // namespace

// Thread-local mode forbids unsafe calls (allocation, synchronization) to this thread only, so that
// other threads can continue to work.
Graph Graph::capture(Stream& stream, const std::function<void(Stream&)>& enqueue) {
  const cudaStream_t native = cuda::native(stream);
  KG_CHECK(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal));
  try {
    enqueue(stream);
  } catch (...) {
    abandon_capture(native);
    throw;
  }
  CapturedGraph captured;
  KG_CHECK(cudaStreamEndCapture(native, &captured.graph));

  std::size_t nodes = 0;
  KG_CHECK(cudaGraphGetNodes(captured.graph, nullptr, &nodes));
  cudaGraphExec_t executable = nullptr;
  KG_CHECK(cudaGraphInstantiate(&executable, captured.graph, 0));

  Graph graph;
  graph.handle_ = executable;
  graph.node_count_ = static_cast<int>(nodes);
  return graph;
}

Graph::~Graph() { destroy_executable(handle_); }

Graph::Graph(Graph&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      node_count_(std::exchange(other.node_count_, 0)) {}

Graph& Graph::operator=(Graph&& other) noexcept {
  if (this != &other) {
    destroy_executable(handle_);
    handle_ = std::exchange(other.handle_, nullptr);
    node_count_ = std::exchange(other.node_count_, 0);
  }
  return *this;
}

void Graph::launch(Stream& stream) {
  require(handle_ != nullptr, "Graph::launch: this graph was moved from; use its new owner");
  KG_CHECK(cudaGraphLaunch(static_cast<cudaGraphExec_t>(handle_), cuda::native(stream)));
}

} // namespace kg
