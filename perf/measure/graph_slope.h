// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device time per execution from two captured graphs, one four times as long as the other: what
// launching a graph and recording events cost is in both, and cancels.
#pragma once

#include "runtime/error.h"
#include "runtime/stream.h"

#include <functional>

namespace kg::perf {

// Nanoseconds per execution, where one graph has `more` (> 0) executions more than the other.
double slope_ns(double shorter_ns, double longer_ns, int more);

// A capture failed or holds nothing; the message has the words of what failed.
class NotCapturable : public Error {
 public:
  using Error::Error;
};

class GraphSlope {
 public:
  // Nanoseconds of one launch of the graph, with whatever is the same for all graphs.
  using Timer = std::function<double(Graph&)>;

  // Runs `run` once, then captures it. Graphs become longer until their times differ by 50 us: an
  // event resolves about 0.5 us (CUDA Runtime API, cudaEventElapsedTime). Throws NotCapturable.
  GraphSlope(std::function<void(Stream&)> run, Stream& stream, Timer timed);

  // Executions that the two graphs differ by.
  int more() const { return (kLonger - 1) * executions_; }

  // Nanoseconds per execution. Noise may make it negative where an execution takes next to nothing.
  double sample();

  // Enqueues the shorter graph, for its result.
  void replay() { shorter_.launch(stream_); }

 private:
  static constexpr int kLonger = 4;

  Graph capture(int executions);

  std::function<void(Stream&)> run_;
  Stream& stream_;
  Timer timed_;
  int executions_ = 1; // in the shorter graph
  Graph shorter_;
  Graph longer_;
};

} // namespace kg::perf
