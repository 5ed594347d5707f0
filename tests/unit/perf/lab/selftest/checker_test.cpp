// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The experiments on an invented machine: what is measured beside what, what is counted, and when
// it ends.
#include "perf/lab/selftest/checker.h"

#include "perf/measure/injection.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace kg::selftest {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

judge::RowKey key_of(int row) {
  return {"copy.f32.n" + std::to_string(row), "tiled", judge::Mode::hot};
}

// Processes whose rows take 200 us, 0.2 % more or less, and what an injection adds.
struct Machine {
  struct Call {
    std::size_t arms, first, count, rows;
    std::vector<std::string> injections, brief;
    bool loaded;
    unsigned time_limit_s;
  };
  std::vector<Call> calls;
  std::vector<std::string> said;
  bool loaded = false;
  int broken_row = -1;      // no process can measure it
  std::size_t fails_at = 0; // the call of this number throws, counted from 1
  double now_ns = 0;        // a call takes a minute
  std::mt19937 random{20260117};

  judge::Results process(const ab::Arm& arm, const ab::RoundOptions& options) {
    const auto draw = [this] { return std::uniform_real_distribution<double>()(random); };
    const auto injection = perf::parse_injection(arm.environment.at(perf::kInjectVariable), draw);
    judge::Results run;
    for (const judge::RowKey& key : options.rows) {
      judge::Measured row;
      row.op = "copy";
      row.dtype = "f32";
      row.key = key;
      row.category = "layout";
      row.identity = "1f2e"; // all arms are one program
      if (broken_row >= 0 && key == key_of(broken_row)) {
        row.verified = "element 3 is 1, not 2";
        run.rows.push_back(row);
        continue;
      }
      const double centre = 2e5 * (injection ? 1 + injection->share : 1) *
                            std::exp(std::normal_distribution<double>(0, 0.002)(random));
      std::vector<double> samples;
      for (int i = 0; i < 30; ++i) samples.push_back(centre * (1 + 1e-4 * (i % 5)));
      judge::take_samples(row, samples);
      row.canary = judge::MeasuredCanary{judge::CanaryKind::memory, 1e6, 0.001};
      if (injection) row.tags[judge::kInjectedTag] = injection->text;
      run.rows.push_back(row);
    }
    return run;
  }

  Plan plan(int rows = 6) {
    Plan plan;
    plan.executable = "kernelgrade";
    for (int row = 0; row < rows; ++row)
      plan.rows.push_back({"copy", "f32", key_of(row), "layout"});
    plan.device = judge::Device::gpu;
    plan.device_name = "nvidia-h200";
    plan.backend = "cuda";
    plan.source = "1a2b";
    plan.run = [this](const std::vector<ab::Arm>& arms, std::size_t first, std::size_t count,
                      const ab::RoundOptions& options) {
      if (calls.size() + 1 == fails_at) throw Error("the machine is gone");
      Call call{arms.size(), first, count,  options.rows.size(),
                {},          {},    loaded, options.time_limit_s};
      for (const ab::Arm& arm : arms) {
        call.injections.push_back(arm.environment.at(perf::kInjectVariable));
        call.brief.push_back(arm.environment.contains("KERNELGRADE_BRIEF") ? "whole" : "brief");
      }
      calls.push_back(call);
      now_ns += 60e9;
      std::vector<std::vector<judge::Results>> rounds(count);
      for (std::vector<judge::Results>& round : rounds)
        for (const ab::Arm& arm : arms) round.push_back(process(arm, options));
      return rounds;
    };
    plan.load = [this]() -> std::shared_ptr<void> {
      loaded = true;
      return std::shared_ptr<void>(nullptr, [this](void*) { loaded = false; });
    };
    plan.now_utc = [] { return std::string("2026-11-21T08:00:00Z"); };
    plan.say = [this](const std::string& line) { said.push_back(line); };
    return plan;
  }

  Batch check(const std::vector<std::string>& words, int rows = 6) {
    Checker checker(plan(rows));
    return checker.check(parse_experiments(words).front());
  }
};

// "checked/flagged" of our rule in an experiment, all rows.
std::string ours(const std::vector<CalibrationRow>& counts, const std::string& experiment) {
  for (const CalibrationRow& row : counts)
    if (row.rule == kOurRule && row.rows == "all" && row.experiment == experiment)
      return std::to_string(row.rows_checked) + "/" + std::to_string(row.flagged);
  return "none";
}

TEST(Experiments, WordsAreTreatments) {
  const std::vector<Group> groups =
      parse_experiments({"load", "inject=3,10", "aa", "creep", "wild"});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].treatments.size(), 2u + 2u + 5u);
  EXPECT_EQ(groups[0].treatments[0].experiment, "aa"); // first: it is the rivals' reference
  EXPECT_EQ(groups[0].treatments[2].experiment, "inject_3");
  EXPECT_EQ(groups[0].treatments[8].step, 5);
  EXPECT_NEAR(groups[0].treatments[8].percent, 7.728, 1e-3);
  EXPECT_TRUE(groups[1].load);
  EXPECT_EQ(groups[2].noise, "wild:0.03");
  EXPECT_EQ(groups[2].treatments[1].experiment, "wild_inject_5");
}

TEST(Experiments, OtherWordsAreRefused) {
  EXPECT_THROW(parse_experiments({}), Error);
  EXPECT_THROW(parse_experiments({"ab"}), Error);
  EXPECT_THROW(parse_experiments({"aa", "aa"}), Error);
  EXPECT_THROW(parse_experiments({"inject=3", "inject=5"}), Error);
  EXPECT_THROW(parse_experiments({"inject="}), Error);
  EXPECT_THROW(parse_experiments({"inject=3,0"}), Error);
}

TEST(Checker, UnchangedRowsAreCheckedTwiceAndOnceForRivals) {
  Machine machine;
  const Batch batch = machine.check({"aa"});
  ASSERT_EQ(batch.rows.size(), 6u);
  EXPECT_EQ(batch.rows[0].blessed.size(), 10u);
  EXPECT_EQ(batch.rows[0].reference.size(), 5u);
  EXPECT_EQ(batch.rows[0].checks.size(), 2u);
  const std::vector<CalibrationRow> counts = tally(batch);
  EXPECT_EQ(ours(counts, "aa"), "12/0");
  const auto rival = std::find_if(counts.begin(), counts.end(), [](const CalibrationRow& row) {
    return row.rule == "fixed_5" && row.rows == "from_100us";
  });
  ASSERT_NE(rival, counts.end());
  EXPECT_EQ(rival->rows_checked, 6u);
  ASSERT_GE(machine.calls.size(), 2u);
  EXPECT_EQ(machine.calls[0].count, 10u); // bless
  EXPECT_THAT(machine.calls[0].brief, ElementsAre("whole"));
  EXPECT_EQ(machine.calls[1].arms, 2u); // screen
  EXPECT_EQ(machine.calls[1].count, 5u);
}

TEST(Checker, SlowerRowsAreConfirmedSideBySide) {
  Machine machine;
  const Batch batch = machine.check({"inject=10,20"});
  const std::vector<CalibrationRow> counts = tally(batch);
  EXPECT_EQ(ours(counts, "inject_10"), "6/6");
  EXPECT_EQ(ours(counts, "inject_20"), "6/6");
  ASSERT_EQ(machine.calls.size(), 3u);
  EXPECT_THAT(machine.calls[2].injections, ElementsAre("0", "0", "10", "20")); // a, control, b, b
  EXPECT_THAT(machine.calls[2].brief, Contains("brief").Times(4));
  EXPECT_EQ(machine.calls[2].count, 12u);
  EXPECT_EQ(batch.rows[0].checks[0].rounds.a_ns.size(), 12u);
  EXPECT_GT(batch.rows[0].checks[0].rounds.b_ns[0], 1.05 * batch.rows[0].checks[0].rounds.a_ns[0]);
  EXPECT_NEAR(batch.rows[0].checks[0].rounds.control_ns[0], 2e5, 4e3);
}

TEST(Checker, ACreepIsOneCheckOfEachRow) {
  Machine machine;
  EXPECT_EQ(ours(tally(machine.check({"creep"})), "creep"), "6/6");
}

TEST(Checker, NoiseIsInEveryProcess) {
  Machine machine;
  machine.check({"bimodal"});
  EXPECT_THAT(machine.calls[0].injections, ElementsAre("0,bimodal:6"));
  EXPECT_THAT(machine.calls[1].injections,
              ElementsAre("0,bimodal:6", "5,bimodal:6", "10,bimodal:6"));
  EXPECT_THAT(machine.said, testing::Not(Contains(HasSubstr("left out"))));
}

TEST(Checker, LoadIsThereWhileScreeningAndNotWhileBlessing) {
  Machine machine;
  machine.check({"load"});
  ASSERT_GE(machine.calls.size(), 2u);
  EXPECT_FALSE(machine.calls[0].loaded);
  EXPECT_TRUE(machine.calls[1].loaded);
  EXPECT_FALSE(machine.loaded);
}

TEST(Checker, ABusyMachineMeasuresFewRowsBrieflyAndSaysHowMuch) {
  Machine machine;
  const Batch batch = machine.check({"load"}, 8);
  ASSERT_EQ(batch.rows.size(), 4u);
  EXPECT_EQ(batch.rows[1].key, key_of(2)) << "spread over all";
  EXPECT_EQ(machine.calls[0].rows, 4u);
  EXPECT_THAT(machine.calls[0].brief, ElementsAre("whole")) << "blessed while nothing is busy";
  EXPECT_THAT(machine.calls[1].brief, ElementsAre("brief"));
  EXPECT_EQ(machine.calls[0].time_limit_s, 60u);
  EXPECT_THAT(machine.said, Contains("load: 4 rows, at most 135 processes in a batch, each ended "
                                     "after 60 s"));
}

TEST(Checker, ABriefPlanScreensBriefly) {
  Machine machine;
  Plan plan = machine.plan();
  plan.brief = true;
  Checker(plan).check(parse_experiments({"aa"}).front());
  EXPECT_THAT(machine.calls[0].brief, ElementsAre("whole"));
  EXPECT_THAT(machine.calls[1].brief, ElementsAre("brief", "brief"));
  EXPECT_GT(machine.calls[1].time_limit_s, 60u);
}

TEST(Checker, ABaselineServesSeveralBatches) {
  Machine machine;
  Plan plan = machine.plan();
  plan.batches_per_bless = 2;
  Checker checker(plan);
  const std::vector<Group> groups = parse_experiments({"inject=20"});
  for (int batch = 0; batch < 3; ++batch) checker.check(groups.front());
  EXPECT_EQ(std::count_if(machine.calls.begin(), machine.calls.end(),
                          [](const Machine::Call& call) { return call.count == 10; }),
            2);
}

TEST(Checker, RowsThatFailAreLeftOutAndSaid) {
  Machine machine;
  machine.broken_row = 2;
  const Batch batch = machine.check({"aa"});
  EXPECT_EQ(batch.rows.size(), 5u);
  EXPECT_THAT(machine.said, Contains(HasSubstr("left out: copy.f32.n2 tiled hot: element 3")));
  machine.broken_row = 0;
  EXPECT_THROW(machine.check({"aa"}, 1), Error);
}

struct Batches {
  std::vector<Batch> all;

  void operator()(Machine& machine, const std::vector<std::string>& words, Limits limits) {
    Checker checker(machine.plan());
    run_batches(
        checker, parse_experiments(words), limits, [&] { return machine.now_ns; },
        [this](const Batch& batch) { all.push_back(batch); });
  }
};

TEST(RunBatches, EndsWhenEveryExperimentHasItsChecks) {
  Machine machine;
  Batches run;
  run(machine, {"inject=20", "load"}, {13, 0}); // 6 and 4 a batch
  EXPECT_EQ(run.all.size(), 3u + 4u);
}

TEST(RunBatches, WithoutLimitsEachGroupHasOneBatch) {
  Machine machine;
  Batches run;
  run(machine, {"inject=20", "load"}, {});
  EXPECT_EQ(run.all.size(), 2u);
}

TEST(RunBatches, BeginsNoBatchThatWouldEndTooLate) {
  // Bless, screen, confirm: 3 minutes; later ones 2 until the next bless. After 3 + 2 + 2 = 7
  // minutes another 3 would end at 10, which is allowed; after 9 it would not be.
  Machine machine;
  Batches run;
  run(machine, {"inject=20"}, {0, 11.5});
  EXPECT_EQ(run.all.size(), 4u);
  EXPECT_EQ(machine.now_ns, 9 * 60e9);
}

TEST(RunBatches, AnInterruptionLosesNoFinishedBatch) {
  Machine machine;
  machine.fails_at = 6;
  Batches run;
  EXPECT_THROW(run(machine, {"inject=20"}, {1000, 0}), Error);
  EXPECT_EQ(run.all.size(), 2u);
}

} // namespace
} // namespace kg::selftest
