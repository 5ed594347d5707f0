// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/models/measure.h"

#include "runtime/backend.h"
#include "runtime/device.h"

#include <algorithm>

namespace kg::perf {
namespace {

using models::Phase;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

} // namespace

ModelTimes measure(const models::Model& about, models::Execution& execution, int runs,
                   int training_steps) {
  ModelTimes times{.name = about.name};
  times.device = device_properties().name;
  times.executor = backend == Backend::host || device_properties().emulated;
  times.item = about.item;
  times.items = about.items;
  times.runs = runs;
  for (const models::Parameter& each : execution.tape().parameters())
    times.parameters += each.value.size();

  const bool trains = about.loss.exists();
  std::vector<Phase> phases = {Phase::forward};
  if (trains) phases.insert(phases.end(), {Phase::backward, Phase::update});
  std::vector<std::vector<double>> samples; // of each step
  for (int run = -1; run < std::max(runs, training_steps - 1); ++run) {
    std::size_t at = 0;
    for (const Phase phase : phases)
      for (const double ns : execution.run_timed(phase)) {
        if (at == samples.size()) samples.emplace_back();
        if (run >= 0 && run < runs) samples[at].push_back(ns);
        ++at;
      }
    if (trains && run + 1 < training_steps) times.losses.push_back(execution.read(about.loss)[0]);
  }
  for (const Phase phase : phases)
    for (const models::Step& step : execution.steps(phase)) {
      const double ns = median(samples[times.steps.size()]);
      times.steps.push_back({phase, step.layer, step.op, ns, step.work.flops, step.work.bytes});
    }
  execution.check_memory();
  times.memory = execution.memory();
  return times;
}

} // namespace kg::perf
