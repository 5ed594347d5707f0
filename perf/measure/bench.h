// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares the device for measuring: allocates and checks canaries, warms up the clocks, and proves
// that the flush works.
#pragma once

#include "perf/measure/canary.h"
#include "perf/measure/flush.h"
#include "perf/measure/injection.h"
#include "perf/measure/measure.h"

#include <map>
#include <memory>

namespace kg::perf {

// The Apparatus of a real device. Tests use their own.
class Bench : public Apparatus {
 public:
  explicit Bench(Pace pace);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

 private:
  // Creates and checks the canary of this kind at its first use. Throws Error if its result is
  // wrong.
  Canary& canary(Bound kind);

  // One timing of a canary in ns per launch, after one execution that restores its cache state.
  double canary_ns(Bound kind);

  // Device time of one launch of the graph, in ns.
  double graph_ns(Graph& graph);

  // Device time of an empty kernel in a graph, in ns (graph_slope.h).
  double empty_node_ns();

  // Why cold times would be wrong; empty if the flush works.
  std::string cold_problem();

  Event start_;
  Event stop_;
  std::map<Bound, Canary> canaries_;
  std::unique_ptr<Spin> spin_;   // created for the first injected slow-down
  std::unique_ptr<Flush> flush_; // created for the first cold row
  Flush::Proof proof_;
};

} // namespace kg::perf
