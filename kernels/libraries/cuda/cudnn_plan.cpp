// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn_plan.h"

#include "libraries/cuda/cudnn.h"
#include "libraries/cuda/scratch.h"
#include "libraries/cuda/time_of.h"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace kg::vendor::cudnn {
namespace {

// Like check_support. The codes below mean that cuDNN lacks something, all others a wrong call.
void check(frontend::error_t status, const char* what) {
  using Code = frontend::error_code_t;
  if (status.is_good()) return;
  const std::string text = std::string("cuDNN, ") + what + ": " + status.get_message();
  const Code code = status.get_code();
  if (code == Code::GRAPH_NOT_SUPPORTED || code == Code::HEURISTIC_QUERY_FAILED ||
      code == Code::GRAPH_EXECUTION_PLAN_CREATION_FAILED)
    throw NotSupported(text);
  fail(text);
}

// Ranks the engines that the heuristics propose, best first, and returns their number.
std::int64_t rank_engines(Graph& graph, Stream& stream) {
  check(graph.validate(), "the graph");
  check(graph.build_operation_graph(handle_on(stream)), "the graph of operations");
  check(graph.create_execution_plans(
            {frontend::HeurMode_t::A, frontend::HeurMode_t::B, frontend::HeurMode_t::FALLBACK}),
        "the heuristics");
  return graph.get_execution_plan_count();
}

} // namespace

Plan::Plan(std::shared_ptr<Graph> graph, Stream& stream)
    : graph_(std::move(graph)), engines_({}, "") {
  std::vector<Engine> engines;
  for (std::int64_t i = 0, count = rank_engines(*graph_, stream); i < count; ++i)
    engines.push_back({i});
  engines_ = Proposals<Engine>(std::move(engines), "cuDNN proposes no engine for it");
}

void Plan::execute(std::span<const Binding> bindings, Stream& stream) {
  std::unordered_map<std::int64_t, void*> data;
  for (const Binding& each : bindings)
    data[each.id] = const_cast<void*>(each.data); // the interface has no const pointers
  const auto call = [&](Engine& engine) {
    if (!engine.built) check(graph_->build_plan_at_index(engine.index), "a plan");
    engine.built = true;
    std::int64_t bytes = 0;
    check(graph_->get_workspace_size_plan_at_index(engine.index, bytes), "the workspace");
    check(graph_->execute_plan_at_index(handle_on(stream), data,
                                        scratch(static_cast<std::size_t>(bytes), stream),
                                        engine.index),
          "executing a plan");
  };
  if (executed_)
    engines_.run_fastest(call, TimeOn(stream));
  else
    engines_.run(call);
  executed_ = true;
}

} // namespace kg::vendor::cudnn
