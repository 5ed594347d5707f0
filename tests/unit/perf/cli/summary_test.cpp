// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The summary as a pull request's comment shows it (.ci/comment), whole: for a clean run and for
// each way in which one fails. tests/ci/summaries/ has the expected texts;
// KERNELGRADE_WRITE_SUMMARIES=1 writes them anew, for a reviewer to read.
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/world.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <utility>

namespace kg::cli::test {
namespace {

class Summary : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (cli.folder.path() / name).string(); }

  void bless() { ASSERT_EQ(cli({"bless", "--why", "first"}).exit_code, 0); }

  // Measures, reports with the files of correctness tests, and compares the summary with the text
  // of that name.
  void expect(const std::string& name, int exit_code, std::vector<std::string> files) {
    cli({"gate", "--json", path("all.json"), "--source-id", "1a2b3c4", "--confirm", "never"});
    files.insert(files.begin(), {"report", path("all.json"), "--out", path("report")});
    EXPECT_EQ(cli(files).exit_code, exit_code);
    const std::string text = steady(read_file(path("report/summary.md")).value());
    const std::filesystem::path wanted = std::filesystem::path(SUMMARIES) / (name + ".md");
    if (std::getenv("KERNELGRADE_WRITE_SUMMARIES")) write_file(wanted, text);
    EXPECT_EQ(text, read_file(wanted).value_or(wanted.string() + " is missing"));
  }

  // Without what the machine and the day make of it.
  std::string steady(std::string text) const {
    const std::string folder = cli.folder.path().string();
    for (std::size_t at; (at = text.find(folder)) != text.npos;)
      text.replace(at, folder.size(), ".");
    for (const auto& [what, always] :
         {std::pair("machine", "host, some CPU"), std::pair("measured", "2026-01-02T03:04:05Z")})
      text = std::regex_replace(text, std::regex(fmt::format("\\| {} \\| [^|]* \\|", what)),
                                fmt::format("| {} | {} |", what, always));
    return text;
  }

  Cli cli;
};

TEST_F(Summary, OfACleanRun) {
  bless();
  expect("clean", 0,
         {cli.tested("copy", "f32"), cli.tested("copy", "f16"), cli.tested("fill", "f32")});
}

TEST_F(Summary, OfARegression) {
  bless();
  cli.behaviour.copy_ns = 3e5;
  expect("regression", 1,
         {cli.tested("copy", "f32"), cli.tested("copy", "f16"), cli.tested("fill", "f32")});
}

TEST_F(Summary, OfAWrongKernel) {
  bless();
  cli.behaviour.wrong = true;
  expect(
      "wrong_kernel", 1,
      {cli.tested("copy", "f32", "1 of 64 elements are wrong\n  worst (5): actual 1, expected 2"),
       cli.tested("copy", "f16"), cli.tested("fill", "f32")});
}

TEST_F(Summary, OfACrash) {
  bless();
  cli.behaviour.crashes = "copy.f16.n64 plain";
  expect("crash", 1,
         {cli.tested("copy", "f32"), cli.tested("fill", "f32")}); // that of f16 left no file
}

TEST_F(Summary, OfAMissingBaseline) {
  bless();
  const std::string blessed = read_file(cli.csv("copy")).value();
  const std::size_t begin = blessed.find("1,copy.f32.n64,plain");
  ASSERT_NE(begin, blessed.npos);
  write_file(cli.csv("copy"),
             std::string(blessed).erase(begin, blessed.find('\n', begin) + 1 - begin));
  expect("missing_baseline", 1,
         {cli.tested("copy", "f32"), cli.tested("copy", "f16"), cli.tested("fill", "f32")});
}

} // namespace
} // namespace kg::cli::test
