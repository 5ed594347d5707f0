// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measuring what a stream captures: rows timed as graphs, and what cannot be one.
#include "perf/measure/measure.h"

#include "libraries/not_supported.h"
#include "runtime/memory.h"
#include "tests/unit/perf/measure/fake_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

using test::fake_apparatus;
using test::FakeTime;
using testing::HasSubstr;

// Fills a buffer with two nodes, of 2 us each (fake_time.h), or with none where it is `idle`.
struct FakeGraph {
  FakeTime time;
  std::unique_ptr<Apparatus> apparatus = fake_apparatus(time);
  Allocation output{1};
  bool idle = false;
  int verifications = 0;
  int wrong_after = -1; // verifications after this many find a fault; -1: never

  Workload workload() {
    Workload made;
    made.run = [this](Stream& stream) {
      if (idle) return;
      fill_bytes(output.data(), 1, 1, stream);
      fill_bytes(output.data(), 2, 1, stream);
    };
    made.poison = [this](Stream& stream) { fill_bytes(output.data(), 0xFF, 1, stream); };
    made.verify = [this](Stream& stream) -> std::string {
      unsigned char found = 0;
      copy_to_host(&found, output.data(), 1, stream);
      if (found != 2 && !idle) return "stale";
      return verifications++ == wrong_after ? "element 3 is 1, not 2" : "";
    };
    return made;
  }

  Measurement measure() {
    return perf::measure([this] { return workload(); }, Bound::memory, Mode::graph, *apparatus);
  }
};

TEST(MeasureGraph, GivesTheSlopeOfTwoGraphsBesideAnEmptyNode) {
  FakeGraph fake;
  const Measurement found = fake.measure();
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.skipped, "");
  for (const double sample : found.samples_ns) EXPECT_NEAR(sample, 4e3, 1e-6);
  EXPECT_GE(found.samples_ns.size(), 30u);
  EXPECT_EQ(found.batch, 48) << "12 executions differ by 48 us, 48 by more than 50 us";
  EXPECT_EQ(found.empty_node_ns, 1e3);
  EXPECT_EQ(fake.verifications, 3) << "before, replayed, after";
}

TEST(MeasureGraph, WhatTheGraphLeavesIsVerified) {
  FakeGraph fake;
  fake.wrong_after = 1;
  EXPECT_THAT(fake.measure().problem, HasSubstr("replayed from a graph: element 3 is 1, not 2"));
}

TEST(MeasureGraph, OutputIsThatOfTheGraph) {
  FakeGraph fake;
  fake.apparatus->instruments.graph_ns = [&](Graph& graph) { // without running it
    fake.time.pass(1e5);
    return 1e5 * graph.node_count();
  };
  EXPECT_EQ(fake.measure().problem, "") << "it is replayed once more";
}

TEST(MeasureGraph, WhatCannotBeCapturedIsSkippedInTheLibrarysWords) {
  FakeGraph fake;
  fake.idle = true;
  const Measurement empty = fake.measure();
  EXPECT_EQ(empty.problem, "");
  EXPECT_THAT(empty.skipped, HasSubstr("it enqueues nothing on the stream"));
  const auto waits = [&] {
    Workload made = fake.workload();
    made.run = [](Stream& stream) { stream.synchronize(); };
    return made;
  };
  const Measurement found = measure(waits, Bound::memory, Mode::graph, *fake.apparatus);
  EXPECT_EQ(found.problem, "");
  EXPECT_THAT(found.skipped, HasSubstr("it cannot be captured into a graph: "));
  EXPECT_TRUE(found.samples_ns.empty());
  fake.apparatus->instruments.device_problem = [] { return std::string("it answers no more"); };
  const Measurement lost = measure(waits, Bound::memory, Mode::graph, *fake.apparatus);
  EXPECT_EQ(lost.skipped, "") << "the device is at fault";
  EXPECT_THAT(lost.problem, HasSubstr("it cannot be captured"));
}

TEST(MeasureGraph, WhatALibraryDoesNotHaveIsSkippedInItsWords) {
  FakeGraph fake;
  const auto lacks = [&] {
    Workload made = fake.workload();
    made.run = [](Stream&) { throw vendor::NotSupported("no engine for this problem"); };
    return made;
  };
  const Measurement found = measure(lacks, Bound::memory, Mode::real, *fake.apparatus);
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.skipped, "no engine for this problem");
  EXPECT_TRUE(found.samples_ns.empty());
}

TEST(MeasureGraph, SingleSlopesMayBeNegativeTheirMedianMayNot) {
  FakeGraph fake;
  int launches = 0;
  double usual = 0;
  // Every fifth time of the longer graph is short.
  fake.apparatus->instruments.graph_ns = [&](Graph& graph) {
    fake.time.pass(1e5);
    return graph.node_count() > 100 && ++launches % 5 == 0 ? 0 : usual * graph.node_count();
  };
  usual = 1e3;
  const Measurement noisy = fake.measure();
  EXPECT_EQ(noisy.problem, "");
  EXPECT_THAT(noisy.samples_ns, testing::Contains(testing::Lt(0)));
  usual = 0;
  EXPECT_THAT(fake.measure().problem, HasSubstr("within [0, 0] ns, which is not a time"));
  usual = std::numeric_limits<double>::infinity();
  EXPECT_THAT(fake.measure().problem, HasSubstr("must be a finite number"));
}

} // namespace
} // namespace kg::perf
