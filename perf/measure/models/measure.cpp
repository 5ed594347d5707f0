// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/measure.h"

#include "models/loss_scale.h"
#include "perf/code/timing_model/gpu.h"
#include "perf/measure/source_folder.h"
#include "runtime/backend.h"
#include "runtime/device.h"

#include <algorithm>
#include <map>

namespace kg::perf {
namespace {

using models::Phase;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The roof of this GPU; on a CPU, that of an H200.
Roof roof(const ModelTimes& times) {
  const std::string wanted = times.executor ? "nvidia-h200" : device_slug(times.device);
  const auto gpus = source_folder(KERNELGRADE_SOURCE_DIR) / "perf/code/timing_model/gpus.json";
  for (const model::Gpu& gpu : model::load_gpus(gpus)) {
    if (gpu.name != wanted) continue;
    // 16-bit GEMMs run on the Tensor Cores, whose peak is the reference of a utilization.
    const auto matrix = gpu.matrix_flops_per_s.find(times.dtype);
    const bool has_units = matrix != gpu.matrix_flops_per_s.end();
    Roof roof{gpu.name, gpu.copy_bytes_per_s,
              gpu.sms * (has_units ? matrix->second : gpu.f32_flops_per_s)};
    for (const StepTime& step : times.steps) {
      const double memory = 1e9 * step.bytes / roof.bytes_per_s;
      const double arithmetic = 1e9 * step.flops / roof.flops_per_s;
      (memory > arithmetic ? roof.memory_ns : roof.arithmetic_ns) += std::max(memory, arithmetic);
    }
    return roof;
  }
  return {};
}

} // namespace

ModelTimes measure(const models::Model& about, models::Execution& execution, Repeats repeats) {
  ModelTimes times{.name = about.name};
  times.device = device_properties().name;
  times.executor = backend == Backend::host || device_properties().emulated;
  times.dtype = std::string(name(execution.tape().parameters().front().value.dtype));
  times.item = about.item;
  times.items = about.items;
  times.decoded = about.decoded;
  times.cache_bytes = about.cache_bytes;
  times.warm_up = repeats.warm_up;
  times.runs = repeats.runs;
  times.free_bytes = static_cast<std::int64_t>(device_free_bytes());
  for (const models::Parameter& each : execution.tape().parameters())
    times.parameters += each.value.size();

  const bool trains = about.loss.exists();
  std::vector<Phase> phases = {Phase::forward};
  if (trains) phases.insert(phases.end(), {Phase::backward, Phase::update});
  phases.insert(phases.end(), static_cast<std::size_t>(about.decodes), Phase::decode);
  models::LossScale loss_scale(execution);
  std::map<Phase, std::vector<std::vector<double>>> samples; // per step
  const int timed_end = repeats.warm_up + repeats.runs;
  for (int run = 0; run < std::max(timed_end, repeats.training_steps); ++run) {
    for (const Phase phase : phases) {
      const std::vector<double> ns = execution.run_timed(phase);
      if (phase == Phase::update && !loss_scale.update()) ++times.skipped;
      samples[phase].resize(ns.size());
      if (run < repeats.warm_up || run >= timed_end) continue;
      for (std::size_t step = 0; step < ns.size(); ++step) samples[phase][step].push_back(ns[step]);
    }
    if (trains && run < repeats.training_steps)
      times.losses.push_back(execution.read(about.loss)[0]);
  }
  for (const auto& [phase, of_steps] : samples) {
    const std::vector<models::Step> steps = execution.steps(phase);
    for (std::size_t i = 0; i < steps.size(); ++i)
      times.steps.push_back({phase, steps[i].layer, steps[i].op, median(of_steps[i]),
                             steps[i].work.flops, steps[i].work.bytes});
  }
  times.roof = roof(times);
  execution.check_memory();
  times.memory = execution.memory();
  return times;
}

} // namespace kg::perf
