// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph_slope.h"

#include "runtime/memory.h"

#include <gtest/gtest.h>
#include <vector>

namespace kg::perf {
namespace {

TEST(GraphSlope, CancelsWhatBothGraphsCost) {
  EXPECT_DOUBLE_EQ(slope_ns(20e3 + 4 * 700, 20e3 + 16 * 700, 12), 700);
  EXPECT_DOUBLE_EQ(slope_ns(500, 499.5, 3), -0.5 / 3) << "noise is kept";
}

// The executions of the shorter graph, of which each has one node that takes `ns`; and the lengths
// that were timed.
int executions(double ns, std::vector<int>& timed) {
  Stream stream;
  const Allocation memory(1);
  const auto run = [&](Stream& queue) { fill_bytes(memory.data(), 1, 1, queue); };
  GraphSlope graph(run, stream, [&](Graph& launched) {
    timed.push_back(launched.node_count());
    return 20e3 + ns * launched.node_count();
  });
  timed.clear();
  EXPECT_NEAR(graph.sample(), ns, 1e-6);
  return graph.more() / 3;
}

TEST(GraphSlope, GraphsAreLongEnoughForEvents) {
  std::vector<int> timed;
  EXPECT_EQ(executions(20e3, timed), 1);
  EXPECT_EQ(timed, (std::vector<int>{1, 4}));
  EXPECT_EQ(executions(4e3, timed), 16) << "12 executions differ by 48 us";
  EXPECT_EQ(timed, (std::vector<int>{16, 64}));
  EXPECT_EQ(executions(5e3, timed), 4);
  EXPECT_EQ(executions(1, timed), 256) << "at most";
}

} // namespace
} // namespace kg::perf
