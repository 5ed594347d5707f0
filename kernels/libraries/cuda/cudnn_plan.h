// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph of cuDNN becomes a plan, which is executed on any memory. Making a plan asks the
// heuristics and compiles; a caller keeps it.
#pragma once

#include "libraries/cuda/cudnn_graph.h"
#include "libraries/proposals.h"
#include "runtime/stream.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace kg::vendor::cudnn {

// What stands for a tensor in one execution: device memory. cuDNN writes to outputs.
struct Binding {
  std::int64_t id;
  const void* data;
};

// A graph, ready to run on the device and the thread on which it was made.
class Plan {
 public:
  // Asks cuDNN's heuristics A and B, and the one that falls back. Throws NotSupported, with cuDNN's
  // words, where it has no engine for the graph; Error where the graph is wrong.
  Plan(std::shared_ptr<Graph> graph, Stream& stream);

  // Enqueues the graph: the first time by the first engine that cuDNN executes, from the second
  // time on by the fastest of the first few, which that call times. What is called once, as in
  // tests, then compiles one engine only. Throws NotSupported where there is none. Workspace is
  // that of libraries/cuda/scratch.h. No output may be an input.
  void execute(std::span<const Binding> bindings, Stream& stream);

 private:
  struct Engine {
    std::int64_t index;
    bool built = false; // when it is first wanted
  };

  std::shared_ptr<Graph> graph_;
  Proposals<Engine> engines_;
  bool executed_ = false;
};

// The plan of the last problem; nothing is kept of one that cuDNN refuses.
template <class Problem>
class KeptPlan {
 public:
  Plan& plan_of(const Problem& problem, std::shared_ptr<Graph> (*graph_of)(const Problem&),
                Stream& stream) {
    if (!kept_ || kept_->first != problem) {
      kept_.reset();
      kept_.emplace(problem, Plan(graph_of(problem), stream));
    }
    return kept_->second;
  }

 private:
  std::optional<std::pair<Problem, Plan>> kept_;
};

} // namespace kg::vendor::cudnn
