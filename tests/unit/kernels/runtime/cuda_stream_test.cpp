// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The cuda backend's streams, events and graphs, against the recording runtime.
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "tests/unit/kernels/runtime/recording_cudart.h"

#include <gmock/gmock.h>

namespace kg {
namespace {

using recording::calls;
using recording::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

class CudaStream : public recording::RecordingTest {};
class CudaEvent : public recording::RecordingTest {};
class CudaGraph : public recording::RecordingTest {};

TEST_F(CudaStream, IsNonBlockingAndDestroyedOnce) {
  {
    Stream stream;
    EXPECT_NE(stream.handle(), nullptr);
    stream.synchronize();
  }
  EXPECT_THAT(calls(), ElementsAre("cudaStreamCreateWithFlags(NonBlocking) = stream0",
                                   "cudaStreamSynchronize(stream0)", "cudaStreamDestroy(stream0)"));
}

TEST_F(CudaStream, MovesItsHandle) {
  Stream a;
  Stream b;
  void* handle = a.handle();
  recording::clear_calls();
  Stream moved(std::move(a));
  EXPECT_EQ(moved.handle(), handle);
  EXPECT_EQ(a.handle(),
            nullptr); // NOLINT(bugprone-use-after-move): what a move leaves is under test
  b = std::move(moved);
  EXPECT_EQ(b.handle(), handle);
  EXPECT_THAT(calls(), ElementsAre("cudaStreamDestroy(stream1)"));
  Stream& itself = b;
  b = std::move(itself);
  EXPECT_EQ(b.handle(), handle);
  EXPECT_THAT(calls(), ElementsAre("cudaStreamDestroy(stream1)"));
}

// To CUDA a null handle is the default stream, so this would do the work on the wrong one.
TEST_F(CudaStream, RefusesWorkAfterAMove) {
  Stream stream;
  Stream owner(std::move(stream));
  const Allocation memory(4);
  recording::clear_calls();
  EXPECT_THAT(message_of([&] { stream.synchronize(); }), HasSubstr("Stream was moved from"));
  EXPECT_THROW(fill_bytes(memory.data(), 0, 4, stream), Error);
  EXPECT_THROW(Event().record(stream), Error);
  EXPECT_THROW(Graph::capture(stream, [](Stream&) {}), Error);
  EXPECT_THAT(calls(), ElementsAre("cudaEventCreateWithFlags(Default) = event0",
                                   "cudaEventDestroy(event0)"));
}

TEST_F(CudaStream, ThatCannotBeCreatedOrFailsSaysWhy) {
  recording::fail_call("cudaStreamCreateWithFlags", cudaErrorMemoryAllocation);
  EXPECT_THAT(message_of([] { Stream stream; }),
              HasSubstr("cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) failed: "
                        "cudaErrorMemoryAllocation: out of memory (error 2)"));
  Stream stream;
  recording::fail_call("cudaStreamSynchronize", cudaErrorLaunchFailure);
  EXPECT_THAT(message_of([&] { stream.synchronize(); }),
              HasSubstr("unspecified launch failure (error 719)"));
}

TEST_F(CudaStream, AndEventAndGraphDestructorsDoNotThrow) {
  testing::internal::CaptureStderr();
  {
    Stream stream;
    Event event;
    Graph graph = Graph::capture(stream, [](Stream&) {});
    recording::fail_call("cudaStreamDestroy", cudaErrorCudartUnloading);
    recording::fail_call("cudaEventDestroy", cudaErrorCudartUnloading);
    recording::fail_call("cudaGraphExecDestroy", cudaErrorIllegalAddress);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(HasSubstr("cudaGraphExecDestroy failed while releasing"),
                             testing::Not(HasSubstr("cudaStreamDestroy"))));
}

TEST_F(CudaEvent, RecordsOnTheStreamAndWaits) {
  {
    Stream stream;
    Event event;
    event.record(stream);
    event.synchronize();
  }
  EXPECT_THAT(calls(),
              ElementsAre("cudaStreamCreateWithFlags(NonBlocking) = stream0",
                          "cudaEventCreateWithFlags(Default) = event0",
                          "cudaEventRecord(event0, stream0)", "cudaEventSynchronize(event0)",
                          "cudaEventDestroy(event0)", "cudaStreamDestroy(stream0)"));
}

TEST_F(CudaEvent, ElapsedTimeIsInNanoseconds) {
  Stream stream;
  const Allocation memory(16);
  Event start;
  Event stop;
  start.record(stream);
  for (int i = 0; i < 3; ++i) fill_bytes(memory.data(), 0, 16, stream);
  stop.record(stream);
  stop.synchronize();
  EXPECT_DOUBLE_EQ(elapsed_ns(start, stop), 3 * recording::kOperationNs);
  EXPECT_EQ(calls().back(), "cudaEventElapsedTime(event0, event1)");
}

TEST_F(CudaEvent, ElapsedTimeOfEventsNotRecordedOrNotReachedIsAnError) {
  Stream stream;
  Event start;
  Event stop;
  EXPECT_THAT(message_of([&] { elapsed_ns(start, stop); }),
              HasSubstr("cudaErrorInvalidResourceHandle"));
  start.record(stream);
  stop.record(stream);
  EXPECT_THAT(message_of([&] { elapsed_ns(start, stop); }), HasSubstr("cudaErrorNotReady"));
}

TEST_F(CudaEvent, MovesItsHandleAndRefusesWorkAfterwards) {
  Stream stream;
  Event a;
  Event b;
  void* handle = a.handle();
  recording::clear_calls();
  Event moved(std::move(a));
  b = std::move(moved);
  Event& itself = b;
  b = std::move(itself);
  EXPECT_EQ(b.handle(), handle);
  EXPECT_THAT(message_of([&] { a.record(stream); }), // NOLINT(bugprone-use-after-move): under test
              HasSubstr("Event was moved from"));
  EXPECT_THROW(a.synchronize(), Error);
  EXPECT_THROW(elapsed_ns(a, b), Error);
  EXPECT_THAT(calls(), ElementsAre("cudaEventDestroy(event1)"));
}

TEST_F(CudaEvent, FailuresSayWhatFailed) {
  recording::fail_call("cudaEventCreateWithFlags", cudaErrorMemoryAllocation);
  EXPECT_THAT(message_of([] { Event event; }), HasSubstr("cudaEventCreateWithFlags"));
  Stream stream;
  Event event;
  recording::fail_call("cudaEventRecord", cudaErrorInvalidResourceHandle);
  EXPECT_THAT(message_of([&] { event.record(stream); }), HasSubstr("cudaEventRecord"));
  recording::fail_call("cudaEventSynchronize", cudaErrorLaunchFailure);
  EXPECT_THAT(message_of([&] { event.synchronize(); }), HasSubstr("cudaEventSynchronize"));
}

TEST_F(CudaGraph, CapturesInThreadLocalModeAndKeepsOnlyTheExecutable) {
  {
    Stream stream;
    const Allocation memory(16);
    recording::clear_calls();
    Graph graph = Graph::capture(stream, [&](Stream& captured) {
      fill_bytes(memory.data(), 1, 8, captured);
      fill_bytes(memory.data(), 2, 4, captured);
    });
    EXPECT_EQ(graph.node_count(), 2);
  }
  EXPECT_THAT(calls(), ElementsAre("cudaStreamBeginCapture(stream0, ThreadLocal)",
                                   "cudaMemsetAsync(memory0+4096, 0x01, 8, stream0)",
                                   "cudaMemsetAsync(memory0+4096, 0x02, 4, stream0)",
                                   "cudaStreamEndCapture(stream0) = graph0",
                                   "cudaGraphGetNodes(graph0, count only)",
                                   "cudaGraphInstantiate(graph0, 0) = executable0",
                                   "cudaGraphDestroy(graph0)", "cudaGraphExecDestroy(executable0)",
                                   "cudaFree(memory0)", "cudaStreamDestroy(stream0)"));
}

TEST_F(CudaGraph, RunsNothingWhileCapturedAndEverythingAtEachLaunch) {
  Stream stream;
  Stream other;
  const Allocation memory(16);
  auto* bytes = static_cast<unsigned char*>(memory.data());
  Graph graph = Graph::capture(stream, [&](Stream& s) {
    fill_bytes(bytes, 1, 8, s);
    copy_on_device(bytes + 8, bytes, 2, s);
  });
  stream.synchronize();
  EXPECT_EQ(bytes[0], 0xFF);
  graph.launch(stream);
  EXPECT_EQ(calls().back(), "cudaGraphLaunch(executable0, stream0)");
  stream.synchronize();
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[9], 1);
  bytes[0] = 7;
  graph.launch(other);
  EXPECT_EQ(calls().back(), "cudaGraphLaunch(executable0, stream1)");
  other.synchronize();
  EXPECT_EQ(bytes[0], 1);
}

TEST_F(CudaGraph, OfNothingIsEmptyAndCanBeLaunched) {
  Stream stream;
  Graph graph = Graph::capture(stream, [](Stream&) {});
  EXPECT_EQ(graph.node_count(), 0);
  graph.launch(stream);
  stream.synchronize();
}

TEST_F(CudaGraph, ExceptionInTheCaptureIsPassedOnAndTheStreamStaysUsable) {
  Stream stream;
  const Allocation memory(16);
  recording::clear_calls();
  EXPECT_THROW(Graph::capture(stream,
                              [&](Stream& s) {
                                fill_bytes(memory.data(), 1, 8, s);
                                throw std::out_of_range("the caller's own");
                              }),
               std::out_of_range);
  EXPECT_THAT(calls(),
              ElementsAre("cudaStreamBeginCapture(stream0, ThreadLocal)",
                          "cudaMemsetAsync(memory0+4096, 0x01, 8, stream0)",
                          "cudaStreamEndCapture(stream0) = graph0", "cudaGraphDestroy(graph0)"));
  fill_bytes(memory.data(), 3, 1, stream);
  stream.synchronize();
  EXPECT_EQ(*static_cast<unsigned char*>(memory.data()), 3);
}

TEST_F(CudaGraph, WhatCannotBeCapturedIsAnErrorAndTheStreamStaysUsable) {
  Stream stream;
  EXPECT_THAT(message_of([&] { Graph::capture(stream, [](Stream&) { Allocation late(8); }); }),
              HasSubstr("cudaErrorStreamCaptureUnsupported"));
  EXPECT_EQ(recording::last_error(), cudaSuccess);
  EXPECT_THAT(message_of([&] { Graph::capture(stream, [](Stream& s) { s.synchronize(); }); }),
              HasSubstr("operation not permitted when stream is capturing"));
  stream.synchronize();
}

TEST_F(CudaGraph, InvalidationThatTheCallerSwallowedIsStillAnError) {
  Stream stream;
  const std::string message = message_of(
      [&] { Graph::capture(stream, [](Stream& s) { EXPECT_THROW(s.synchronize(), Error); }); });
  EXPECT_THAT(message, HasSubstr("cudaStreamEndCapture"));
  EXPECT_THAT(message, HasSubstr("operation failed due to a previous error during capture"));
  stream.synchronize();
}

TEST_F(CudaGraph, CopiesFromAndToTheHostAreRefusedBeforeTheyInvalidateTheCapture) {
  Stream stream;
  const Allocation memory(4);
  int host = 0;
  Graph graph = Graph::capture(stream, [&](Stream& s) {
    EXPECT_THAT(message_of([&] { copy_to_device(memory.data(), &host, 4, s); }),
                HasSubstr("copy_to_device: the stream is being captured"));
    EXPECT_THAT(message_of([&] { copy_to_host(&host, memory.data(), 4, s); }),
                HasSubstr("copy_to_host: the stream is being captured"));
    fill_bytes(memory.data(), 0, 4, s);
  });
  EXPECT_EQ(graph.node_count(), 1);
}

TEST_F(CudaGraph, EveryStepThatFailsLeaksNothing) {
  Stream stream;
  for (const char* step : {"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphGetNodes",
                           "cudaGraphInstantiate"}) {
    recording::fail_call(step, cudaErrorMemoryAllocation);
    EXPECT_THAT(message_of([&] { Graph::capture(stream, [](Stream&) {}); }), HasSubstr(step));
    EXPECT_THAT(recording::leaks(), ElementsAre("stream0")) << step;
    EXPECT_EQ(recording::last_error(), cudaSuccess) << step;
    EXPECT_NO_THROW(Graph::capture(stream, [](Stream&) {})) << "the stream after " << step;
  }
}

TEST_F(CudaGraph, MovesItsHandleAndRefusesALaunchAfterwards) {
  Stream stream;
  const Allocation memory(4);
  auto fill = [&](Stream& s) { fill_bytes(memory.data(), 0, 4, s); };
  Graph a = Graph::capture(stream, fill);
  Graph b = Graph::capture(stream, [](Stream&) {});
  recording::clear_calls();
  Graph moved(std::move(a));
  EXPECT_EQ(a.node_count(), 0); // NOLINT(bugprone-use-after-move): what a move leaves is under test
  EXPECT_THAT(message_of([&] { a.launch(stream); }), HasSubstr("graph was moved from"));
  b = std::move(moved);
  EXPECT_EQ(b.node_count(), 1);
  EXPECT_THAT(calls(), ElementsAre("cudaGraphExecDestroy(executable1)"));
  Graph& itself = b;
  b = std::move(itself);
  b.launch(stream);
  EXPECT_EQ(calls().back(), "cudaGraphLaunch(executable0, stream0)");
}

TEST_F(CudaGraph, LaunchThatFailsSaysWhy) {
  Stream stream;
  Graph graph = Graph::capture(stream, [](Stream&) {});
  recording::fail_call("cudaGraphLaunch", cudaErrorLaunchFailure);
  EXPECT_THAT(message_of([&] { graph.launch(stream); }),
              testing::AllOf(HasSubstr("cudaGraphLaunch"), HasSubstr("(error 719)")));
}

} // namespace
} // namespace kg
