// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Choosing rows: options, files of options, and what is said when they are wrong.
#include "perf/judge/result.h"
#include "tests/unit/perf/cli/world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(CliList, ShowsEveryCaseWithItsVariantsAndModes) {
  Cli cli;
  const Outcome outcome = cli({"list"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("copy.f32.n64"), HasSubstr("copy.f16.n128"),
                                 HasSubstr("fill.f32.n64"), HasSubstr("plain lib*"),
                                 HasSubstr("5 cases, 9 rows")));
  EXPECT_EQ(cli.made(), std::vector<std::string>());
}

TEST(CliList, NeedsNoDevice) {
  Cli cli;
  cli.no_device = "no driver";
  EXPECT_EQ(cli({"list"}).exit_code, 0);
}

TEST(CliList, ModesAreWhatTheBackendTimes) {
  Cli cli;
  cli.modes = {judge::Mode::cold, judge::Mode::hot, judge::Mode::real};
  EXPECT_THAT(cli({"list"}).out, AllOf(HasSubstr("cold hot real"), HasSubstr("5 cases, 27 rows")));
  EXPECT_THAT(cli({"list", "--mode", "cold,real"}).out, HasSubstr("5 cases, 18 rows"));
  EXPECT_THAT(cli({"list", "--mode", "graph"}).err, HasSubstr("there are: cold, hot, real"));
}

struct Choice {
  std::vector<std::string> arguments;
  const char* counts;
};
class CliChoice : public testing::TestWithParam<Choice> {};

TEST_P(CliChoice, SelectsWhatMatchesAllLists) {
  Cli cli;
  std::vector<std::string> arguments = GetParam().arguments;
  arguments.insert(arguments.begin(), "list");
  const Outcome outcome = cli(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(GetParam().counts));
}

INSTANTIATE_TEST_SUITE_P(
    Options, CliChoice,
    testing::Values(Choice{{"--op", "copy"}, "4 cases, 8 rows"},
                    Choice{{"--op", "copy,fill"}, "5 cases, 9 rows"},
                    Choice{{"--op", "copy", "--op", "fill"}, "5 cases, 9 rows"},
                    Choice{{"--category", "elementwise"}, "1 cases, 1 rows"},
                    Choice{{"--dtype", "f16"}, "2 cases, 4 rows"},
                    Choice{{"--shape", "n128"}, "2 cases, 4 rows"},
                    Choice{{"--variant", "lib"}, "4 cases, 4 rows"},
                    Choice{{"--mode", "real"}, "5 cases, 9 rows"},
                    Choice{{"--fast"}, "3 cases, 5 rows"},
                    Choice{{"--case", "copy.f16.n64"}, "1 cases, 2 rows"},
                    Choice{{"--op", "copy", "--dtype", "f16", "--case", "copy.f16.n64", "--variant",
                            "plain", "--mode", "real"},
                           "1 cases, 1 rows"},
                    Choice{{"--op", "copy", "--shape", "n77"}, "2 cases, 4 rows"}));

struct Mistake {
  std::vector<std::string> arguments;
  int exit_code;
  const char* message;
};
class CliMistake : public testing::TestWithParam<Mistake> {};

TEST_P(CliMistake, IsNamedWithWhatThereIs) {
  Cli cli;
  const Outcome outcome = cli(GetParam().arguments);
  EXPECT_EQ(outcome.exit_code, GetParam().exit_code) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(cli.made(), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(
    Words, CliMistake,
    testing::Values(
        Mistake{{}, 2, "name a command; the commands are check, try, emulate, list, run, "},
        Mistake{{"frobnicate"}, 2, "--help"}, Mistake{{"run", "--speed", "9"}, 2, "--speed"},
        Mistake{{"gate", "--op", "gemmm"}, 2, "no such operation; there are: copy, fill"},
        Mistake{{"gate", "--dtype", "f99"}, 2, "no such type; there are: f16, f32"},
        Mistake{{"gate", "--category", "x"}, 2, "no such category; there are: elementwise, layout"},
        Mistake{{"gate", "--variant", "x"}, 2, "no such variant; there are: lib, plain"},
        Mistake{{"gate", "--mode", "warm"}, 2, "no such mode"},
        Mistake{{"run", "--shape", "n77"}, 2, "say which operation by --op"},
        Mistake{{"run", "--op", "copy", "--shape", "m77"}, 2, "lacks 'n'"},
        Mistake{{"run", "--op", "copy", "--shape", "n7_k"}, 2, "'k' is not a parameter"},
        Mistake{{"gate", "--op", "copy", "--shape", "n77"}, 2, "unlisted shape has no baseline"},
        Mistake{{"bless", "--op", "copy", "--shape", "n77"}, 2, "unlisted shape has no baseline"},
        Mistake{{"run", "--case", "copy"}, 2, "a case is <op>.<dtype>.<shape>"},
        Mistake{{"run", "--op", "fill", "--case", "copy.f32.n64"}, 2, "contradicts --op"},
        Mistake{{"run", "--batch", "/no/such"}, 2, "no such file"},
        Mistake{{"run", "--processes", "0"}, 2, "--processes"},
        Mistake{{"gate", "--baselines", "/no/such/folder"},
                2,
                "--baselines /no/such/folder: no such folder; name one that was blessed"},
        Mistake{{"gate", "--cost", "--baselines", "/no/such/folder"}, 2, "--baselines /no/such"},
        Mistake{{"doctor", "--baselines", "/no/such/folder"}, 2, "--baselines /no/such/folder"},
        Mistake{{"resources", "--baselines", "/dev/null"}, 2, "--baselines /dev/null"},
        Mistake{{"report", "--baselines", "/no/such/folder"}, 2, "--baselines /no/such/folder"},
        Mistake{{"run", "--device", "nvidia-h200"}, 2, "the device here is host"},
        // A list is one word: what stands behind it is no part of it. (The source is taken, and
        // only then is the program that compiles it missed.)
        Mistake{{"run", "--op", "copy", "fill"}, 2, "fill"},
        Mistake{{"try", "--without", "InPlace", "copy", "my.cu"}, 1, "with the target try built"},
        Mistake{{"try", "copy", "--dtype", "f32", "my.cu"}, 1, "with the target try built"},
        Mistake{{"try", "copy", "--compile", "-DX=1", "my.cu"}, 1, "with the target try built"}));

// Words that exist, but not together: nothing to do, which is a failure and no mistake.
class CliSelectsNothing : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(CliSelectsNothing, WhichFails) {
  for (const std::vector<std::string>& filter :
       {std::vector<std::string>{"--op", "fill", "--dtype", "f16"},
        {"--op", "fill", "--variant", "lib"},
        {"--op", "fill", "--shape", "n64", "--dtype", "f16"},
        {"--category", "elementwise", "--variant", "lib"},
        {"--case", "fill.f32.n64", "--variant", "lib"}}) {
    Cli cli;
    std::vector<std::string> arguments = GetParam();
    arguments.insert(arguments.end(), filter.begin(), filter.end());
    const Outcome outcome = cli(arguments);
    EXPECT_THAT(outcome.exit_code, testing::AnyOf(1, 2))
        << fmt::format("{}", fmt::join(filter, " "));
    EXPECT_THAT(outcome.err, testing::AnyOf(HasSubstr("no rows"), HasSubstr("no operation lists")));
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(cli.made(), std::vector<std::string>());
  }
}

using Arguments = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Commands, CliSelectsNothing,
    testing::Values(Arguments{"list"}, Arguments{"list", "--shares"}, Arguments{"run"},
                    Arguments{"run", "--once"}, Arguments{"gate"}, Arguments{"bless"},
                    Arguments{"ab", "--base", "HEAD"}, Arguments{"report", "run.json"},
                    Arguments{"selftest", "aa"}, Arguments{"peers", "--peer", "torch"},
                    Arguments{"profile"}, Arguments{"profile", "--sass"}));

TEST(CliBatch, RunsEachLinesRows) {
  Cli cli;
  const std::string file = cli.folder.path() / "rows";
  write_file(file, "# what changed\n\n--op copy --dtype f32 --variant plain\n--op fill\n");
  const Outcome outcome = cli({"list", "--batch", file});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("3 cases, 3 rows"));
}

TEST(CliBatch, MistakesAreNamedWithTheirLine) {
  Cli cli;
  const std::string file = cli.folder.path() / "rows";
  write_file(file, "--op copy\n--speed 9\n");
  EXPECT_THAT(cli({"list", "--batch", file}).err, HasSubstr("rows:2: "));
  write_file(file, "--case copy\n");
  EXPECT_THAT(cli({"list", "--batch", file}).err, HasSubstr("rows:1: --case copy"));
  write_file(file, "# nothing\n");
  EXPECT_THAT(cli({"list", "--batch", file}).err, HasSubstr("holds no line"));
  EXPECT_EQ(cli({"list", "--batch", file}).exit_code, 2);
  write_file(file, "--op copy\n");
  EXPECT_THAT(cli({"list", "--batch", file, "--fast"}).err, HasSubstr("--batch"));
}

TEST(CliRun, MeasuresAnUnlistedShapeAdHoc) {
  Cli cli;
  const Outcome outcome = cli({"run", "--op", "copy", "--dtype", "f32", "--shape", "n77"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("copy.f32.n77"), Not(HasSubstr("f16"))));
  EXPECT_EQ(cli.made().size(), 2u);
}

TEST(CliRunOnce, ExecutesEveryVariantOnceInWhateverMode) {
  Cli cli;
  cli.modes = {judge::Mode::cold, judge::Mode::hot};
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "once.json";
  const Outcome outcome = cli({"run", "--once", "--case", "copy.f32.n64", "--json", file.string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const judge::Results run = judge::load_results(file);
  ASSERT_EQ(run.rows.size(), 2u);
  for (const judge::Measured& row : run.rows) {
    EXPECT_EQ(row.key.case_id, "copy.f32.n64");
    EXPECT_EQ(row.verified, "");
    EXPECT_THAT(row.skipped, HasSubstr("once"));
    EXPECT_EQ(row.tags.at("launches"), "0") << "this operation launches nothing";
    EXPECT_TRUE(row.samples_ns.empty());
  }
  EXPECT_EQ(cli.made().size(), 2u);
}

TEST(CliRunOnce, AWrongResultFails) {
  Cli cli;
  cli.behaviour.wrong = true;
  const Outcome outcome = cli({"run", "--once", "--case", "copy.f32.n64"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("copy.f32.n64 plain: INVALID: "));
}

} // namespace
} // namespace kg::cli::test
