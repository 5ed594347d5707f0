// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/bench.h"

#include "perf/measure/graph_slope.h"
#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <utility>
#include <vector>

namespace kg::perf {
namespace {

// Long enough for a GPU to leave its idle clocks, and for a host's cores to reach full clock.
double ready_ns(Pace pace) {
  if (pace == Pace::brief) return backend == Backend::cuda ? 100e6 : 10e6;
  return backend == Backend::cuda ? 200e6 : 50e6;
}

std::string device_problem() {
  try {
    synchronize_device();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

} // namespace

Bench::Bench(Pace pace) {
  protocol = backend == Backend::cuda ? gpu_protocol() : host_protocol();
  if (pace == Pace::brief) protocol = brief(protocol);
  instruments.now = steady_clock();
  instruments.canary_ns = [this](Bound kind) { return canary_ns(kind); };
  instruments.flush = [this](Stream& queue) { flush_->run(queue); };
  instruments.cold_problem = [this] { return cold_problem(); };
  instruments.graph_ns = [this](Graph& graph) { return graph_ns(graph); };
  instruments.empty_node_ns = [this] { return empty_node_ns(); };
  instruments.spin = [this](double ns, Stream& queue) {
    if (!spin_) spin_ = std::make_unique<Spin>(queue);
    spin_->run(ns, queue);
  };
  instruments.device_bytes = device_properties().global_bytes;
  instruments.device_problem = [] { return device_problem(); };
  const double start = instruments.now();
  while (instruments.now() - start < ready_ns(pace)) canary_ns(Bound::compute);
}

Canary& Bench::canary(Bound kind) {
  const auto [at, is_new] = canaries_.try_emplace(kind, kind, stream);
  if (is_new) {
    at->second.run(stream);
    at->second.check(stream);
  }
  return at->second;
}

double Bench::canary_ns(Bound kind) {
  Canary& canary = this->canary(kind);
  canary.run(stream);
  double elapsed = 0;
  if constexpr (backend == Backend::cuda) {
    start_.record(stream);
    canary.run(stream);
    stop_.record(stream);
    stop_.synchronize();
    elapsed = elapsed_ns(start_, stop_);
  } else {
    stream.synchronize();
    const double start = instruments.now();
    canary.run(stream);
    stream.synchronize();
    elapsed = instruments.now() - start;
  }
  return elapsed / canary.launches();
}

// The delay keeps the GPU busy until the whole graph is queued. So the caller's cost of launching a
// longer graph is not part of the device time.
double Bench::graph_ns(Graph& graph) {
  constexpr double kLaunchNs = 20e3, kNodeNs = 200; // upper bounds of the caller's cost
  delay(kLaunchNs + kNodeNs * graph.node_count(), stream);
  start_.record(stream);
  graph.launch(stream);
  stop_.record(stream);
  stop_.synchronize();
  return elapsed_ns(start_, stop_);
}

double Bench::empty_node_ns() {
  constexpr int kSamples = 9; // odd, so that the median is an observed value
  Canary& empty = canary(Bound::launch);
  GraphSlope graph([&](Stream& queue) { empty.run(queue); }, stream, instruments.graph_ns);
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) samples.push_back(graph.sample());
  return judge::median(samples) / empty.launches();
}

std::string Bench::cold_problem() {
  if (!flush_) {
    flush_ = std::make_unique<Flush>(device_properties().l2_bytes, stream);
    proof_ = flush_->prove(stream);
  }
  if (proof_.ratio() >= kFlushProved) return "";
  return fmt::format("the L2 flush is not proved: the probe takes {:.0f} ns after a flush and "
                     "{:.0f} ns primed, a ratio of {:.2f} where {} is asked for; another process "
                     "may be using the GPU, otherwise time this row hot",
                     proof_.cold_ns, proof_.hot_ns, proof_.ratio(), kFlushProved);
}

} // namespace kg::perf
