// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/enqueue.h"

#include "tests/contract/shape.h"

#include <algorithm>

namespace kg::perf {

Enqueue enqueue_of(const Workload& workload, Stream& stream, const Clock& now) {
  constexpr int kSamples = 9, kExecutions = 64; // some microseconds each
  Enqueue result;
  const auto sample = [&](int executions) {
    Enqueue one;
    const Graph graph = Graph::capture(stream, [&](Stream& captured) {
      const std::int64_t before = Shape::parses();
      const double start = now();
      for (int i = 0; i < executions; ++i) workload.run(captured);
      one.ns = (now() - start) / executions;
      one.parses = (Shape::parses() - before) / executions;
    });
    one.launches = graph.node_count() / executions;
    return one;
  };
  // A caller's one-time work, such as a list of tensors on the device, is not part of an execution
  // and cannot be captured.
  workload.run(stream);
  stream.synchronize();
  sample(1); // with cold caches
  result = sample(kExecutions);
  for (int i = 1; i < kSamples; ++i) result.ns = std::min(result.ns, sample(kExecutions).ns);
  return result;
}

} // namespace kg::perf
