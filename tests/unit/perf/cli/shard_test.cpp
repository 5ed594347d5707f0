// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// --shard: a division of the rows among machines, and what joins their files.
#include "perf/judge/result.h"
#include "tests/unit/perf/cli/world.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CliShard : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return cli.folder.path() / name; }

  // The file of one shard.
  std::string shard(int index, int count, const std::string& command = "run") {
    const std::string part = std::to_string(index) + "/" + std::to_string(count);
    const std::string path = file(std::to_string(index) + "_of_" + std::to_string(count) + ".json");
    const Outcome outcome =
        cli({command, "--shard", part, "--json", path, "--source-id", "abc", "--quiet"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return path;
  }

  static std::vector<judge::RowKey> keys(const std::string& path) {
    std::vector<judge::RowKey> found;
    for (const judge::Measured& row : judge::load_results(path).rows) found.push_back(row.key);
    std::sort(found.begin(), found.end());
    return found;
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::string& why) {
    const Outcome outcome = cli(arguments);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, HasSubstr(why));
  }

  Cli cli;
};

TEST_F(CliShard, TogetherTheyAreTheWhole) {
  ASSERT_EQ(cli({"run", "--json", file("whole.json"), "--source-id", "abc"}).exit_code, 0);
  for (const int count : {1, 2, 3, 5}) {
    std::vector<std::string> arguments = {"merge", "--json", file("merged.json")};
    std::size_t rows = 0;
    for (int index = count; index >= 1; --index) {
      arguments.push_back(shard(index, count));
      rows += keys(arguments.back()).size();
    }
    ASSERT_EQ(cli(arguments).exit_code, 0);
    EXPECT_EQ(rows, 9u) << "nothing twice";
    EXPECT_EQ(keys(file("merged.json")), keys(file("whole.json")));
    EXPECT_FALSE(judge::load_results(file("merged.json")).shard) << "it is whole";
  }
}

TEST_F(CliShard, AreBalancedByWholeCases) {
  const std::string first = shard(1, 2), second = shard(2, 2);
  EXPECT_EQ(keys(first).size(), 5u); // f16.n128, f32.n128 and fill
  EXPECT_EQ(keys(second).size(), 4u);
  std::set<std::string> cases;
  for (const judge::RowKey& key : keys(first)) cases.insert(key.case_id);
  EXPECT_THAT(cases, testing::ElementsAre("copy.f16.n128", "copy.f32.n128", "fill.f32.n64"));
  for (const judge::RowKey& key : keys(second)) EXPECT_FALSE(cases.contains(key.case_id));
  const judge::Results run = judge::load_results(second);
  ASSERT_TRUE(run.shard.has_value());
  EXPECT_EQ(run.shard->index, 2u);
  EXPECT_EQ(run.shard->count, 2u);
}

TEST_F(CliShard, OneThatIsMissingIsNamed) {
  const std::string first = shard(1, 3), third = shard(3, 3);
  const std::string why = "shard 2/3 is missing; given are 1/3 (" + first + "), 3/3 (" + third;
  expect_refused({"merge", first, third, "--json", file("merged.json")}, why);
  expect_refused({"report", first, third, "--out", file("report")}, why);
  EXPECT_FALSE(std::filesystem::exists(file("merged.json")));
}

TEST_F(CliShard, OneThatIsThereTwiceIsNamed) {
  const std::string first = shard(1, 2), second = shard(2, 2), copy = file("copy.json");
  std::filesystem::copy_file(first, copy);
  expect_refused({"merge", first, second, copy, "--json", file("merged.json")},
                 "shard 1/2 is there twice: " + first + " and " + copy);
}

TEST_F(CliShard, WhatOverlapsIsNamed) {
  const std::string first = shard(1, 2), second = shard(2, 2), whole = file("whole.json");
  ASSERT_EQ(cli({"run", "--json", whole, "--source-id", "abc"}).exit_code, 0);
  expect_refused({"merge", first, second, whole, "--json", file("merged.json")},
                 second + " and " + whole + " both hold the row copy.f32.n64 plain real");
}

TEST_F(CliShard, PartsOfDifferentDivisionsDoNotFit) {
  expect_refused({"merge", shard(1, 2), shard(2, 3), "--json", file("merged.json")},
                 "give the shards of one division");
  // The same numbers, of other rows.
  const std::string fill = file("fill.json");
  ASSERT_EQ(cli({"run", "--op", "copy", "--shard", "2/2", "--json", fill, "--source-id", "abc"})
                .exit_code,
            0);
  expect_refused({"merge", shard(1, 2), fill, "--json", file("merged.json")}, "is missing");
}

TEST_F(CliShard, TheReportOfShardsIsTheWholes) {
  ASSERT_EQ(cli({"bless", "--why", "first"}).exit_code, 0);
  ASSERT_EQ(cli({"gate", "--json", file("whole.json"), "--source-id", "abc"}).exit_code, 0);
  ASSERT_EQ(cli({"report", file("whole.json"), "--out", file("a")}).exit_code, 0);
  const std::string first = shard(1, 2, "gate"), second = shard(2, 2, "gate");
  ASSERT_EQ(cli({"report", second, first, "--out", file("b")}).exit_code, 0);
  const auto rows = [&](const std::string& folder) {
    return read_file(file(folder) + "/rows.csv").value();
  };
  EXPECT_EQ(rows("a"), rows("b"));
}

TEST_F(CliShard, WrongCallsAreRefused) {
  for (const char* wrong : {"0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3"})
    EXPECT_EQ(cli({"run", "--shard", wrong}).exit_code, 2) << wrong;
  expect_refused({"run", "--shard", "1/6"}, "only 5 cases are selected");
  const Outcome blessed = cli({"bless", "--shard", "1/2"});
  EXPECT_EQ(blessed.exit_code, 2);
  EXPECT_THAT(blessed.err, HasSubstr("a baseline file is measured whole and on one machine"));
}

} // namespace
} // namespace kg::cli::test
