// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/measure.h"

#include "runtime/error.h"
#include "runtime/memory.h"
#include "tests/unit/perf/measure/fake_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

using test::fake_apparatus;
using test::FakeTime;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

// A workload that takes `ns` of invented time and says how often each part was called.
struct Fake {
  FakeTime time;
  double ns = 1e5;
  int runs = 0, verifications = 0;
  bool fresh = false;   // the output was written since it was poisoned
  int wrong_after = -1; // verifications after this many find a fault; -1: never
  int throw_at = -1;    // the run of this number throws

  Workload workload() {
    Workload made;
    made.variant = "tiled";
    made.run = [this](Stream&) {
      if (runs++ == throw_at) throw Error("the kernel trapped");
      fresh = true;
      time.pass(ns);
    };
    made.poison = [this](Stream&) { fresh = false; };
    made.verify = [this](Stream&) -> std::string {
      if (!fresh) return "stale";
      return verifications++ == wrong_after ? "element 3 is 1, not 2" : "";
    };
    return made;
  }

  Measurement measure(std::optional<double> injected = {}) {
    return perf::measure([this] { return workload(); }, Bound::memory, Mode::real,
                         *fake_apparatus(time), injected);
  }
};

TEST(Measure, TimesARightWorkload) {
  Fake fake;
  const Measurement found = fake.measure();
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.variant, "tiled");
  EXPECT_EQ(found.stop, judge::Stop::precise);
  EXPECT_EQ(found.batch, 1);
  EXPECT_GE(found.samples_ns.size(), 30u);
  EXPECT_THAT(found.samples_ns, Each(1e5));
  EXPECT_THAT(found.canaries_ns, Each(1e6));
  EXPECT_GE(found.canaries_ns.size(), 16u);
  EXPECT_EQ(fake.verifications, 2);
}

TEST(Measure, SetUpFirstCallAndCompilingStandApart) {
  Fake fake;
  double compiled = 0;
  const auto make = [&] {
    fake.time.pass(7e6);
    Workload made = fake.workload();
    made.run = [&, run = made.run](Stream& stream) {
      if (compiled == 0) fake.time.pass(compiled = 4e6);
      run(stream);
    };
    made.compile_ns = [&] { return compiled; };
    return made;
  };
  const Measurement found = measure(make, Bound::memory, Mode::real, *fake_apparatus(fake.time));
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.setup_ns, 7e6);
  EXPECT_EQ(found.first_call_ns, 4.1e6);
  EXPECT_EQ(found.compile_ns, 4e6);
  EXPECT_THAT(found.samples_ns, Each(1e5));
}

TEST(Measure, CountsTheMemoryThatTheRowHoldsAtOnce) {
  Fake fake;
  const auto apparatus = fake_apparatus(fake.time);
  const Allocation canary(5000);
  const auto with_bytes = [&](std::size_t bytes) {
    return measure(
        [&, bytes] {
          Allocation(bytes / 2); // freed before the other half is taken
          Workload made = fake.workload();
          made.run = [run = made.run, held = std::make_shared<Allocation>(bytes)](Stream& stream) {
            run(stream);
          };
          return made;
        },
        Bound::memory, Mode::real, *apparatus);
  };
  const Measurement small = with_bytes(1 << 16);
  EXPECT_EQ(small.peak_bytes, (1u << 16) + 2 * kGuardBytes);
  EXPECT_FALSE(small.oversubscribed);
  EXPECT_TRUE(with_bytes(1 << 20).oversubscribed) << "the guards go beyond";
}

TEST(Measure, ShortWaitsAreTimedInARow) {
  Fake fake;
  fake.ns = 100;
  const Measurement found = fake.measure();
  EXPECT_EQ(found.batch, 50);
  for (const double sample : found.samples_ns) EXPECT_NEAR(sample, 100, 1e-6);
}

TEST(Measure, AnInjectionMakesEachExecutionLonger) {
  Fake fake;
  for (const double sample : fake.measure(0.05).samples_ns) EXPECT_NEAR(sample, 1.05e5, 1e-3);
  fake.ns = 100; // where several executions are timed in a row
  for (const double sample : fake.measure(0.5).samples_ns) EXPECT_NEAR(sample, 150, 1e-3);
}

TEST(Measure, AnInjectionOfNothingOnlyGoesTheSameWay) {
  Fake without, nothing, little;
  without.measure();
  EXPECT_THAT(nothing.measure(0.0).samples_ns, Each(1e5));
  little.measure(1e-9);
  EXPECT_EQ(nothing.runs, little.runs);
  EXPECT_GT(nothing.runs, without.runs);
}

TEST(Measure, WrongBeforeTimingIsNotTimed) {
  Fake fake;
  fake.wrong_after = 0;
  const Measurement found = fake.measure();
  EXPECT_EQ(found.problem, "before timing: element 3 is 1, not 2");
  EXPECT_TRUE(found.samples_ns.empty());
  EXPECT_EQ(fake.runs, 1);
}

TEST(Measure, WrongAfterTimingMakesTheRowInvalid) {
  Fake fake;
  fake.wrong_after = 1;
  EXPECT_EQ(fake.measure().problem, "after timing: element 3 is 1, not 2");
}

TEST(Measure, OutputThatIsNotWrittenIsSeenAsStale) {
  FakeTime time;
  bool fresh = true; // as if left by an earlier run
  const auto make = [&] {
    Workload made;
    made.run = [&](Stream&) { time.pass(1e5); };
    made.poison = [&](Stream&) { fresh = false; };
    made.verify = [&](Stream&) { return std::string(fresh ? "" : "element 0 is nan"); };
    return made;
  };
  const Measurement found = measure(make, Bound::memory, Mode::real, *fake_apparatus(time));
  EXPECT_EQ(found.problem, "before timing: element 0 is nan");
}

TEST(Measure, AThrowingRunCostsItsOwnRowOnly) {
  Fake fake;
  fake.throw_at = 20;
  EXPECT_THAT(fake.measure().problem,
              testing::AllOf(StartsWith("while timing: "), HasSubstr("the kernel trapped")));
  FakeTime time;
  const Measurement set_up = measure([]() -> Workload { throw Error("out of memory"); },
                                     Bound::memory, Mode::real, *fake_apparatus(time));
  EXPECT_THAT(set_up.problem,
              testing::AllOf(StartsWith("while setting up: "), HasSubstr("out of memory")));
}

TEST(Measure, AClockThatStandsStillGivesNoTimes) {
  Fake fake;
  FakeTime frozen;
  auto apparatus = fake_apparatus(fake.time);
  apparatus->instruments.now = frozen.clock();
  // Both ends of the warm-up are moments of this clock, so only its limits of 0 let it end.
  apparatus->protocol.warm_up_least_ns = 0;
  apparatus->protocol.warm_up_most_ns = 0;
  const Measurement found =
      measure([&] { return fake.workload(); }, Bound::memory, Mode::real, *apparatus);
  EXPECT_THAT(found.problem, HasSubstr("a sample of 0 ns is not a time"));
}

TEST(Measure, AColdRowNeedsAProvedFlush) {
  Fake fake;
  auto apparatus = fake_apparatus(fake.time);
  apparatus->instruments.cold_problem = [] { return std::string("ratio 1.02"); };
  const Measurement found =
      measure([&] { return fake.workload(); }, Bound::memory, Mode::cold, *apparatus);
  EXPECT_THAT(found.problem, HasSubstr("ratio 1.02"));
  EXPECT_TRUE(found.samples_ns.empty());
  EXPECT_EQ(fake.runs, 0);
}

// The row on a device that is throttled at the ends of those blocks, counted from 1 over all
// samples; `rests`: how often it may rest.
Measurement throttled(const std::function<bool(int block)>& is_throttled, int& blocks, int& rests) {
  Fake fake;
  auto apparatus = fake_apparatus(fake.time);
  apparatus->protocol.least_blocks = 20;
  apparatus->protocol.stop.least = 40;
  blocks = rests = 0;
  apparatus->instruments.between_blocks.rest = [&](double) { ++rests; };
  apparatus->instruments.between_blocks.throttled = [&] {
    return std::string(is_throttled(++blocks) ? "software power cap" : "");
  };
  return measure([&] { return fake.workload(); }, Bound::memory, Mode::real, *apparatus);
}

TEST(Measure, AThrottledRowIsMeasuredOnceMoreWithRests) {
  int blocks = 0, rests = 0;
  const Measurement spike = throttled([](int block) { return block == 7; }, blocks, rests);
  EXPECT_EQ(blocks, 20);
  EXPECT_EQ(rests, 0);
  EXPECT_FALSE(spike.repeated);
  EXPECT_EQ(spike.throttled_by, "") << "1 block of 20 is tolerated";

  const Measurement passing =
      throttled([](int block) { return block == 7 || block == 9; }, blocks, rests);
  EXPECT_EQ(blocks, 40);
  EXPECT_EQ(rests, 21) << "after the second warm-up and each block of the second samples";
  EXPECT_TRUE(passing.repeated);
  EXPECT_EQ(passing.throttled_by, "");
  EXPECT_EQ(passing.samples_ns.size(), 40u) << "of the second time alone";

  const Measurement lasting = throttled([](int) { return true; }, blocks, rests);
  EXPECT_EQ(blocks, 40) << "not a third time";
  EXPECT_TRUE(lasting.repeated);
  EXPECT_EQ(lasting.throttled_by, "software power cap");
  EXPECT_EQ(lasting.problem, "");
}

// Two variants of one case, and the order in which they run: "aabb".
struct Pair {
  FakeTime time;
  std::unique_ptr<Apparatus> apparatus = fake_apparatus(time);
  std::string order;
  int runs_of_b = 0;
  int b_throws_at = -1;
  bool b_loses_device = false, b_needs_all_memory = false;
  int alive = 0;

  std::vector<Measurement> measure() {
    apparatus->instruments.device_problem = [this] {
      return std::string(b_loses_device && runs_of_b > b_throws_at ? "an illegal address" : "");
    };
    const auto make = [this](std::string name) {
      return [this, name] {
        if (name == "b" && b_needs_all_memory && alive > 0) throw Error("out of memory");
        Workload made;
        made.variant = name;
        // Counts itself for as long as a copy lives.
        const std::shared_ptr<int> life(new int(++alive), [this](const int* one) {
          delete one;
          --alive;
        });
        made.run = [this, name, life](Stream&) {
          if (name == "b" && runs_of_b++ == b_throws_at) throw Error("the kernel trapped");
          order += name;
          time.pass(1e5);
        };
        made.poison = [](Stream&) {};
        made.verify = [](Stream&) { return std::string(); };
        return made;
      };
    };
    return measure_interleaved({{make("a"), Bound::memory}, {make("b"), Bound::memory}}, Mode::real,
                               *apparatus);
  }
};

TEST(MeasureInTurns, BlocksOfTheVariantsAlternate) {
  Pair pair;
  const std::vector<Measurement> found = pair.measure();
  ASSERT_EQ(found.size(), 2u);
  for (const Measurement& one : found) {
    EXPECT_EQ(one.problem, "");
    EXPECT_GE(one.samples_ns.size(), 30u);
    EXPECT_THAT(one.samples_ns, Each(1e5));
    EXPECT_EQ(one.canaries_ns.size(), one.block_medians_ns.size() + 1) << "beside its own blocks";
  }
  EXPECT_EQ(found[0].interleaved_with, std::vector<std::string>{"b"});
  EXPECT_EQ(found[1].interleaved_with, std::vector<std::string>{"a"});
  std::size_t turns = 0;
  for (std::size_t i = 1; i < pair.order.size(); ++i) turns += pair.order[i] != pair.order[i - 1];
  EXPECT_GE(turns, 30u) << pair.order;
}

TEST(MeasureInTurns, OneThatFailsLeavesAndTheOthersBeginAgain) {
  Pair pair;
  pair.b_throws_at = 210; // after the warm-up
  const std::vector<Measurement> found = pair.measure();
  EXPECT_EQ(found[0].problem, "");
  EXPECT_TRUE(found[0].interleaved_with.empty());
  EXPECT_GE(found[0].samples_ns.size(), 30u);
  EXPECT_EQ(found[1].problem, "while timing: the kernel trapped");
  EXPECT_TRUE(found[1].samples_ns.empty());
}

TEST(MeasureInTurns, WhereOneLosesTheDeviceTheOthersAreNotBlamed) {
  Pair pair;
  pair.b_throws_at = 210; // after the warm-up
  pair.b_loses_device = true;
  const std::vector<Measurement> found = pair.measure();
  EXPECT_TRUE(found[0].abandoned);
  EXPECT_EQ(found[0].problem, "");
  EXPECT_FALSE(found[1].abandoned);
  EXPECT_EQ(found[1].problem, "while timing: the kernel trapped");
}

TEST(MeasureInTurns, WhatDoesNotFitTogetherIsMeasuredApart) {
  Pair pair;
  pair.b_needs_all_memory = true;
  const std::vector<Measurement> found = pair.measure();
  for (const Measurement& one : found) {
    EXPECT_EQ(one.problem, "");
    EXPECT_TRUE(one.interleaved_with.empty());
    EXPECT_GE(one.samples_ns.size(), 30u);
  }
}

} // namespace
} // namespace kg::perf
