// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/measured.h"

#include "models/execution.h"
#include "models/initial_values.h"
#include "perf/judge/statistics.h"
#include "perf/measure/environment.h"
#include "perf/measure/models/chosen.h"
#include "runtime/atomic_file.h"
#include "runtime/backend.h"
#include "runtime/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace kg::perf {
namespace {

using models::Phase;

std::vector<Phase> phases_of(const Spec& spec) {
  if (spec.training) return {Phase::forward, Phase::backward, Phase::update};
  return {Phase::forward};
}

double nanoseconds(models::Execution& execution, const Spec& spec) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t step = 0; step < (spec.training ? spec.steps : 1); ++step)
    for (const Phase phase : phases_of(spec)) execution.run(phase);
  execution.stream().synchronize();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

// Times by operation of one step, times the number of steps in a run.
nlohmann::json traced(models::Execution& execution, const Spec& spec) {
  struct Part {
    double calls = 0, ns = 0;
  };
  std::map<std::string, Part> parts;
  double whole = 0;
  const auto repeats = static_cast<double>(spec.training ? spec.steps : 1);
  for (const Phase phase : phases_of(spec)) {
    const std::vector<double> ns = execution.run_timed(phase);
    const std::vector<models::Step> steps = execution.steps(phase);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Part& part = parts[steps[i].op];
      part.calls += repeats;
      part.ns += repeats * ns[i];
      whole += repeats * ns[i];
    }
  }
  std::vector<std::pair<std::string, Part>> longest(parts.begin(), parts.end());
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  nlohmann::json device = nlohmann::json::array();
  for (const auto& [op, part] : longest)
    device.push_back(
        {{"name", op}, {"kind", "kernel"}, {"per_run", part.calls}, {"total_ns", part.ns}});
  return {{"rows", {{{"wall_ns", whole}, {"device_ns", whole}, {"device", device}}}}};
}

bool finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float each) { return std::isfinite(each); });
}

} // namespace

void measure_model(const MeasureCall& call, const std::filesystem::path& configs) {
  constexpr std::uint64_t kSeed = 20260117;
  const std::vector<Spec> specs = chosen({call.case_id}, configs);
  require(specs.size() == 1, call.case_id + ": it chooses several models; give a whole id");
  const Spec& spec = specs.front();
  Stream stream;
  models::Model model = made(spec);
  judge::Measured row;
  row.op = row.category = "model";
  row.dtype = std::string(name(spec.dtype));
  row.key = {case_id(spec), call.variant, judge::Mode::real};
  const auto steps = static_cast<double>(spec.training ? spec.steps : 1);
  for (const models::Step& step : model.tape.steps()) {
    row.bytes += steps * step.work.bytes;
    row.flops += steps * step.work.flops;
  }
  models::Execution execution(std::move(model.tape), stream);
  models::initialise(execution, kSeed);
  model.fill_inputs(execution, kSeed);
  for (int run = 0; run < call.warm_up; ++run) nanoseconds(execution, spec);
  std::vector<double> samples;
  for (int run = 0; run < call.runs; ++run) samples.push_back(nanoseconds(execution, spec));
  if (!call.trace.empty()) write_file(call.trace, traced(execution, spec).dump() + "\n");
  // Checks that memory use equals the planned bytes exactly: the host lent nothing.
  execution.check_memory();
  row.peak_bytes = static_cast<double>(execution.memory().predicted);
  std::int64_t parameters = 0;
  for (const models::Parameter& each : execution.tape().parameters())
    parameters += each.value.size();
  row.tags["parameters"] = std::to_string(parameters);
  if (!finite(execution.read(model.output)) ||
      (model.loss.exists() && !finite(execution.read(model.loss))))
    row.verified = "an output or the loss is not a number";
  else
    judge::take_samples(row, std::move(samples));
  judge::save_results(call.json, {environment(call.source), {row}});
}

} // namespace kg::perf
