// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/models/measure.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

namespace kg::perf {
namespace {

using models::Phase;
constexpr Phase kPhases[] = {Phase::forward, Phase::backward, Phase::update};

struct Sum {
  std::string name;
  double ns[3] = {0, 0, 0}; // by phase
  double flops = 0;
  int calls = 0;
  double all_ns() const { return ns[0] + ns[1] + ns[2]; }
};

// In the order of their first steps.
std::vector<Sum> sums(const ModelTimes& times,
                      const std::function<std::string(const StepTime&)>& name) {
  std::vector<Sum> sums;
  for (const StepTime& step : times.steps) {
    auto found = std::find_if(sums.begin(), sums.end(),
                              [&](const Sum& each) { return each.name == name(step); });
    if (found == sums.end()) found = sums.insert(sums.end(), Sum{.name = name(step)});
    found->ns[static_cast<int>(step.phase)] += step.median_ns;
    found->flops += step.flops;
    ++found->calls;
  }
  return sums;
}

std::string layer_of(const StepTime& step) { return step.layer.empty() ? "(model)" : step.layer; }

std::string table(const char* what, std::vector<Sum> sums, double total_ns) {
  std::string text =
      fmt::format("\n{:<26} {:>12} {:>12} {:>12} {:>7} {:>6} {:>10}\n", what, "forward ms",
                  "backward ms", "update ms", "share", "calls", "Gflop/s");
  for (const Sum& sum : sums)
    text += fmt::format("{:<26} {:>12.3f} {:>12.3f} {:>12.3f} {:>6.1f}% {:>6} {:>10.3f}\n",
                        sum.name, sum.ns[0] / 1e6, sum.ns[1] / 1e6, sum.ns[2] / 1e6,
                        100 * sum.all_ns() / total_ns, sum.calls, sum.flops / sum.all_ns());
  return text;
}

double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1024 * 1024); }

std::string memory(const models::MemoryUse& use) {
  return fmt::format("\nmemory: {:.2f} MiB predicted, {:.2f} MiB measured; {:.2f} MiB live at once "
                     "at the most, {:.2f} MiB if nothing were shared\n",
                     mib(use.predicted), mib(use.measured), mib(use.most_live), mib(use.unshared));
}

double total_ns(const ModelTimes& times) {
  double ns = 0;
  for (const StepTime& step : times.steps) ns += step.median_ns;
  return ns;
}

double rate(const ModelTimes& times, double ns) {
  return 1e9 * static_cast<double>(times.items) / ns;
}

} // namespace

std::string text(const ModelTimes& times) {
  const double all_ns = total_ns(times);
  std::string text =
      fmt::format("model {}{}: {} parameters, {} {} a run, f32\ndevice {}\n", times.name,
                  times.config, times.parameters, times.items, times.item, times.device);
  if (times.executor)
    text += "times are those of the executor on this CPU, and say nothing of a GPU\n";
  text += fmt::format("median of {} runs\n", times.runs);
  double through_ns = 0;
  for (const Phase phase : kPhases) {
    double ns = 0, flops = 0;
    for (const StepTime& step : times.steps)
      if (step.phase == phase) {
        ns += step.median_ns;
        flops += step.flops;
      }
    if (ns == 0) continue;
    through_ns += ns;
    text += fmt::format("{:<9} {:>12.3f} ms  {:>9.4f} Gflop  {:>9.3f} Gflop/s  {:>12.1f} {}/s",
                        models::name(phase), ns / 1e6, flops / 1e9, flops / ns,
                        rate(times, through_ns), times.item);
    text += phase == Phase::forward ? "\n" : " with what is before it\n";
  }
  text += memory(times.memory);
  text += table("layer", sums(times, layer_of), all_ns);
  std::vector<Sum> ops = sums(times, [](const StepTime& step) { return step.op; });
  std::stable_sort(ops.begin(), ops.end(),
                   [](const Sum& a, const Sum& b) { return a.all_ns() > b.all_ns(); });
  text += table("operation", std::move(ops), all_ns);
  if (!times.losses.empty()) text += "\nloss of each training step:";
  for (const double loss : times.losses) text += fmt::format(" {:.6f}", loss);
  return text + (times.losses.empty() ? "" : "\n");
}

std::string json(const ModelTimes& times) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const StepTime& step : times.steps)
    steps.push_back({{"phase", models::name(step.phase)},
                     {"layer", step.layer},
                     {"op", step.op},
                     {"median_ns", step.median_ns},
                     {"flops", step.flops},
                     {"bytes", step.bytes}});
  const nlohmann::ordered_json all = {{"schema", 1},
                                      {"model", times.name},
                                      {"config", times.config},
                                      {"device", times.device},
                                      {"times_of", times.executor ? "executor" : "gpu"},
                                      {"parameters", times.parameters},
                                      {"item", times.item},
                                      {"items", times.items},
                                      {"runs", times.runs},
                                      {"items_per_s", rate(times, total_ns(times))},
                                      {"memory_bytes",
                                       {{"predicted", times.memory.predicted},
                                        {"measured", times.memory.measured},
                                        {"most_live", times.memory.most_live},
                                        {"unshared", times.memory.unshared}}},
                                      {"losses", times.losses},
                                      {"steps", steps}};
  return all.dump(1) + "\n";
}

} // namespace kg::perf
