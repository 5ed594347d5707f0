// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Invented time, so that measuring is tested without waiting and without luck.
#pragma once

#include "perf/measure/measure.h"

#include <functional>
#include <memory>

namespace kg::perf::test {

class FakeTime {
 public:
  Clock clock() {
    return [now = now_] { return *now; };
  }
  void pass(double ns) { *now_ += ns; }
  double now() const { return *now_; }

 private:
  std::shared_ptr<double> now_ = std::make_shared<double>(0);
};

// An apparatus whose canaries take 1 ms each of that time.
inline std::unique_ptr<Apparatus> fake_apparatus(FakeTime& time, double canary_ns = 1e6) {
  auto apparatus = std::make_unique<Apparatus>();
  apparatus->protocol = host_protocol();
  apparatus->instruments.now = time.clock();
  apparatus->instruments.canary_ns = [&time, canary_ns](Bound) {
    time.pass(canary_ns);
    return canary_ns;
  };
  apparatus->instruments.flush = [](Stream&) {};
  // A graph costs 20 us and each of its nodes 2 us, an empty one 1 us.
  apparatus->instruments.graph_ns = [&time, stream = &apparatus->stream](Graph& graph) {
    graph.launch(*stream);
    const double ns = 20e3 + 2e3 * graph.node_count();
    time.pass(ns);
    return ns;
  };
  apparatus->instruments.empty_node_ns = [] { return 1e3; };
  apparatus->instruments.spin = [&time](double ns, Stream&) { time.pass(ns); };
  apparatus->instruments.cold_problem = [] { return std::string(); };
  apparatus->instruments.device_bytes = std::size_t{1} << 20;
  apparatus->instruments.device_problem = [] { return std::string(); };
  return apparatus;
}

} // namespace kg::perf::test
