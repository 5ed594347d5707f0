// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The device made ready to measure: canaries allocated and checked, clocks warmed up, the flush
// proved.
#pragma once

#include "perf/measure/canary.h"
#include "perf/measure/flush.h"
#include "perf/measure/injection.h"
#include "perf/measure/measure.h"

#include <map>
#include <memory>

namespace kg::perf {

// Tests measure with an Apparatus of their own in its place.
class Bench : public Apparatus {
 public:
  explicit Bench(Pace pace);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

 private:
  // The canary of that kind, made and checked when a row first asks for it. Throws Error when the
  // device does not compute what the canary must.
  Canary& canary(Kind kind);

  // One timing of a canary, after one execution that restores its own cache state; ns per launch.
  double canary_ns(Kind kind);

  // The device time of one launch of the graph.
  double graph_ns(Graph& graph);

  // The device time of an empty kernel in a graph, by the slope of two graphs.
  double empty_node_ns();

  // Empty, or why a row called cold would not be.
  std::string cold_problem();

  Event start_;
  Event stop_;
  std::map<Kind, Canary> canaries_;
  std::unique_ptr<Spin> spin_;   // made when the first slow-down is injected
  std::unique_ptr<Flush> flush_; // made when the first cold row asks for it
  Flush::Proof proof_;
};

} // namespace kg::perf
