// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a graph. The nodes run one after the other; for the checkers, only edges order them.
#pragma once

#include "cuda/source/graph.h"
#include "runtime/host/observer.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace kg::foreign {

struct GraphStep {
  cudaGraphNode_t node; // of the graph; used only as an address
  cudaGraphNodeType type;
  std::function<void()> run;
  std::vector<std::size_t> after; // indices of the earlier steps that it waits for
  std::uint32_t call_site;        // where the node was created (from the observer)
};

// Checker state of an executable graph, kept between launches: a launch waits for the previous one.
struct GraphOrder {
  std::deque<host::WorkStream> chains; // node chains, besides the one in the launch's own stream
  host::Moment launched;
};

// Runs the steps on a stream until the first fault. Lets Refusals from nodes propagate.
void run_steps(const std::vector<GraphStep>& steps, cudaStream_t stream, GraphOrder& order);

} // namespace kg::foreign
