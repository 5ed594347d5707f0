// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/sampling.h"

#include "tests/unit/perf/measure/fake_time.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace kg::perf {
namespace {

using test::FakeTime;

Protocol protocol() {
  Protocol result;
  result.stop.least = 30;
  result.stop.most = 500;
  result.stop.budget_ns = 1e9;
  result.warm_up_least_ns = 1e6;
  result.warm_up_most_ns = 10e6;
  result.least_blocks = 5;
  result.block_ns = 2e6;
  return result;
}

// Runs the protocol on samples made by `next`, which gets the number of the call.
struct Trial {
  FakeTime time;
  std::string order; // 's' per sample, 'c' per canary
  Sampled sampled;

  Trial(const Protocol& how, const std::function<double(int)>& next, double canary_ns = 1e6) {
    int calls = 0;
    sampled = take_samples(
        how, time.clock(),
        [&] {
          const double ns = next(calls++);
          time.pass(ns);
          order += 's';
          return std::vector<double>{ns};
        },
        [&] {
          time.pass(canary_ns);
          order += 'c';
          return canary_ns;
        });
  }
};

TEST(Sampling, StopsAtTheLeastNumberWhenSamplesAgree) {
  const Trial trial(protocol(), [](int) { return 1e5; });
  EXPECT_EQ(trial.sampled.stop, judge::Stop::precise);
  EXPECT_TRUE(trial.sampled.settled);
  EXPECT_EQ(trial.sampled.samples_ns, std::vector<double>(30, 1e5));
}

TEST(Sampling, CanariesStandBeforeBetweenAndAfterTheSamples) {
  const Trial trial(protocol(), [](int) { return 1e5; });
  const std::size_t first = trial.order.find('c');
  EXPECT_EQ(trial.order.substr(first), "cssssssc"
                                       "ssssssc"
                                       "ssssssc"
                                       "ssssssc"
                                       "ssssssc");
  EXPECT_EQ(trial.sampled.canaries_ns.size(), 6u);
}

TEST(Sampling, WarmUpIsNotAmongTheSamples) {
  // Slow at first, as on a GPU that leaves its idle clocks.
  const Trial trial(protocol(), [](int i) { return i < 20 ? 3e5 : 1e5; });
  EXPECT_EQ(trial.sampled.samples_ns, std::vector<double>(30, 1e5));
  EXPECT_TRUE(trial.sampled.settled);
}

TEST(Sampling, WarmUpThatNeverSettlesEndsAndSaysSo) {
  const Trial trial(protocol(), [](int i) { return i < 1000 ? 1e5 * (1 + i % 7 + i / 10) : 1e5; });
  EXPECT_FALSE(trial.sampled.settled);
  const double warm_up = static_cast<double>(trial.order.find('c'));
  EXPECT_LT(warm_up, 100) << "10 ms of samples of at least 0.1 ms";
}

TEST(Sampling, NoisySamplesEndAtTheMost) {
  // Alternating, so that the median's interval spans both values however many there are.
  const Trial trial(protocol(), [](int i) { return i % 2 ? 1e4 : 2e4; });
  EXPECT_EQ(trial.sampled.stop, judge::Stop::most);
  EXPECT_EQ(trial.sampled.samples_ns.size(), 500u);
}

TEST(Sampling, SlowNoisySamplesEndWithTheBudget) {
  Protocol how = protocol();
  how.stop.budget_ns = 100e6;
  const Trial trial(how, [](int i) { return i % 2 ? 5e6 : 10e6; });
  EXPECT_EQ(trial.sampled.stop, judge::Stop::budget);
  const auto& samples = trial.sampled.samples_ns;
  const double spent = std::accumulate(samples.begin(), samples.end(), 0.0);
  EXPECT_GE(spent, 100e6);
  EXPECT_LE(spent, 110e6) << "at most one block more";
}

TEST(Sampling, CanariesDoNotSpendTheBudget) {
  Protocol how = protocol();
  how.stop.budget_ns = 100e6;
  const Trial trial(
      how, [](int i) { return i % 2 ? 5e6 : 10e6; }, 50e6);
  EXPECT_GE(trial.sampled.samples_ns.size(), 13u);
}

TEST(Sampling, KeepsEverySampleOfAGroup) {
  FakeTime time;
  const Sampled sampled = take_samples(
      protocol(), time.clock(),
      [&] {
        time.pass(8e5);
        return std::vector<double>(8, 1e5);
      },
      [] { return 1e6; });
  EXPECT_EQ(sampled.samples_ns.size() % 8, 0u);
  EXPECT_GE(sampled.samples_ns.size(), 30u);
}

TEST(Sampling, AsksAtTheEndOfEachBlockWhetherTheDeviceIsThrottled) {
  FakeTime time;
  int asked = 0;
  const Sampled sampled = take_samples(
      protocol(), time.clock(),
      [&] {
        time.pass(1e5);
        return std::vector<double>{1e5};
      },
      [] { return 1e6; },
      {.throttled = [&] { return std::string(++asked == 2 ? "heat" : ""); }, .pass_turn = nullptr});
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(sampled.blocks, 5u);
  EXPECT_EQ(sampled.throttled_blocks, 1u);
  EXPECT_EQ(sampled.throttled_by, "heat");
  EXPECT_EQ(sampled.samples_ns.size(), 30u) << "kept";
  EXPECT_EQ(Trial(protocol(), [](int) { return 1e5; }).sampled.throttled_blocks, 0u);
}

TEST(Sampling, RestsForFourFifthsOfTheTime) {
  FakeTime time;
  double worked = 0, rested = 0, longest = 0, since_rest = 0;
  const Sampled sampled =
      take_samples(resting(protocol()), time.clock(),
                   [&] {
                     time.pass(1e5);
                     worked += 1e5;
                     longest = std::max(longest, since_rest += 1e5);
                     return std::vector<double>{1e5};
                   },
                   nullptr, {.throttled = nullptr, .pass_turn = nullptr, .rest = [&](double ns) {
                               time.pass(ns);
                               rested += ns;
                               since_rest = 0;
                             }});
  EXPECT_EQ(sampled.samples_ns.size(), 30u);
  EXPECT_TRUE(sampled.settled) << "the device is warm";
  EXPECT_LE(longest, 2e6);
  EXPECT_GE(rested, 4 * worked);
}

// Two rows on a machine that slows down as time goes by; the second takes twice the first's time.
TEST(Sampling, InTurnsADriftMeetsAllRowsAlike) {
  FakeTime time;
  std::string order;
  const auto row = [&](char name, double ns) {
    return Sampler{[&time, &order, name, ns] {
      const double drifted = ns * (1 + time.now() / 100e6);
      time.pass(drifted);
      order += name;
      return std::vector<double>{drifted};
    }};
  };
  Protocol how = protocol();
  how.stop.half_width = 0; // as long as the budget lasts
  how.stop.budget_ns = 50e6;
  const std::vector<Sampler> rows = {row('a', 1e5), row('b', 2e5)};
  const std::vector<Sampled> both = take_interleaved_samples(how, time.clock(), rows);
  ASSERT_EQ(both.size(), 2u);
  order.erase(0, order.find("ba") + 1); // the warm-ups
  EXPECT_EQ(order.substr(0, 28), "aaaaaaabbbbbbbaaaaaaabbbbbbb") << "six and one not counted";
  const auto ratio_of = [](const Sampled& a, const Sampled& b) {
    const std::size_t turns = std::min(a.block_medians_ns.size(), b.block_medians_ns.size());
    return judge::median(std::span(b.block_medians_ns).first(turns)) /
           judge::median(std::span(a.block_medians_ns).first(turns));
  };
  EXPECT_NEAR(ratio_of(both[0], both[1]), 2, 0.05);
  const Sampled first = take_samples(how, time.clock(), rows[0].sample, nullptr);
  const Sampled second = take_samples(how, time.clock(), rows[1].sample, nullptr);
  EXPECT_GT(ratio_of(first, second), 2.2)
      << "one after the other the drift is taken for a slow-down";
}

TEST(Sampling, InTurnsARowThatEmptiesTheCachesWastesNoSample) {
  FakeTime time;
  int samples = 0;
  const Sampler cold{[&] {
                       ++samples;
                       time.pass(1e5);
                       return std::vector<double>{1e5};
                     },
                     {},
                     true};
  const std::vector<Sampled> both =
      take_interleaved_samples(protocol(), time.clock(), {cold, cold});
  EXPECT_EQ(both[0].samples_ns.size(), 30u);
  const int warm_ups = 2 * 25;
  EXPECT_EQ(samples, warm_ups + 60);
}

// One process of several: 5 ms per sample, and others that take 20 ms in between.
TEST(Sampling, InTurnsEachBlockIsATurnAndTheFirstSampleAfterItIsNotCounted) {
  FakeTime time;
  bool switched = false;
  int passed = 0, samples = 0;
  const Sampled sampled = take_samples(
      interleaved(brief(host_protocol())), time.clock(),
      [&] {
        ++samples;
        const double ns = 5e6 + 1e3 * samples;
        time.pass(std::exchange(switched, false) ? 9e6 : ns);
        return std::vector<double>{ns};
      },
      [] { return 1e6; }, {.throttled = nullptr, .pass_turn = [&] {
                             ++passed;
                             switched = true;
                             time.pass(20e6);
                           }});
  EXPECT_EQ(sampled.block_medians_ns, sampled.samples_ns) << "one sample is longer than a block";
  EXPECT_EQ(sampled.blocks, 9u) << "45 ms of samples; what is not counted does not count there";
  EXPECT_EQ(passed, 8) << "between blocks";
  EXPECT_EQ(std::adjacent_find(sampled.samples_ns.begin(), sampled.samples_ns.end(),
                               [](double a, double b) { return b - a < 1.5e3; }),
            sampled.samples_ns.end())
      << "every other sample is not counted";
}

TEST(Sampling, InTurnsQuickRowsHaveWholeBlocks) {
  const Trial trial(interleaved(brief(host_protocol())), [](int i) { return i % 2 ? 10e3 : 20e3; });
  EXPECT_EQ(trial.sampled.blocks, 15u);
  EXPECT_EQ(trial.sampled.block_medians_ns, std::vector<double>(15, 15e3));
}

TEST(Sampling, WithoutACanaryThereAreSamplesAlone) {
  FakeTime time;
  const Sampled sampled = take_samples(
      protocol(), time.clock(),
      [&] {
        time.pass(1e5);
        return std::vector<double>{1e5};
      },
      nullptr);
  EXPECT_EQ(sampled.samples_ns, std::vector<double>(30, 1e5));
  EXPECT_TRUE(sampled.canaries_ns.empty());
}

TEST(Sampling, BrieflyARowTakesFortyMilliseconds) {
  // A noisy row of 100 us beside canaries of 1 ms, as on a host.
  const Trial trial(brief(host_protocol()), [](int i) { return i % 2 ? 0.8e5 : 1.2e5; });
  EXPECT_EQ(trial.sampled.stop, judge::Stop::budget);
  EXPECT_EQ(trial.sampled.canaries_ns.size(), 11u);
  EXPECT_LE(trial.time.now(), 70e6) << "warm-up and canaries included";
  EXPECT_GE(trial.time.now(), 50e6);
}

TEST(Sampling, BrieflyAQuietRowTakesThirtySamplesAndSixCanaries) {
  const Trial trial(brief(host_protocol()), [](int) { return 1e5; });
  EXPECT_EQ(trial.sampled.samples_ns.size(), 30u);
  EXPECT_EQ(trial.sampled.canaries_ns.size(), 6u);
}

TEST(SteadyClock, CountsNanosecondsForward) {
  const Clock now = steady_clock();
  const double before = now();
  EXPECT_GE(now(), before);
  EXPECT_GT(before, 0);
}

} // namespace
} // namespace kg::perf
