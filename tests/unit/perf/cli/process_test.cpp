// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that end, stop or spoil the process they are measured in cost themselves alone.
#include "tests/unit/perf/cli/world.h"

#include "perf/cli/journal.h"
#include "perf/judge/result.h"
#include "perf/measure/turns.h"
#include "runtime/error.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kBad = "copy.f32.n128 plain";

class CliProcess : public testing::Test {
 protected:
  Outcome measure(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"run", "--json", json.string(), "--source-id", "abc"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = cli(arguments);
    if (std::filesystem::exists(json)) run = judge::load_results(json);
    return outcome;
  }

  judge::Measured bad() const {
    const auto row = std::find_if(run.rows.begin(), run.rows.end(), [](const auto& measured) {
      return measured.key.case_id + " " + measured.key.variant == kBad;
    });
    require(row != run.rows.end(), "the bad row is missing");
    return *row;
  }

  void expect_others_measured(std::size_t processes) const {
    EXPECT_EQ(run.rows.size(), 9u);
    for (const judge::Measured& row : run.rows)
      if (row.key != bad().key) {
        EXPECT_EQ(row.process_medians_ns, std::vector<double>(processes, 1e5))
            << judge::text(row.key) << ": " << row.verified;
      }
  }

  std::ptrdiff_t tries() {
    const std::vector<std::string> made = cli.made();
    return std::count(made.begin(), made.end(), kBad);
  }

  Cli cli;
  std::filesystem::path json = cli.folder.path() / "run.json";
  judge::Results run;
};

TEST_F(CliProcess, ARowThatCrashesCostsItselfAlone) {
  cli.behaviour.crashes = kBad;
  const Outcome outcome = measure({"--processes", "2", "--shuffle", "3"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(bad().verified, "its process ended by signal 11 (SIGSEGV) while measuring it");
  EXPECT_EQ(bad().tags.at("failure"), "crash");
  EXPECT_THAT(outcome.err, HasSubstr("ended by signal 11 (SIGSEGV)"));
  EXPECT_EQ(tries(), 1) << "what ended a process is not tried again";
  expect_others_measured(2);
}

TEST_F(CliProcess, OfASingleOperation) {
  cli.behaviour.crashes = kBad;
  EXPECT_EQ(measure({"--op", "copy", "--dtype", "f32"}).exit_code, 1);
  EXPECT_EQ(run.rows.size(), 4u);
  EXPECT_THAT(bad().verified, HasSubstr("SIGSEGV"));
}

TEST_F(CliProcess, ACrashFailsTheGateAndIsNotBlessed) {
  cli.behaviour.crashes = kBad;
  EXPECT_EQ(cli({"bless"}).exit_code, 1);
  const Outcome gate = cli({"gate"});
  EXPECT_EQ(gate.exit_code, 1);
  EXPECT_THAT(gate.out,
              AllOf(HasSubstr("copy.f32.n128 plain real: invalid"),
                    HasSubstr("invalid: its process ended by signal 11"), HasSubstr("4 pass")));
}

TEST_F(CliProcess, ARowThatHangsIsKilled) {
  cli.behaviour.hangs = kBad;
  // Enough for every row that does not hang, on however busy a machine.
  const Outcome outcome = measure({"--row-timeout", "3"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(bad().verified,
              AllOf(HasSubstr("not done after 3 s"), HasSubstr("--row-timeout gives it longer")));
  EXPECT_EQ(bad().tags.at("failure"), "timeout");
  expect_others_measured(1);
}

TEST_F(CliProcess, BehindARowThatSpoilsTheDeviceANewProcessGoesOn) {
  cli.behaviour.loses_device = kBad;
  const Outcome outcome = measure();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(bad().verified, "before timing: an illegal address was used");
  EXPECT_EQ(bad().tags.at("failure"), "device_lost");
  EXPECT_EQ(tries(), 1);
  expect_others_measured(1);
}

TEST_F(CliProcess, WithoutProcessesTheRowsBehindItFailForItsSake) {
  cli.behaviour.loses_device = kBad;
  EXPECT_EQ(measure({"--in-process"}).exit_code, 1);
  ASSERT_EQ(run.rows.size(), 9u);
  EXPECT_THAT(run.rows.back().verified, HasSubstr("an earlier row left the device unusable"));
  EXPECT_EQ(cli({"run", "--in-process", "--processes", "2"}).exit_code, 2);
}

TEST_F(CliProcess, ARowThatFindsNoMemoryIsSkippedForThatReason) {
  cli.behaviour.exhausts = kBad;
  const Outcome outcome = measure({"--processes", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("skipped: there is not enough memory for it"));
  EXPECT_EQ(bad().tags.at("failure"), "out_of_memory");
  expect_others_measured(2);
  EXPECT_EQ(measure({"--case", "copy.f32.n128", "--variant", "plain"}).exit_code, 77);
  EXPECT_EQ(measure({"--case", "copy.f32.n128", "--variant", "plain", "--strict"}).exit_code, 1);
}

// A library's rows inform, so that fewer processes are enough; not those that ours take turns with.
TEST_F(CliProcess, ALibrarysRowsAreMeasuredInFewerWhereThatIsAskedFor) {
  for (const bool interleaved : {false, true}) {
    cli.behaviour.interleaved = interleaved;
    measure({"--op", "copy", "--dtype", "f32", "--processes", "3", "--library-rounds", "2"});
    ASSERT_EQ(run.rows.size(), 4u);
    for (const judge::Measured& row : run.rows) {
      const bool informs = row.kind == judge::Kind::vendor && !interleaved;
      EXPECT_EQ(row.process_medians_ns.size(), informs ? 2u : 3u) << judge::text(row.key);
    }
  }
}

TEST_F(CliProcess, AnOperationWhoseProcessCannotBeginFailsRowByRow) {
  cli.executable = "/bin/false";
  const Outcome outcome = measure({"--op", "copy"});
  EXPECT_EQ(outcome.exit_code, 1);
  ASSERT_EQ(run.rows.size(), 8u);
  for (const judge::Measured& row : run.rows)
    EXPECT_THAT(row.verified, HasSubstr("with exit code 1 before it measured anything"));
}

TEST_F(CliProcess, MeasuresBrieflyWhereTheEnvironmentSaysSo) {
  cli.behaviour.copy_ns = 10e6;
  measure({"--op", "fill"});
  ASSERT_EQ(run.rows.size(), 1u);
  EXPECT_EQ(run.rows[0].samples_ns.size(), 26u) << "a quarter of a second";
  setenv("KERNELGRADE_BRIEF", "1", 1);
  measure({"--op", "fill"});
  unsetenv("KERNELGRADE_BRIEF");
  ASSERT_EQ(run.rows.size(), 1u);
  EXPECT_EQ(run.rows[0].samples_ns.size(), 8u) << "the fewest, since the budget is spent by then";
}

TEST_F(CliProcess, ThatTakesTurnsRunsNoCanaries) {
  hand_down(cli.behaviour);
  const std::vector<std::string> command = {cli.executable, "run", "--json", json.string(),
                                            "--source-id",  "a",   "--op",   "fill"};
  const std::vector<perf::Finished> finished = perf::run_interleaved({command}, nullptr);
  ASSERT_EQ(finished.at(0).exit_code, 0);
  const judge::Measured row = judge::load_results(json).rows.at(0);
  EXPECT_THAT(row.turn_medians_ns, testing::Not(testing::IsEmpty()));
  EXPECT_FALSE(row.canary.has_value());
  EXPECT_EQ(row.process_medians_ns, std::vector<double>(1, 1e5));
}

TEST_F(CliProcess, WhatACallHasInItsTimesStandsInItsRows) {
  cli.behaviour.note = "the call waits";
  EXPECT_EQ(measure({"--case", "copy.f32.n64"}).exit_code, 0);
  EXPECT_EQ(run.rows.size(), 2u);
  for (const judge::Measured& row : run.rows)
    EXPECT_EQ(row.note, row.kind == judge::Kind::vendor ? "the call waits" : "");
}

TEST_F(CliProcess, RowsThatTookTurnsSaySo) {
  cli.behaviour.interleaved = true;
  EXPECT_EQ(measure({"--op", "copy"}).exit_code, 0);
  EXPECT_EQ(run.rows.size(), 8u);
  for (const judge::Measured& row : run.rows)
    EXPECT_EQ(row.tags.at("protocol"),
              row.key.variant == "lib" ? "interleaved with plain" : "interleaved with lib")
        << judge::text(row.key);
  EXPECT_EQ(measure({"--case", "copy.f32.n64", "--variant", "lib"}).exit_code, 0);
  EXPECT_FALSE(run.rows.at(0).tags.contains("protocol")) << "alone";
}

TEST_F(CliProcess, OfRowsThatTakeTurnsACrashOrALostDeviceCostsItsOwn) {
  cli.behaviour.interleaved = true;
  cli.behaviour.crashes = kBad;
  EXPECT_EQ(measure().exit_code, 1);
  EXPECT_THAT(bad().verified, HasSubstr("SIGSEGV"));
  expect_others_measured(1);
  cli.behaviour.crashes.clear();
  cli.behaviour.loses_device = kBad;
  EXPECT_EQ(measure().exit_code, 1);
  EXPECT_EQ(bad().tags.at("failure"), "device_lost");
  expect_others_measured(1);
}

TEST(Journal, KeepsWhatEndedAndNamesWhatDidNot) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "journal";
  EXPECT_TRUE(read_journal(path).ended.empty()) << "no file yet";
  judge::Measured first, second;
  first.key = {"copy.f32.n64", "plain", judge::Mode::real};
  second.key = {"copy.f32.n64", "lib", judge::Mode::real};
  first.verified = second.verified = "not measured\nyet";
  {
    Journal journal(path);
    journal.begins({{{"cpu", "x"}}, {first}});
    journal.ends({{{"cpu", "x"}}, {first}});
    journal.waits();
    journal.begins({{{"cpu", "x"}}, {second}});
    const auto size = std::filesystem::file_size(path);
    journal.waits();
    EXPECT_GT(std::filesystem::file_size(path), size) << "by which a watch sees that it is alive";
  }
  std::ofstream(path, std::ios::app) << "{\"schema\":1,"; // it died while it wrote this
  const Journaled found = read_journal(path);
  ASSERT_EQ(found.ended.size(), 1u);
  EXPECT_EQ(found.ended[0].rows.at(0), first);
  EXPECT_EQ(found.ended[0].environment.at("cpu"), "x");
  EXPECT_EQ(found.begun.value().rows.at(0), second);
  EXPECT_GT(found.after_lines, found.after_ended);
  EXPECT_GT(std::filesystem::file_size(path), found.after_lines) << "the half line";
  const Journaled later = read_journal(path, found.after_ended);
  EXPECT_TRUE(later.ended.empty());
  EXPECT_EQ(later.begun.value().rows.at(0), second);
  EXPECT_THROW(Journal("/no/such/folder/journal"), Error);
}

// Rows that take turns are set up before the first of them ends.
TEST(Journal, OfSeveralThatBeganTheLastIsTheOneThatDidNotEnd) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "journal";
  judge::Measured first, second;
  first.key = {"gemm.f32.n64", "mma", judge::Mode::real};
  second.key = {"gemm.f32.n64", "lib", judge::Mode::real};
  first.verified = second.verified = "not measured";
  Journal journal(path);
  journal.begins({{}, {first}});
  journal.begins({{}, {second}});
  Journaled found = read_journal(path);
  EXPECT_TRUE(found.ended.empty());
  EXPECT_EQ(found.begun.value().rows.at(0), second);
  journal.ends({{}, {first}});
  journal.ends({{}, {second}});
  found = read_journal(path);
  ASSERT_EQ(found.ended.size(), 2u);
  EXPECT_EQ(found.ended[0].rows.at(0), first);
  EXPECT_EQ(found.ended[1].rows.at(0), second);
  EXPECT_FALSE(found.begun.has_value());
}

} // namespace
} // namespace kg::cli::test
