// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Studies of an invented operation, measured in real processes.
#include "tests/unit/perf/cli/world.h"

#include "perf/lab/study/record.h"

#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CliStudy : public testing::Test {
 protected:
  CliStudy() { cli.behaviour.third = "elementwise"; }

  // vector_add of 16 and 64 elements, plain and lib.
  Outcome add(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"study", "vector_add", "--max-size",  "64",
                                          "--out", out.string(), "--source-id", "abc"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  }

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    if (std::filesystem::exists(out))
      for (const auto& entry : std::filesystem::directory_iterator(out))
        found.push_back(entry.path());
    return found;
  }

  // Leaves the file's header, so many whole lines behind it and a part of another.
  void cut(std::size_t experiments) {
    const std::string whole = read_file(files().front()).value();
    std::size_t at = 0;
    for (std::size_t line = 0; line <= experiments; ++line) at = whole.find('\n', at) + 1;
    write_file(files().front(), whole.substr(0, at + 20));
  }

  int shell(const std::string& command) const {
    return std::system(("cd '" + cli.folder.path().string() + "' && " + command).c_str());
  }

  Cli cli;
  std::filesystem::path out = cli.folder.path() / "report" / "studies";
};

TEST_F(CliStudy, MeasuresEveryVariantAtEveryPoint) {
  const Outcome outcome = add();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("vector_add: adds two arrays"), HasSubstr("4 of 4 experiments"),
                    HasSubstr("Which to take"), HasSubstr("kernelgrade report ")));
  ASSERT_EQ(files().size(), 1u);
  EXPECT_THAT(outcome.err, HasSubstr("writing " + files().front().string()));
  const study::Record record = study::load_record(files().front());
  EXPECT_TRUE(record.finished());
  EXPECT_EQ(record.header.environment.at("source"), "abc");
  for (const study::Experiment& each : record.done) {
    EXPECT_EQ(each.row.median_ns, 1e5);
    ASSERT_TRUE(each.traced);
    EXPECT_EQ(each.traced->wall_ns, 1e5);
  }
  EXPECT_THAT(cli.made(),
              ElementsAre("elementwise.f32.add_n16 plain", "elementwise.f32.add_n16 plain",
                          "elementwise.f32.add_n16 lib", "elementwise.f32.add_n16 lib",
                          "elementwise.f32.add_n64 plain", "elementwise.f32.add_n64 plain",
                          "elementwise.f32.add_n64 lib", "elementwise.f32.add_n64 lib"))
      << "once to time and once to trace";
}

TEST_F(CliStudy, ResumesWithoutRepeating) {
  ASSERT_EQ(add().exit_code, 0);
  const study::Record before = study::load_record(files().front());
  cut(2);
  cli.made();
  const Outcome outcome = add({"--resume"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("2 of 4 experiments are done"));
  EXPECT_THAT(cli.made(),
              ElementsAre("elementwise.f32.add_n64 plain", "elementwise.f32.add_n64 plain",
                          "elementwise.f32.add_n64 lib", "elementwise.f32.add_n64 lib"));
  const study::Record after = study::load_record(files().front());
  ASSERT_TRUE(after.finished());
  EXPECT_EQ(after.done[0], before.done[0]);
  EXPECT_EQ(after.done[1], before.done[1]);
  EXPECT_EQ(add({"--resume", files().front().string()}).exit_code, 0) << "a finished one is shown";
  EXPECT_THAT(cli.made(), IsEmpty());
  EXPECT_EQ(add({"--resume"}).exit_code, 2) << "none is unfinished";
}

TEST_F(CliStudy, ResumesTheSameStudyOnly) {
  ASSERT_EQ(add().exit_code, 0);
  cut(1);
  cli.made();
  const std::string file = files().front().string();
  EXPECT_EQ(add({"--resume", "--dtype", "f16"}).exit_code, 2) << "none has these settings";
  Outcome outcome = add({"--resume", file, "--dtype", "f16"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--dtype is f32 there and f16 here"));
  std::string other = read_file(file).value();
  const std::string name = "\"program\":\"";
  other[other.find(name) + name.size()] = 'z';
  write_file(file, other);
  outcome = add({"--resume"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("another build (source abc, program z"));
  EXPECT_THAT(cli.made(), IsEmpty());
}

TEST_F(CliStudy, AVariantThatCrashesIsAnExperimentThatFailed) {
  cli.behaviour.crashes = "elementwise.f32.add_n16 lib";
  const Outcome outcome = add();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("SIGSEGV"), HasSubstr("4 of 4 experiments")));
  EXPECT_EQ(add({"--resume"}).exit_code, 2) << "it is done, and nothing is tried again";
}

TEST_F(CliStudy, AssertsTheExponent) {
  cli.behaviour.third = "gemm";
  cli.behaviour.copy_ns = 1;
  const std::vector<std::string> matmul = {"study", "matmul",     "--max-size", "64",
                                           "--out", out.string(), "--ascii"};
  cli.behaviour.growth = 3;
  Outcome outcome = cli(matmul);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("plain .*3 .- 0.25 +pass"));
  cli.behaviour.growth = 2;
  outcome = cli(matmul);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, ContainsRegex("plain .*3 .- 0.25 +FAILED"));
}

TEST_F(CliStudy, ShardsMakeTheWhole) {
  const std::string joined = cli.folder.path() / "study.jsonl";
  Outcome outcome = add({"--shard", "1/2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 of 2 experiments of shard 1/2"),
                                 HasSubstr("kernelgrade merge"), Not(HasSubstr("Time over size"))));
  EXPECT_THAT(cli.made(),
              ElementsAre("elementwise.f32.add_n16 plain", "elementwise.f32.add_n16 plain",
                          "elementwise.f32.add_n16 lib", "elementwise.f32.add_n16 lib"));
  const std::string first = files().front();
  for (const char* command : {"report", "choose"}) {
    outcome = cli({command, first, "--out", joined});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(first + ": it is shard 1/2 of a study"));
  }
  outcome = cli({"merge", first, "--json", joined});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("shard 2/2 is missing; given are 1/2 (" + first));
  EXPECT_FALSE(std::filesystem::exists(joined));

  ASSERT_EQ(add({"--shard", "2/2"}).exit_code, 0);
  outcome = cli({"merge", files()[0], files()[1], "--json", joined});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("4 of 4 experiments, all"), HasSubstr("Time over size"),
                                 HasSubstr("study.jsonl: 4 experiments of 2 files")));
  EXPECT_EQ(cli({"report", joined, "--out", cli.folder.path() / "pages"}).exit_code, 0);
  outcome = add({"--shard", "3/3"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("only 2 cases are selected"));
}

TEST_F(CliStudy, TheExponentIsOfAllShards) {
  cli.behaviour.third = "gemm";
  cli.behaviour.copy_ns = 1;
  cli.behaviour.growth = 2;
  for (const char* shard : {"1/2", "2/2"})
    EXPECT_EQ(
        cli({"study", "matmul", "--max-size", "128", "--out", out, "--shard", shard}).exit_code, 0);
  const Outcome outcome =
      cli({"merge", files()[0], files()[1], "--json", cli.folder.path() / "study.jsonl"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, ContainsRegex("plain .*FAILED"));
}

TEST_F(CliStudy, WrongCallsAreRefused) {
  EXPECT_EQ(cli({"study"}).exit_code, 2);
  EXPECT_EQ(cli({"study", "sub"}).exit_code, 2);
  EXPECT_EQ(add({"--kernel", "3"}).exit_code, 2) << "another study's setting";
  EXPECT_THAT(cli({"study", "vector_add", "--max-size", "many"}).err,
              HasSubstr("--max-size many: expected a whole number from 1, got 'many'"));
  const Outcome outcome = cli({"study", "conv"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("this build has no operation conv2d"));
  cli.no_device = "no CUDA driver";
  EXPECT_EQ(add().exit_code, 77);
  EXPECT_EQ(add({"--strict"}).exit_code, 1);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(CliStudy, HelpTeaches) {
  EXPECT_THAT(cli({"study", "--help"}).out,
              AllOf(HasSubstr("matmul"), HasSubstr("--resume"), HasSubstr("kernelgrade report")));
  EXPECT_THAT(cli({"study", "conv", "--help"}).out,
              AllOf(HasSubstr("--in-channels"), HasSubstr("32,64,128")));
}

TEST_F(CliStudy, ProgressIsForTerminals) {
  EXPECT_THAT(add().err, Not(HasSubstr("[1/4]")));
  cli.terminal = true;
  EXPECT_THAT(add().err, AllOf(HasSubstr("[1/4] elementwise.f32.add_n16 plain"),
                               HasSubstr("[2/4] elementwise.f32.add_n16 lib, about")));
  EXPECT_THAT(add({"--quiet"}).err, IsEmpty());
}

TEST_F(CliStudy, IsReported) {
  ASSERT_EQ(add().exit_code, 0);
  const std::filesystem::path folder = cli.folder.path() / "pages";
  const std::string file = files().front().string();
  const Outcome outcome = cli({"report", file, "--out", folder.string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("4 of 4 experiments"));
  const std::string name = files().front().stem().string();
  EXPECT_THAT(read_file(folder / (name + ".html")).value(), HasSubstr("<svg"));
  EXPECT_THAT(read_file(folder / (name + ".md")).value(), HasSubstr("| variant |"));
  const Outcome twice = cli({"report", file, file, "--out", folder.string()});
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_THAT(twice.err, HasSubstr("another file also holds the study vector_add"));
}

TEST_F(CliStudy, IsReportedBesideOtherResults) {
  ASSERT_EQ(add().exit_code, 0);
  const std::filesystem::path folder = cli.folder.path() / "pages";
  const std::string tests = cli.tested("copy", "f32");
  const Outcome outcome = cli({"report", files().front().string(), tests, "--op", "copy", "--dtype",
                               "f32", "--out", folder.string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("study vector_add: 4 of 4 experiments"));
  EXPECT_THAT(read_file(folder / "report.html").value(), HasSubstr("Which to take"));
}

TEST_F(CliStudy, CommitsItsFileAlone) {
  EXPECT_EQ(add({"--commit"}).exit_code, 1) << "no work tree";
  ASSERT_EQ(shell("git init -q && git config user.name t && git config user.email t@example.com && "
                  "printf 'report/\\nmade\\n' > .gitignore && touch other && git add . && "
                  "git commit -qm begin && touch new && git add new"),
            0);
  cli.made();
  Outcome outcome = add({"--commit"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("staged"), HasSubstr("new")));
  EXPECT_THAT(cli.made(), IsEmpty()) << "said before anything is measured";
  ASSERT_EQ(shell("git reset -q && echo change > other"), 0);
  outcome = add({"--commit"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(files().size(), 1u);
  const std::string name = files().front().filename().string();
  EXPECT_EQ(shell("test \"$(git show --format= --name-only HEAD)\" = report/studies/" + name), 0);
  EXPECT_EQ(shell("git log -1 --format=%s | grep -qx 'Study vector_add on host: 4 experiments'"),
            0);
}

// What a first `./grade` builds names the fix, also where it is the file that is the lab's.
TEST_F(CliStudy, WithoutTheLabSaysWhatToBuild) {
  ASSERT_EQ(add().exit_code, 0);
  const std::string record = files().front().string();
  cli.lab = false;
  cli.executable = cli.folder.path() / "kernelgrade";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"study", "relu"},
                                                {"profile", "--sass"},
                                                {"report", record},
                                                {"merge", record, "--json", "-"}}) {
    const Outcome outcome = cli(words);
    EXPECT_EQ(outcome.exit_code, 1) << words.front();
    EXPECT_THAT(outcome.err, HasSubstr("with the target kernelgrade-lab built"));
  }
}

} // namespace
} // namespace kg::cli::test
