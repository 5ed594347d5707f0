// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device time per execution, from the difference of two captured graphs, one four times as long as
// the other. The costs of launching a graph and recording events are in both, and cancel.
#pragma once

#include "runtime/error.h"
#include "runtime/stream.h"

#include <functional>

namespace kg::perf {

// Nanoseconds per execution. The longer graph has `more` (> 0) additional executions.
double slope_ns(double shorter_ns, double longer_ns, int more);

// A capture failed or is empty. The message holds the reason.
class NotCapturable : public Error {
 public:
  using Error::Error;
};

class GraphSlope {
 public:
  // Nanoseconds of one launch of the graph. May include an overhead that is equal for all graphs.
  using Timer = std::function<double(Graph&)>;

  // Runs `run` once, then captures it. Lengthens the graphs until their times differ by 50 us,
  // since events have a resolution of about 0.5 us (CUDA Runtime API, cudaEventElapsedTime). Throws
  // NotCapturable.
  GraphSlope(std::function<void(Stream&)> run, Stream& stream, Timer timed);

  // The additional executions in the longer graph.
  int more() const { return (kLonger - 1) * executions_; }

  // Nanoseconds per execution. Noise may make it negative for a very short execution.
  double sample();

  // Enqueues the shorter graph, so that its result can be verified.
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
