// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a graph, from calls (graph.cpp) or from a captured stream (capture.cpp), and the
// user objects that it holds (user_objects.cpp).
#pragma once

#include "cuda/source/graph_run.h"
#include "cuda/source/handles.h"

#include <functional>
#include <memory>
#include <vector>

namespace kg::foreign {

// A graph's reference to a user object, given back when the last graph that shares it is gone: a
// graph, its clones and its executable graphs.
using UserReference = std::shared_ptr<const cudaUserObject_t>;

} // namespace kg::foreign

struct CUgraphNode_st {
  cudaGraphNodeType type;
  std::function<void()> run;
  std::vector<cudaGraphNode_t> dependencies;
  std::uint32_t call_site = 0;
  std::vector<kg::foreign::GraphStep> child{}; // the nodes of a child graph
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::vector<kg::foreign::UserReference> held{};
};

namespace kg::foreign {

Handles<CUgraph_st>& graphs();

} // namespace kg::foreign
