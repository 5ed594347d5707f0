// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and graphs, each owning one handle of the backend. On the host a stream runs its
// work at once, in order, so synchronising is free; while a graph is being captured it records
// instead.
#pragma once

#include <functional>

namespace kg {

// An in-order queue of work. Non-blocking: it does not synchronise with the default stream.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

  // Waits until everything enqueued so far is done. Throws Error if any of it failed.
  void synchronize();

  // cudaStream_t on cuda, the executor's queue on the host.
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

// A point in a stream's order, with a time stamp.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  void record(Stream& stream);
  void synchronize(); // waits until the stream has reached it

  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

// Nanoseconds from `start` to `stop`, both recorded and reached. CUDA events resolve about 0.5 us
// (CUDA Runtime API, cudaEventElapsedTime); on the host it is std::chrono::steady_clock.
double elapsed_ns(const Event& start, const Event& stop);

// A recorded sequence of launches, copies and fills, replayed with one call.
class Graph {
 public:
  // Records what `enqueue` puts on `stream`; nothing of it runs. Throws Error if it enqueues what
  // cannot be captured; the stream is usable again afterwards either way.
  static Graph capture(Stream& stream, const std::function<void(Stream&)>& enqueue);

  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;

  void launch(Stream& stream); // replays the whole sequence once
  int node_count() const { return node_count_; }

 private:
  Graph() = default;
  void* handle_ = nullptr; // cudaGraphExec_t, or the recorded list
  int node_count_ = 0;
};

} // namespace kg
