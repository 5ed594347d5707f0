// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/measure.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace kg::perf {
namespace {

using models::Phase;
constexpr Phase kPhases[] = {Phase::forward, Phase::backward, Phase::update, Phase::decode};

struct Sum {
  std::string name;
  double ns[std::size(kPhases)] = {}; // by phase
  double flops = 0;
  int calls = 0;
  double of(Phase phase) const { return ns[static_cast<int>(phase)]; }
  double all_ns() const { return std::accumulate(std::begin(ns), std::end(ns), 0.0); }
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

// One column per phase that the model has.
std::string table(const char* what, const std::vector<Sum>& sums, const Sum& total) {
  std::string text = fmt::format("\n{:<26}", what);
  for (const Phase phase : kPhases)
    if (total.of(phase) > 0) text += fmt::format(" {:>12}", fmt::format("{} ms", name(phase)));
  text += fmt::format(" {:>7} {:>6} {:>10}\n", "share", "calls", "Gflop/s");
  for (const Sum& sum : sums) {
    text += fmt::format("{:<26}", sum.name);
    for (const Phase phase : kPhases)
      if (total.of(phase) > 0) text += fmt::format(" {:>12.3f}", sum.of(phase) / 1e6);
    text += fmt::format(" {:>6.1f}% {:>6} {:>10.3f}\n", 100 * sum.all_ns() / total.all_ns(),
                        sum.calls, sum.flops / sum.all_ns());
  }
  return text;
}

double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1024 * 1024); }

std::string memory(const models::MemoryUse& use) {
  return fmt::format("\nmemory: {:.2f} MiB predicted, {:.2f} MiB measured; {:.2f} MiB live at once "
                     "at most, {:.2f} MiB if nothing were shared\n",
                     mib(use.predicted), mib(use.measured), mib(use.most_live), mib(use.unshared));
}

Sum total(const ModelTimes& times) {
  std::vector<Sum> all = sums(times, [](const StepTime&) { return std::string("all"); });
  return all.empty() ? Sum{} : std::move(all.front());
}

double per_second(std::int64_t items, double ns) { return 1e9 * static_cast<double>(items) / ns; }

// One run of each phase. The first phases together are a training step; decode stands alone.
std::string phases(const ModelTimes& times) {
  std::string text;
  double through_ns = 0;
  for (const Phase phase : kPhases) {
    double ns = 0, flops = 0;
    for (const StepTime& step : times.steps)
      if (step.phase == phase) {
        ns += step.median_ns;
        flops += step.flops;
      }
    if (ns == 0) continue;
    const bool alone = phase == Phase::decode;
    through_ns += ns;
    text += fmt::format("{:<9} {:>12.3f} ms  {:>9.4f} Gflop  {:>9.3f} Gflop/s  {:>12.1f} {}/s",
                        models::name(phase), ns / 1e6, flops / 1e9, flops / ns,
                        alone ? per_second(times.decoded, ns) : per_second(times.items, through_ns),
                        times.item);
    text += alone || phase == Phase::forward ? "\n" : " with what is before it\n";
  }
  return text;
}

double flops(const ModelTimes& times) {
  return std::accumulate(times.steps.begin(), times.steps.end(), 0.0,
                         [](double sum, const StepTime& step) { return sum + step.flops; });
}

double utilisation(const ModelTimes& times) {
  return 1e9 * flops(times) / total(times).all_ns() / times.roof.flops_per_s;
}

std::string roofline(const ModelTimes& times) {
  const Roof& roof = times.roof;
  if (roof.gpu.empty())
    return "roofline: nothing is known of this GPU (perf/code/timing_model/gpus.json)\n";
  const double least = roof.memory_ns + roof.arithmetic_ns;
  std::string text = fmt::format(
      "roofline of {} ({:.0f} GB/s, {:.1f} Tflop/s): {:.4f} ms lower bound, of which memory binds "
      "{:.0f} % and arithmetic {:.0f} %\n",
      roof.gpu, roof.bytes_per_s / 1e9, roof.flops_per_s / 1e12, least / 1e6,
      100 * roof.memory_ns / least, 100 * roof.arithmetic_ns / least);
  if (!times.executor)
    text += fmt::format("model flops utilization {:.1f} %, {:.1f} % of the roofline\n",
                        100 * utilisation(times), 100 * least / total(times).all_ns());
  return text;
}

} // namespace

std::string text(const ModelTimes& times) {
  const Sum all = total(times);
  std::string text = fmt::format("model {}{}: {} parameters, {} {} a run, {}\ndevice {}\n",
                                 times.name, times.config, times.parameters, times.items,
                                 times.item, times.dtype, times.device);
  if (times.executor) text += "times are the emulator's on this CPU, and say nothing of a GPU\n";
  text += fmt::format("median of {} runs after {}\n", times.runs, times.warm_up) + phases(times) +
          roofline(times);
  text += memory(times.memory);
  text +=
      fmt::format("        {:.0f} MiB more were free: the device's memory is not oversubscribed\n",
                  mib(times.free_bytes));
  if (times.cache_bytes > 0)
    text += fmt::format("        {:.2f} MiB of it are keys and values in caches\n",
                        mib(times.cache_bytes));
  text += table("layer", sums(times, layer_of), all);
  std::vector<Sum> ops = sums(times, [](const StepTime& step) { return step.op; });
  std::stable_sort(ops.begin(), ops.end(),
                   [](const Sum& a, const Sum& b) { return a.all_ns() > b.all_ns(); });
  text += table("operation", ops, all);
  if (!times.losses.empty()) text += "\nloss of each training step:";
  for (const double loss : times.losses) text += fmt::format(" {:.6f}", loss);
  if (times.skipped > 0)
    text += fmt::format("\n{} updates skipped: a gradient was not finite at that scale of the loss",
                        times.skipped);
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
  const Sum all = total(times);
  const double decode_ns = all.of(Phase::decode);
  nlohmann::ordered_json object = {
      {"schema", 1},
      {"model", times.name},
      {"config", times.config},
      {"dtype", times.dtype},
      {"device", times.device},
      {"times_of", times.executor ? "executor" : "gpu"},
      {"parameters", times.parameters},
      {"item", times.item},
      {"items", times.items},
      {"warm_up", times.warm_up},
      {"runs", times.runs},
      {"free_bytes", times.free_bytes},
      {"items_per_s", per_second(times.items, all.all_ns() - decode_ns)},
      {"memory_bytes",
       {{"predicted", times.memory.predicted},
        {"measured", times.memory.measured},
        {"most_live", times.memory.most_live},
        {"unshared", times.memory.unshared},
        {"cache", times.cache_bytes}}},
      {"losses", times.losses},
      {"skipped_updates", times.skipped},
      {"steps", steps}};
  if (!times.roof.gpu.empty()) {
    object["roofline"] = {{"gpu", times.roof.gpu},
                          {"memory_bound_ns", times.roof.memory_ns},
                          {"compute_bound_ns", times.roof.arithmetic_ns}};
    if (!times.executor) object["model_flops_utilisation"] = utilisation(times);
  }
  if (times.decoded > 0) object["decoded_per_s"] = per_second(times.decoded, decode_ns);
  return object.dump(1) + "\n";
}

} // namespace kg::perf
