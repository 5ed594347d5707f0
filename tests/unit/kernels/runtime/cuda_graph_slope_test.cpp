// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The slope of two graphs on the cuda backend, against the recording runtime.
#include "perf/measure/graph_slope.h"
#include "runtime/memory.h"
#include "tests/unit/kernels/runtime/recording_cudart.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace kg::perf {
namespace {

using recording::calls;
using recording::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class CudaGraphSlope : public recording::RecordingTest {};

TEST_F(CudaGraphSlope, IsTheTimeOfOneExecution) {
  Stream stream;
  Event start, stop;
  const Allocation memory(16);
  const auto run = [&](Stream& queue) {
    fill_bytes(memory.data(), 1, 8, queue);
    fill_bytes(memory.data(), 2, 4, queue);
  };
  GraphSlope graph(run, stream, [&](Graph& timed) {
    start.record(stream);
    fill_bytes(memory.data(), 3, 16, stream); // the same beside any graph
    timed.launch(stream);
    stop.record(stream);
    stop.synchronize();
    return elapsed_ns(start, stop);
  });
  EXPECT_EQ(graph.more(), 3) << "1 execution and 4";
  recording::clear_calls();
  EXPECT_DOUBLE_EQ(graph.sample(), 2 * recording::kOperationNs);
  const std::vector<std::string> seen = calls();
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "cudaGraphLaunch(executable0, stream0)"), 1);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "cudaGraphLaunch(executable1, stream0)"), 1);
}

TEST_F(CudaGraphSlope, WhatMayNotBeCapturedIsNamedAndTheStreamGoesOn) {
  Stream stream;
  const auto allocates = [](Stream& queue) {
    const Allocation workspace(16);
    fill_bytes(workspace.data(), 1, 8, queue);
  };
  const auto make = [&] { GraphSlope(allocates, stream, [](Graph&) { return 0.0; }); };
  EXPECT_THROW(make(), NotCapturable);
  EXPECT_THAT(message_of(make),
              AllOf(HasSubstr("it cannot be captured into a graph: "), HasSubstr("cudaMalloc"),
                    HasSubstr("cudaErrorStreamCaptureUnsupported")));
  EXPECT_NO_THROW(stream.synchronize());
}

} // namespace
} // namespace kg::perf
