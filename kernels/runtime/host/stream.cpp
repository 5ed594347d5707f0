// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream.h"

#include "runtime/error.h"
#include "runtime/host/queue.h"

#include <chrono>
#include <utility>

namespace kg {
namespace {

using Clock = std::chrono::steady_clock;

struct HostEvent {
  Clock::time_point time;
  bool recorded = false;
};

using Nodes = host::Queue::Nodes;

HostEvent& event_of(const Event& event) {
  require(event.handle() != nullptr, "this Event was moved from; use its new owner");
  return *static_cast<HostEvent*>(event.handle());
}

} // namespace

Stream::Stream() : handle_(new host::Queue) {}
Stream::~Stream() { delete static_cast<host::Queue*>(handle_); }
Stream::Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

void Stream::synchronize() {
  require(!host::queue_of(*this).capturing(),
          "Stream::synchronize while a graph is captured on it; synchronize after the capture");
}

Event::Event() : handle_(new HostEvent) {}
Event::~Event() { delete static_cast<HostEvent*>(handle_); }
Event::Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

// During capture the event marks a point of the graph, without a time (like cudaEventRecord).
void Event::record(Stream& stream) {
  HostEvent& event = event_of(*this);
  event.recorded = !host::queue_of(stream).capturing();
  event.time = Clock::now();
}

void Event::synchronize() { (void)event_of(*this); }

double elapsed_ns(const Event& start, const Event& stop) {
  require(event_of(start).recorded && event_of(stop).recorded,
          "elapsed_ns: both events must have been recorded, outside a capture");
  return std::chrono::duration<double, std::nano>(event_of(stop).time - event_of(start).time)
      .count();
}

Graph Graph::capture(Stream& stream, const std::function<void(Stream&)>& enqueue) {
  host::Queue& queue = host::queue_of(stream);
  require(!queue.capturing(), "Graph::capture: a graph is already being captured on this stream");
  queue.begin_capture();
  try {
    enqueue(stream);
  } catch (...) {
    queue.end_capture();
    throw;
  }
  Graph graph;
  auto nodes = std::make_unique<Nodes>(std::move(*queue.end_capture()));
  graph.node_count_ = static_cast<int>(nodes->size());
  graph.handle_ = nodes.release();
  return graph;
}

Graph::~Graph() { delete static_cast<Nodes*>(handle_); }
Graph::Graph(Graph&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      node_count_(std::exchange(other.node_count_, 0)) {}
Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(node_count_, other.node_count_);
  return *this;
}

void Graph::launch(Stream& stream) {
  require(handle_ != nullptr, "Graph::launch: this graph was moved from; use its new owner");
  host::Queue& queue = host::queue_of(stream);
  for (const host::Queue::Node& node : *static_cast<Nodes*>(handle_)) queue.run(node.task);
}

} // namespace kg
