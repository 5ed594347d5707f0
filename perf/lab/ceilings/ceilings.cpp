// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/ceilings/ceilings.h"

#include "perf/judge/result.h"
#include "perf/judge/statistics.h"
#include "runtime/backend.h"

#include <algorithm>
#include <string_view>

namespace kg::perf {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Ceiling measured(const Probe& probe, Apparatus& apparatus) {
  // The data exceeds the L2 by far or is absent (cold equals hot), or it is meant to be in L2.
  constexpr Mode kMode = backend == Backend::cuda ? Mode::hot : Mode::real;
  const Measurement found = measure(probe.make, probe.kind, kMode, apparatus);
  Ceiling ceiling{probe.name};
  if (!found.problem.empty() || !found.skipped.empty() || found.samples_ns.empty()) {
    ceiling.problem = found.problem.empty() ? found.skipped : found.problem;
    return ceiling;
  }
  const judge::Interval interval =
      judge::median_interval(found.samples_ns, judge::kConfidence).interval;
  ceiling.value = probe.amount / (judge::median(found.samples_ns) * 1e-9);
  ceiling.low = probe.amount / (interval.high * 1e-9);
  ceiling.high = probe.amount / (interval.low * 1e-9);
  ceiling.settled = found.settled;
  return ceiling;
}

Ceiling empty_launch(Apparatus& apparatus) {
  constexpr int kSamples = 21; // odd, so the median is one of the samples
  std::vector<double> times;
  for (int i = 0; i < kSamples; ++i)
    times.push_back(apparatus.instruments.canary_ns(Bound::launch));
  const judge::Interval interval = judge::median_interval(times, judge::kConfidence).interval;
  return {"empty_launch_ns", judge::median(times), interval.low, interval.high};
}

} // namespace

std::vector<Ceiling> measure_ceilings(const std::vector<Probe>& probes, Apparatus& apparatus) {
  std::vector<Ceiling> ceilings;
  for (const Probe& probe : probes) ceilings.push_back(measured(probe, apparatus));
  ceilings.push_back(empty_launch(apparatus));
  if (backend == Backend::cuda) {
    const double node = apparatus.instruments.empty_node_ns();
    ceilings.push_back({"empty_node_ns", node, node, node});
  }
  return ceilings;
}

std::vector<Ceiling> measure_ceilings(Apparatus& apparatus) {
  std::vector<Probe> probes = stream_probes();
  for (const auto& more : {arithmetic_probes(), product_probes()})
    probes.insert(probes.end(), more.begin(), more.end());
  return measure_ceilings(probes, apparatus);
}

std::map<std::string, double> roofs_of(const std::vector<Ceiling>& ceilings) {
  std::map<std::string, double> roofs;
  const auto raise = [&](const std::string& roof, double value) {
    roofs[roof] = std::max(roofs[roof], value);
  };
  for (const Ceiling& ceiling : ceilings) {
    if (!ceiling.problem.empty()) continue;
    roofs[ceiling.name] = ceiling.value;
    if (ends_with(ceiling.name, "_bytes_per_s") && ceiling.name != "l2_read_bytes_per_s")
      raise("dram_bytes_per_s", ceiling.value);
    if (ends_with(ceiling.name, "_f32_flops_per_s")) raise("f32_flops_per_s", ceiling.value);
    if (ends_with(ceiling.name, "_tf32_flops_per_s"))
      raise("f32_matrix_flops_per_s", ceiling.value);
    for (const char* dtype : {"f16", "bf16"})
      if (ends_with(ceiling.name, "_" + std::string(dtype) + "_flops_per_s"))
        raise(std::string(dtype) + "_matrix_flops_per_s", ceiling.value);
  }
  return roofs;
}

} // namespace kg::perf
