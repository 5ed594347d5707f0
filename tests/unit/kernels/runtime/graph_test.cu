// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and graphs of the host backend.
#include "tests/unit/kernels/runtime/executor_support.h"

#include <gmock/gmock.h>
#include <optional>
#include <stdexcept>
#include <thread>

namespace kg::executor {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct Step {
  int factor, term;
};

__global__ void apply(Step step, int* data) {
  data[threadIdx.x] = data[threadIdx.x] * step.factor + step.term;
}

__global__ void fails(int fail) {
  if (fail) throw std::out_of_range("as asked");
}

void enqueue(Stream& stream, Step step, int* data) {
  launch(apply, {.grid = 1, .block = 4, .stream = &stream}, step, data);
}

// --- Capture and replay ---

TEST(Graph, RecordsWithoutRunningAndReplaysInOrder) {
  Stream stream;
  std::vector<int> data(4, 1);
  Graph graph = Graph::capture(stream, [&](Stream& captured) {
    enqueue(captured, {2, 1}, data.data());
    enqueue(captured, {10, 5}, data.data());
  });
  EXPECT_EQ(graph.node_count(), 2);
  EXPECT_THAT(data, Each(1)) << "capturing ran something";
  graph.launch(stream);
  EXPECT_THAT(data, Each(35));
  graph.launch(stream);
  EXPECT_THAT(data, Each(715));
  stream.synchronize();
}

TEST(Graph, RecordsCopiesAndFills) {
  Stream stream;
  DeviceBuffer<int> from(4), to(4);
  from.copy_from(std::vector<int>{1, 2, 3, 4}, stream);
  Graph graph = Graph::capture(stream, [&](Stream& captured) {
    copy_on_device(to.data(), from.data(), 3 * sizeof(int), captured);
    fill_bytes(from.data(), 0, 2 * sizeof(int), captured);
  });
  EXPECT_EQ(graph.node_count(), 2);
  EXPECT_THAT(to.to_host(stream), Each(-1)) << "capturing copied";
  graph.launch(stream);
  EXPECT_THAT(to.to_host(stream), ElementsAre(1, 2, 3, -1));
  EXPECT_THAT(from.to_host(stream), ElementsAre(0, 0, 3, 4));
}

// What the arguments were when they were captured counts, long after they are gone.
TEST(Graph, KeepsCopiesOfArguments) {
  Stream stream;
  std::vector<int> data(4, 1);
  std::optional<Graph> graph;
  {
    auto step = std::make_unique<Step>(Step{3, 1});
    graph.emplace(
        Graph::capture(stream, [&](Stream& captured) { enqueue(captured, *step, data.data()); }));
    *step = {100, 100};
  }
  graph->launch(stream);
  EXPECT_THAT(data, Each(4));
}

TEST(Graph, KeepsTheConfiguration) {
  Stream stream;
  std::vector<int> data(4, 1);
  std::optional<Graph> graph;
  {
    LaunchConfig config{.grid = 1, .block = 2, .stream = &stream};
    graph.emplace(Graph::capture(stream, [&](Stream&) {
      launch(apply, config, Step{0, 9}, data.data());
    }));
    config.block = 4;
  }
  Stream other;
  graph->launch(other);
  EXPECT_THAT(data, ElementsAre(9, 9, 1, 1));
}

TEST(Graph, MayBeEmptyAndMayBeMoved) {
  Stream stream;
  Graph empty = Graph::capture(stream, [](Stream&) {});
  EXPECT_EQ(empty.node_count(), 0);
  empty.launch(stream);

  std::vector<int> data(4, 1);
  Graph graph = Graph::capture(stream, [&](Stream& captured) {
    enqueue(captured, {1, 1}, data.data());
  });
  Graph moved(std::move(graph));
  moved.launch(stream);
  empty = std::move(moved);
  EXPECT_EQ(empty.node_count(), 1);
  empty.launch(stream);
  EXPECT_THAT(data, Each(3));
  // NOLINTNEXTLINE(bugprone-use-after-move): what a move leaves is under test
  EXPECT_THAT(error_of([&] { graph.launch(stream); }), HasSubstr("this graph was moved from"));
}

TEST(Graph, CanBeCapturedIntoAnother) {
  Stream stream;
  std::vector<int> data(4, 1);
  Graph inner = Graph::capture(stream, [&](Stream& captured) {
    enqueue(captured, {2, 0}, data.data());
  });
  Graph outer = Graph::capture(stream, [&](Stream& captured) {
    inner.launch(captured);
    enqueue(captured, {1, 5}, data.data());
  });
  EXPECT_THAT(data, Each(1));
  outer.launch(stream);
  EXPECT_THAT(data, Each(7));
}

// Other streams go on working while one is captured.
TEST(Graph, CapturesOneStreamOnly) {
  Stream stream, other;
  std::vector<int> data(4, 1);
  Graph graph = Graph::capture(stream, [&](Stream&) {
    enqueue(other, {1, 1}, data.data());
    launch(apply, {.grid = 1, .block = 4}, Step{1, 1}, data.data()); // the default stream
  });
  EXPECT_EQ(graph.node_count(), 0);
  EXPECT_THAT(data, Each(3));
}

// --- What cannot be captured ---

TEST(GraphCapture, ExceptionEndsItAndFreesTheStream) {
  Stream stream;
  std::vector<int> data(4, 1);
  EXPECT_THROW(Graph::capture(stream,
                              [&](Stream& captured) {
                                enqueue(captured, {2, 0}, data.data());
                                throw std::out_of_range("half way");
                              }),
               std::out_of_range);
  EXPECT_THAT(data, Each(1));
  enqueue(stream, {5, 0}, data.data()); // runs at once again
  EXPECT_THAT(data, Each(5));
}

TEST(GraphCapture, InvalidLaunchIsRefusedAtOnce) {
  Stream stream;
  EXPECT_THAT(error_of([&] {
                (void)Graph::capture(stream, [](Stream& captured) {
                  launch(fails, {.grid = 1, .block = 4000, .stream = &captured}, 0);
                });
              }),
              HasSubstr("a block is limited to 1024 threads"));
}

TEST(GraphCapture, RefusesWhatNeedsTheHost) {
  Stream stream;
  DeviceBuffer<int> buffer(4);
  std::vector<int> host(4);
  const auto refusal = [&](const std::function<void(Stream&)>& action) {
    return error_of([&] { (void)Graph::capture(stream, action); });
  };
  EXPECT_THAT(refusal([&](Stream& captured) { buffer.copy_from(host, captured); }),
              HasSubstr("copy_to_device cannot be captured"));
  EXPECT_THAT(refusal([&](Stream& captured) { (void)buffer.to_host(captured); }),
              HasSubstr("copy_to_host cannot be captured"));
  EXPECT_THAT(refusal([](Stream& captured) { captured.synchronize(); }),
              HasSubstr("Stream::synchronize while a graph is captured"));
  EXPECT_THAT(refusal([](Stream& captured) { (void)Graph::capture(captured, [](Stream&) {}); }),
              HasSubstr("already being captured"));
  EXPECT_NO_THROW(stream.synchronize());
}

TEST(GraphCapture, FaultInAReplayIsThrownFromIt) {
  Stream stream;
  std::vector<int> data(4, 1);
  Graph graph = Graph::capture(stream, [&](Stream& captured) {
    enqueue(captured, {2, 0}, data.data());
    launch(fails, {.grid = 1, .block = 1, .stream = &captured}, 1);
    enqueue(captured, {100, 0}, data.data());
  });
  EXPECT_THROW(graph.launch(stream), std::out_of_range);
  EXPECT_THAT(data, Each(2)) << "nothing after the fault runs";
  enqueue(stream, {1, 1}, data.data());
  EXPECT_THAT(data, Each(3));
}

TEST(GraphCapture, RecordsLaunchesForTheRecorderOnce) {
  Stream stream;
  std::vector<int> data(4, 1);
  const LaunchRecorder recorder;
  Graph graph = Graph::capture(stream, [&](Stream& captured) {
    enqueue(captured, {2, 0}, data.data());
  });
  EXPECT_EQ(recorder.launches().size(), 1u);
  graph.launch(stream);
  EXPECT_EQ(recorder.launches().size(), 1u); // a replay makes no launch call
}

// --- Streams and events ---

TEST(HostStream, RunsAtOnce) {
  Stream stream;
  std::vector<int> data(4, 1);
  enqueue(stream, {2, 3}, data.data());
  EXPECT_THAT(data, Each(5));
}

TEST(HostStream, MovesItsQueueAndRefusesWorkAfterwards) {
  Stream stream;
  void* const handle = stream.handle();
  Stream moved(std::move(stream));
  EXPECT_EQ(moved.handle(), handle);
  std::vector<int> data(4, 1);
  enqueue(moved, {2, 3}, data.data());
  EXPECT_THAT(data, Each(5));
  // NOLINTBEGIN(bugprone-use-after-move): what a move leaves is under test
  const auto moved_from = HasSubstr("this Stream was moved from; use its new owner");
  EXPECT_THAT(error_of([&] { enqueue(stream, {0, 0}, data.data()); }), moved_from);
  EXPECT_THAT(error_of([&] { stream.synchronize(); }), moved_from);
  EXPECT_THAT(error_of([&] { fill_bytes(data.data(), 0, 4, stream); }), moved_from);
  EXPECT_THAT(error_of([&] { Event().record(stream); }), moved_from);
  EXPECT_THAT(error_of([&] { (void)Graph::capture(stream, [](Stream&) {}); }), moved_from);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_THAT(data, Each(5));
}

TEST(HostEvent, MeasuresWhatLiesBetween) {
  Stream stream;
  Event start, stop;
  start.record(stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  stop.record(stream);
  stop.synchronize();
  EXPECT_GE(elapsed_ns(start, stop), 3e6);
  EXPECT_LE(elapsed_ns(stop, start), -3e6);
  EXPECT_EQ(elapsed_ns(start, start), 0.0);
}

TEST(HostEvent, MustHaveBeenRecorded) {
  Stream stream;
  Event start, stop;
  start.record(stream);
  EXPECT_THAT(error_of([&] { (void)elapsed_ns(start, stop); }),
              HasSubstr("both events must have been recorded"));
  Event moved(std::move(start));
  stop.record(stream);
  EXPECT_GE(elapsed_ns(moved, stop), 0.0);
  // NOLINTNEXTLINE(bugprone-use-after-move): what a move leaves is under test
  EXPECT_THAT(error_of([&] { start.record(stream); }), HasSubstr("this Event was moved from"));
}

// As on a GPU, a captured record has no time, adds no node, and outlives its event.
TEST(HostEvent, InACaptureMeasuresNothing) {
  Stream stream;
  Event start, stop;
  stop.record(stream);
  auto inside = std::make_unique<Event>();
  Graph graph = Graph::capture(stream, [&](Stream& captured) {
    start.record(captured);
    inside->record(captured);
  });
  EXPECT_EQ(graph.node_count(), 0);
  inside.reset();
  graph.launch(stream);
  EXPECT_THAT(error_of([&] { (void)elapsed_ns(start, stop); }), HasSubstr("recorded"));
}

} // namespace
} // namespace kg::executor
