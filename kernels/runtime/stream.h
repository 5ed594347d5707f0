// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and graphs, each owning one handle of the backend. A stream on the host runs its
// work immediately and in order, so synchronizing is free. During graph capture it records instead.
#pragma once

#include <functional>

namespace kg {

// An in-order queue of work. Non-blocking: does not synchronize with the default stream.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

  // Waits until all work enqueued so far is done. Throws Error if any of it failed.
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
  void synchronize(); // waits until the stream has reached the event

  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

// Nanoseconds between two events that the stream has reached. CUDA events resolve about 0.5 us
// (CUDA Runtime API, cudaEventElapsedTime); the host uses std::chrono::steady_clock.
double elapsed_ns(const Event& start, const Event& stop);

// A recorded sequence of launches, copies and fills, replayed with one call.
class Graph {
 public:
  // Records the work that `enqueue` puts on `stream` without running it. Throws Error if part of it
  // cannot be captured. In either case the stream is usable afterwards.
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
