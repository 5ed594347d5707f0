// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The run of a graph: its nodes one after the other, which for the checkers only edges order.
#pragma once

#include "cuda/source/graph.h"
#include "runtime/host/observer.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace kg::foreign {

struct GraphStep {
  cudaGraphNode_t node; // of the graph; only its address is of use
  cudaGraphNodeType type;
  std::function<void()> run;
  std::vector<std::size_t> after; // earlier steps that it waits for, by number
  std::uint32_t call_site;        // where the node was made, by the observer
};

// What the checkers keep from one launch of an executable graph to the next, which waits for it.
struct GraphOrder {
  std::deque<host::WorkStream> chains; // of nodes, beside the one in the launch's own stream
  host::Moment launched;
};

// Runs the steps on a stream up to the first fault. Refusals of nodes go through.
void run_steps(const std::vector<GraphStep>& steps, cudaStream_t stream, GraphOrder& order);

} // namespace kg::foreign
