// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A run that is killed loses the row it was measuring, and goes on where it stopped; what it holds
// is blessed on a machine that has no device.
#include "tests/unit/perf/cli/world.h"

#include "perf/cli/incremental_results.h"
#include "perf/cli/stored_runs.h"
#include "perf/judge/result.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CliResume : public testing::Test {
 protected:
  std::vector<std::string> command(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"run", "--json", json.string(), "--source-id", "abc"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Outcome run(std::vector<std::string> more) { return cli(command(std::move(more))); }

  // Starts the command on a row that hangs and kills it there, once its file holds so many rows; a
  // half-written line stays behind the others.
  void kill_at(const std::string& row, std::vector<std::string> more, std::size_t in_file = 0) {
    cli.behaviour.hangs = row;
    if (cli.behaviour.made.empty()) cli.behaviour.made = cli.folder.path() / "made";
    hand_down(cli.behaviour);
    std::vector<std::string> started = command(std::move(more));
    started.insert(started.begin(), cli.executable);
    started.push_back("--quiet");
    const pid_t process = perf::start_process(started);
    const auto hangs = [&] {
      const Journaled journal = read_journal(journal_beside(json));
      return journal.begun && name(journal.begun->rows.at(0).key) == row &&
             (in_file == 0 ||
              (std::filesystem::exists(json) && judge::load_results(json).rows.size() >= in_file));
    };
    while (!hangs()) {
      // On a machine that stood still for a while the row may have been given up.
      ASSERT_FALSE(has_ended(process)) << "before it came to " << row;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(process, SIGKILL);
    perf::wait_process(process);
    cli.behaviour.hangs.clear();
    std::ofstream(journal_beside(json), std::ios::app) << "{\"schema\":1,";
  }

  static bool has_ended(pid_t process) {
    siginfo_t ended = {};
    return waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == process;
  }

  static std::string name(const judge::RowKey& key) { return key.case_id + " " + key.variant; }

  // Of the rows that are stored, by how many processes each was measured.
  std::map<std::string, std::size_t> stored() const {
    std::map<std::string, std::size_t> rows;
    for (const judge::Measured& row : load_runs({json}).rows)
      rows[name(row.key)] = row.process_medians_ns.size();
    return rows;
  }

  Cli cli;
  std::filesystem::path json = cli.folder.path() / "run.json";
};

TEST_F(CliResume, KilledAtAnyRowLosesThatRowAlone) {
  ASSERT_EQ(run({}).exit_code, 0);
  const std::vector<std::string> all = cli.made();
  ASSERT_EQ(all.size(), 9u);
  for (std::size_t at = 0; at < all.size(); ++at) {
    std::filesystem::remove(json);
    kill_at(all[at], {});
    cli.made();
    if (at > 0) {
      EXPECT_EQ(stored().size(), at) << "every row before it";
    }
    EXPECT_EQ(run({"--resume"}).exit_code, 0);
    EXPECT_EQ(cli.made(),
              std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(at), all.end()))
        << "no row is measured twice";
    EXPECT_EQ(stored().size(), all.size());
    EXPECT_FALSE(std::filesystem::exists(journal_beside(json)));
  }
}

TEST_F(CliResume, TheFileGrowsWhileRowsAreMeasured) {
  kill_at("fill.f32.n64 plain", {}, 1); // waits for it
  EXPECT_LE(judge::load_results(json).rows.size(), stored().size()) << "the journal has more";
  EXPECT_EQ(stored().size(), 8u);
}

TEST_F(CliResume, KilledInALaterRoundEveryRowGetsAllItsProcesses) {
  ASSERT_EQ(run({"--rounds", "1"}).exit_code, 0);
  kill_at("copy.f16.n64 lib", {"--rounds", "3", "--resume"});
  cli.made();
  EXPECT_EQ(run({"--rounds", "3", "--resume"}).exit_code, 0);
  for (const auto& [row, processes] : stored()) EXPECT_EQ(processes, 3u) << row;
  EXPECT_LE(cli.made().size(), 18u);
}

TEST_F(CliResume, KeepsWhatAnotherSelectionMeasured) {
  ASSERT_EQ(run({"--op", "copy"}).exit_code, 0);
  cli.made();
  ASSERT_EQ(run({"--resume"}).exit_code, 0);
  EXPECT_EQ(cli.made(), std::vector<std::string>{"fill.f32.n64 plain"});
  ASSERT_EQ(run({"--op", "fill", "--resume"}).exit_code, 0);
  EXPECT_TRUE(cli.made().empty());
  EXPECT_EQ(stored().size(), 9u);
}

TEST_F(CliResume, DoesNotTryAgainWhatEndedItsProcess) {
  cli.behaviour.crashes = "copy.f32.n128 plain";
  EXPECT_EQ(run({}).exit_code, 1);
  cli.made();
  EXPECT_EQ(run({"--resume", "--rounds", "2"}).exit_code, 1);
  EXPECT_THAT(cli.made(), testing::Not(testing::Contains("copy.f32.n128 plain")));
}

TEST_F(CliResume, OfAnotherBuildIsRefused) {
  ASSERT_EQ(run({"--op", "fill"}).exit_code, 0);
  const Outcome other = cli({"run", "--resume", "--json", json.string(), "--source-id", "def"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("source is 'abc'; here it is 'def'; give --json another file"));
  const Outcome dirty =
      cli({"run", "--resume", "--json", json.string(), "--source-id", "abc-dirty"});
  EXPECT_THAT(dirty.err, HasSubstr("uncommitted changes"));
  EXPECT_EQ(cli({"run", "--resume"}).exit_code, 2) << "no file to go on with";
  EXPECT_EQ(run({"--resume", "--shard", "1/2"}).exit_code, 1);
}

class CliBlessFrom : public CliResume {
 protected:
  Outcome bless(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"bless", "--from", json.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  }
  void replace(const std::string& piece, const std::string& replacement) {
    std::string contents = read_file(json).value();
    const std::size_t at = contents.find(piece);
    ASSERT_NE(at, contents.npos) << piece;
    write_file(json, contents.replace(at, piece.size(), replacement));
  }
};

TEST_F(CliBlessFrom, AStoredRunBecomesWhatMeasuringWouldHaveWritten) {
  ASSERT_EQ(cli({"bless", "--source-id", "abc", "--json", json.string()}).exit_code, 0);
  const std::string measured = read_file(cli.csv("copy")).value();
  const std::string device = read_file(cli.baselines() / "host" / "device.json").value();
  std::filesystem::remove_all(cli.baselines());
  cli.no_device = "there is none";
  const Outcome outcome = bless();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(read_file(cli.csv("copy")).value(), measured);
  EXPECT_EQ(read_file(cli.baselines() / "host" / "device.json").value(), device);
}

TEST_F(CliBlessFrom, RefusesWhatMeasuringWouldHaveRefused) {
  ASSERT_EQ(run({"--op", "fill", "--rounds", "2"}).exit_code, 0);
  const Outcome few = bless();
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_THAT(few.out, HasSubstr("it was measured in 2 processes; a row that can fail takes 5"));
  ASSERT_EQ(run({"--op", "fill", "--shape", "n77", "--rounds", "5"}).exit_code, 0);
  EXPECT_THAT(bless().out, HasSubstr("its shape is not listed"));
  EXPECT_FALSE(std::filesystem::exists(cli.csv("fill")));
}

TEST_F(CliBlessFrom, JudgesByTheDeviceThatMeasured) {
  ASSERT_EQ(run({"--op", "fill", "--rounds", "5"}).exit_code, 0);
  replace("\"backend\":\"host\"", "\"backend\":\"cuda\"");
  replace("\"device\":\"host\"", "\"device\":\"nvidia-h200\"");
  EXPECT_THAT(bless().out,
              HasSubstr("it was measured in 5 processes; a row that can fail takes 10"));
  EXPECT_EQ(bless({"--status", "info"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(cli.baselines() / "nvidia-h200" / "fill.csv"));
  EXPECT_THAT(read_file(cli.baselines() / "nvidia-h200" / "device.json").value(),
              HasSubstr("nvidia-h200"));
}

TEST_F(CliBlessFrom, ASourceThatIsNoCommitIsRefused) {
  ASSERT_EQ(run({"--op", "fill", "--rounds", "5"}).exit_code, 0);
  replace("\"source\":\"abc\"", "\"source\":\"abc-dirty\"");
  EXPECT_THAT(bless().err, HasSubstr("uncommitted changes"));
  replace("\"source\":\"abc-dirty\"", "\"source\":\"unknown\"");
  EXPECT_THAT(bless().err, HasSubstr("do not say which source"));
  EXPECT_EQ(bless({"--op", "fill"}).exit_code, 2) << "all that the files hold is judged";
  EXPECT_FALSE(std::filesystem::exists(cli.csv("fill")));
}

} // namespace
} // namespace kg::cli::test
