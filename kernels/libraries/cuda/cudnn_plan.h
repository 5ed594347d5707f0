// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a plan from a cuDNN graph; a plan can be executed on any memory. Building a plan queries
// the heuristics and compiles code, so callers cache it.
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

// The device memory of a tensor in one execution. cuDNN writes to outputs.
struct Binding {
  std::int64_t id;
  const void* data;
};

// A graph that is ready to run, on the device and thread on which the plan was made.
class Plan {
 public:
  // Queries cuDNN's heuristics A, B and FALLBACK. Throws NotSupported, with cuDNN's message, if
  // cuDNN has no engine for the graph; Error if the graph is wrong.
  Plan(std::shared_ptr<Graph> graph, Stream& stream);

  // Enqueues the graph. The first call uses the first engine that cuDNN executes. The second call
  // times the first few; from then on, the fastest is used. A single call, as in tests, thus
  // compiles only one engine. Throws NotSupported if no engine works. The workspace is that of
  // libraries/cuda/scratch.h. No output may be an input.
  void execute(std::span<const Binding> bindings, Stream& stream);

 private:
  struct Engine {
    std::int64_t index;
    bool built = false; // on first use
  };

  std::shared_ptr<Graph> graph_;
  Proposals<Engine> engines_;
  bool executed_ = false;
};

// Caches the plan of the last problem. After a problem that cuDNN refuses, the cache is empty.
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
