// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph_slope.h"

#include <exception>
#include <string>
#include <utility>

namespace kg::perf {
namespace {

constexpr double kLeastDifferenceNs = 50e3; // of two times, each with a resolution of 0.5 us
constexpr int kMostExecutions = 256;        // in the shorter graph

// A library's allocations and compilations at its first call cannot be captured.
Stream& primed(const std::function<void(Stream&)>& run, Stream& stream) {
  run(stream);
  stream.synchronize();
  return stream;
}

} // namespace

double slope_ns(double shorter_ns, double longer_ns, int more) {
  return (longer_ns - shorter_ns) / more;
}

GraphSlope::GraphSlope(std::function<void(Stream&)> run, Stream& stream, Timer timed)
    : run_(std::move(run)), stream_(primed(run_, stream)), timed_(std::move(timed)),
      shorter_(capture(1)), longer_(capture(kLonger)) {
  for (;;) {
    // The first launch of a graph uploads it.
    timed_(shorter_);
    timed_(longer_);
    if (executions_ == kMostExecutions || sample() * more() >= kLeastDifferenceNs) return;
    executions_ *= kLonger;
    shorter_ = std::move(longer_);
    longer_ = capture(kLonger * executions_);
  }
}

double GraphSlope::sample() {
  const double shorter_ns = timed_(shorter_);
  return slope_ns(shorter_ns, timed_(longer_), more());
}

Graph GraphSlope::capture(int executions) {
  std::string why = "it enqueues nothing on the stream that it is given";
  try {
    Graph graph = Graph::capture(stream_, [&](Stream& captured) {
      for (int i = 0; i < executions; ++i) run_(captured);
    });
    if (graph.node_count() > 0) return graph;
  } catch (const std::exception& error) {
    why = error.what();
  }
  throw NotCapturable("it cannot be captured into a graph: " + why);
}

} // namespace kg::perf
