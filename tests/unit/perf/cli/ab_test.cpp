// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparing with another commit end to end. The commits are of a project that builds this program
// with other times: see test_main.cpp.
#include "tests/unit/perf/cli/world.h"

#include "perf/measure/child_process.h"
#include "runtime/error.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProject = R"cmake(
cmake_minimum_required(VERSION 3.25)
project(Reference NONE)
add_custom_target(kernelgrade COMMAND mkdir -p perf
  COMMAND install ${CMAKE_SOURCE_DIR}/kernelgrade.sh perf/kernelgrade)
)cmake";

// {}: this program, what every row takes, and what becomes of the list.
constexpr const char* kScript = R"sh(#!/bin/sh
unset CLI_TEST_WRONG
case $1 in
  list) '{0}' "$@" | {2} ;;
  *) CLI_TEST_COPY_NS={1} exec '{0}' "$@" ;;
esac
)sh";

class CliAb : public testing::Test {
 protected:
  void SetUp() override {
    in_tree("git init -q . && echo /build/ >.gitignore");
    write_file(file("build/CMakeCache.txt"), "CMAKE_GENERATOR:INTERNAL=Ninja\n");
    write_file(file("CMakeLists.txt"), kProject);
  }
  void TearDown() override { unsetenv("CLI_TEST_WRONG"); }

  std::filesystem::path file(const char* name) const { return cli.folder.path() / name; }
  void in_tree(const std::string& script) const {
    const perf::Finished finished =
        perf::run_process({"sh", "-c", "cd \"$1\" && " + script, "sh", cli.folder.path().string()},
                          perf::Output::capture);
    require(finished.exit_code == 0, script + " failed");
  }
  // Commits a reference of these times.
  void commit(double copy_ns, const std::string& list = "cat") {
    write_file(file("kernelgrade.sh"),
               fmt::format(kScript, perf::this_executable().string(), copy_ns, list));
    in_tree("git add -A && git -c user.name=t -c user.email=t@t commit -q -m reference");
  }
  Outcome ab(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(),
                     {"ab", "--base", "HEAD", "--pairs", "20", "--op", "fill", "--quiet"});
    return cli(arguments);
  }

  Cli cli;
};

TEST_F(CliAb, PassesWhatIsAsFastAsTheReference) {
  commit(1e5);
  const Outcome outcome = ab();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("again:")));
}

TEST_F(CliAb, ShowsBothTimesAndTheRounds) {
  commit(1.25e5);
  const Outcome outcome = cli({"ab", "--base", "HEAD", "--pairs", "20", "--op", "fill"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("fill.f32.n64 plain real"), HasSubstr("125 us"),
                                 HasSubstr("100 us"), HasSubstr("1.250"), HasSubstr("improved")));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("building commit"), HasSubstr("round 6 of 6"),
                                 Not(HasSubstr("round 7"))))
      << "what the first look decides is not measured again";
}

TEST_F(CliAb, FailsWhatIsSlowerAndSaysHowToSeeItAgain) {
  commit(0.9e5);
  const std::string json = file("build/ab.json");
  const Outcome outcome = ab({"--json", json});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("fill.f32.n64 plain real: regressed: "), HasSubstr("ratio 0.900"),
                    HasSubstr("again: kernelgrade ab --base HEAD --op fill")));
  const auto row = nlohmann::json::parse(read_file(json).value()).at("rows").at(0);
  EXPECT_EQ(row.at("verdict"), "regressed");
  EXPECT_EQ(row.at("a_ns"), std::vector<double>(6, 0.9e5));
  EXPECT_EQ(row.at("b_ns"), std::vector<double>(6, 1e5));
}

TEST_F(CliAb, BuildsOnlyTheOperationsThatItCompares) {
  write_file(file("CMakeLists.txt"), std::string(kProject) + R"cmake(
if(NOT KERNELGRADE_OPS STREQUAL "fill")
  message(FATAL_ERROR "operations: '${KERNELGRADE_OPS}'")
endif()
)cmake");
  commit(1e5);
  const Outcome outcome = ab();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(CliAb, ToleratesWhatItIsTold) {
  commit(0.9e5);
  EXPECT_EQ(ab({"--tol-pct", "15"}).exit_code, 0);
}

TEST_F(CliAb, AWrongResultFails) {
  commit(1e5);
  setenv("CLI_TEST_WRONG", "1", 1);
  const Outcome outcome = ab();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("invalid: this build: before timing: element 5 is 1, not 2"));
}

TEST_F(CliAb, RowsOfOneSideAreListedAndDoNotFail) {
  commit(1e5, "sed s/fill/old/");
  const Outcome outcome = ab();
  EXPECT_EQ(outcome.exit_code, 77);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("fill.f32.n64 plain real: not compared: HEAD has no such row"),
                    HasSubstr("old.f32.n64 plain real: not compared: only HEAD has this row")));
  EXPECT_EQ(ab({"--strict"}).exit_code, 1);
}

TEST_F(CliAb, ABaseThatIsNoCommitIsAMistake) {
  commit(1e5);
  const Outcome outcome = cli({"ab", "--base", "v9", "--op", "fill"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--base v9: "));
  EXPECT_EQ(cli({"ab", "--op", "fill"}).exit_code, 2) << "--base is missing";
}

TEST_F(CliAb, WithoutADeviceItSkipsUnlessStrict) {
  cli.no_device = "no NVIDIA driver";
  EXPECT_EQ(ab().exit_code, 77);
  EXPECT_EQ(ab({"--strict"}).exit_code, 1);
}

// Baselines of this commit; afterwards what the gate measures itself takes `screened_ns`, and what
// this build takes beside the reference is `confirmed_ns`.
class CliConfirm : public CliAb {
 protected:
  void SetUp() override {
    CliAb::SetUp();
    ASSERT_EQ(cli({"bless", "--op", "fill"}).exit_code, 0);
    commit(1e5);
  }
  void TearDown() override { unsetenv("CLI_TEST_COPY_NS"); }

  Outcome gate(double screened_ns, double confirmed_ns, std::vector<std::string> arguments = {}) {
    cli.behaviour.copy_ns = screened_ns;
    setenv("CLI_TEST_COPY_NS", std::to_string(confirmed_ns).c_str(), 1);
    arguments.insert(arguments.begin(), {"gate", "--op", "fill", "--quiet"});
    return cli(arguments);
  }
  Outcome confirmed(double screened_ns, double confirmed_ns,
                    std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--confirm", "auto"});
    return gate(screened_ns, confirmed_ns, arguments);
  }
};

TEST_F(CliConfirm, ARowThatIsSlowerThanItsCommitFails) {
  const Outcome outcome = confirmed(1.6e5, 1.6e5);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("fill.f32.n64 plain real: regressed: slower than"),
                                 HasSubstr("ratio 0.625"), HasSubstr("A is commit"),
                                 ContainsRegex("again: kernelgrade ab --base [0-9a-f]{12} --op")));
}

TEST_F(CliConfirm, AReportOfWhatItStoredConcludesTheSame) {
  const std::string json = cli.folder.path() / "gate.json", out = cli.folder.path() / "report";
  ASSERT_EQ(confirmed(1.6e5, 1.6e5, {"--json", json}).exit_code, 1);
  const Outcome outcome = cli({"report", json, "--op", "fill", "--out", out});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("fill.f32.n64 plain real: regressed: slower than"),
                                 HasSubstr("A is commit")));
  EXPECT_THAT(read_file(out + "/report.json").value(),
              AllOf(HasSubstr("\"confirmation\": {"), HasSubstr("\"ratio_hi\": 0.625")));
  ASSERT_EQ(gate(1.6e5, 1.6e5, {"--json", json}).exit_code, 77);
  EXPECT_THAT(cli({"report", json, "--op", "fill", "--out", out}).out, HasSubstr("1 undecided"));
  EXPECT_THAT(read_file(out + "/report.md").value(),
              AllOf(HasSubstr("inconclusive"), HasSubstr("--confirm auto")));
}

TEST_F(CliConfirm, ARowThatIsAsFastAsItsCommitDoesNot) {
  const Outcome outcome = confirmed(1.6e5, 1e5);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("A is commit"), Not(HasSubstr("regressed"))));
}

TEST_F(CliConfirm, ARowThatIsAsFastAsItsBaselineIsNotMeasuredAgain) {
  const Outcome outcome = confirmed(1e5, 9e9);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(file("build/ab"))) << "nothing was built";
}

// No default path builds another commit: not this command, and not CTest or ./grade, which run it.
TEST_F(CliConfirm, ConfirmsOnlyWhereItIsTold) {
  const std::vector<std::vector<std::string>> calls = {{}, {"--confirm", "never"}};
  for (const std::vector<std::string>& arguments : calls) {
    const Outcome outcome = gate(1.6e5, 1.6e5, arguments);
    EXPECT_EQ(outcome.exit_code, 77);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("inconclusive"), HasSubstr("--confirm auto")));
    EXPECT_FALSE(std::filesystem::exists(file("build/ab"))) << "another commit was built";
  }
  EXPECT_EQ(gate(1.6e5, 1.6e5, {"--strict"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(file("build/ab")));
  EXPECT_EQ(gate(1.6e5, 1.6e5, {"--confirm", "perhaps"}).exit_code, 2);
  setenv("KERNELGRADE_CONFIRM", "auto", 1);
  EXPECT_EQ(gate(1.6e5, 1.6e5).exit_code, 1);
  unsetenv("KERNELGRADE_CONFIRM");
  EXPECT_TRUE(std::filesystem::exists(file("build/ab")));
}

TEST_F(CliConfirm, WithoutTheCommitItSaysWhy) {
  cli.edit("fill", "first measurement", "another"); // the row is not committed
  const Outcome changed = confirmed(1.6e5, 1.6e5);
  EXPECT_EQ(changed.exit_code, 77);
  EXPECT_THAT(changed.out, AllOf(HasSubstr("inconclusive"), HasSubstr("fill.csv:2: the line is not "
                                                                      "committed yet")));
  EXPECT_EQ(confirmed(1.6e5, 1.6e5, {"--strict"}).exit_code, 1);
}

TEST_F(CliConfirm, ACommitThatCannotBeBuiltIsNoVerdict) {
  write_file(file("CMakeLists.txt"), "message(FATAL_ERROR \"no such compiler\")\n");
  cli.edit("fill", "first measurement", "second measurement");
  commit(1e5);
  const Outcome outcome = confirmed(1.6e5, 1.6e5);
  EXPECT_EQ(outcome.exit_code, 77);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("inconclusive"), HasSubstr("cannot be built"),
                                 Not(HasSubstr("no such compiler"))));
  EXPECT_THAT(outcome.err, HasSubstr("no such compiler"));
}

} // namespace
} // namespace kg::cli::test
