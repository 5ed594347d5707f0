// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/kept_runs.h"

#include "perf/report/report.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/perf/report/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace kg::report {
namespace {

constexpr const char* kDate = "2026-01-02T03:04:05Z";

class KeptRuns : public testing::Test {
 protected:
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(runs_))
      found.insert(entry.path().filename());
    return found;
  }
  std::filesystem::path keep(const std::string& text) const {
    return keep_run(runs_, kDate,
                    [&](const std::filesystem::path& into) { write_file(into / "file", text); });
  }

  TemporaryFolder folder_;
  std::filesystem::path runs_ = folder_.path() / "report" / "runs";
};

TEST_F(KeptRuns, OfOneSecondStandSideBySide) {
  EXPECT_EQ(keep("first"), runs_ / "20260102T030405Z");
  EXPECT_EQ(keep("second"), runs_ / "20260102T030405Z-2");
  EXPECT_EQ(keep("third"), runs_ / "20260102T030405Z-3");
  EXPECT_EQ(read_file(runs_ / "20260102T030405Z" / "file"), "first");
  EXPECT_EQ(read_file(runs_ / "20260102T030405Z-2" / "file"), "second");
}

TEST_F(KeptRuns, OfOneMomentAreAllKept) {
  constexpr int kRuns = 16;
  std::vector<std::thread> threads;
  for (int i = 0; i < kRuns; ++i) threads.emplace_back([this, i] { keep(std::to_string(i)); });
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> texts;
  for (const std::string& name : names())
    texts.insert(read_file(runs_ / name / "file").value_or("not whole"));
  EXPECT_EQ(texts.size(), kRuns + 0u);
  EXPECT_FALSE(texts.contains("not whole"));
}

TEST_F(KeptRuns, AreNamedOnlyWhenTheyAreWhole) {
  EXPECT_THROW(keep_run(runs_, kDate,
                        [&](const std::filesystem::path& into) {
                          write_file(into / "file", "half");
                          EXPECT_FALSE(names().contains("20260102T030405Z"));
                          fail("no space is left");
                        }),
               Error);
  EXPECT_TRUE(names().empty()) << "nothing is left of it";
}

TEST_F(KeptRuns, ArePrunedToTheNewest) {
  const auto kept = [&](const char* date) {
    return keep_run(runs_, date, [](const std::filesystem::path& into) {
      write_file(into / "report.json", "{}");
    });
  };
  for (const char* date : {"2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"})
    kept(date);
  std::filesystem::path newest;
  for (int number = 1; number <= 11; ++number) newest = kept("2026-01-02T00:00:00Z");
  EXPECT_EQ(newest.filename(), "20260102T000000Z-12");
  EXPECT_EQ(prune_runs(runs_, 4, newest), 10u);
  EXPECT_EQ(names(), (std::set<std::string>{"20260102T000000Z-10", "20260102T000000Z-11",
                                            "20260102T000000Z-12", "20260103T000000Z"}))
      << "10 is newer than 9";
  EXPECT_EQ(prune_runs(runs_, 4, newest), 0u);
  EXPECT_EQ(prune_runs(runs_, 1, newest), 3u);
  EXPECT_EQ(names(), std::set<std::string>{"20260102T000000Z-12"})
      << "the run just kept stays, though a clock that was ahead has named others later";
}

TEST_F(KeptRuns, PruningTouchesNothingElse) {
  const std::filesystem::path elsewhere = folder_.path() / "elsewhere";
  write_file(elsewhere / "report.json", "{}");
  const std::vector<std::string> others = {
      ".unfinished-abc",   "20260101T000000Z-01", "20260101", "20260101T000000Zold", "mine",
      "20260101T000000Z-2"};
  for (const std::string& name : others) write_file(runs_ / name / "report.json", "{}");
  std::filesystem::remove(runs_ / "20260101T000000Z-2" / "report.json"); // and so no run
  write_file(runs_ / "20260101T000000Z", "a file of that name");
  std::filesystem::create_directory_symlink(elsewhere, runs_ / "20260101T000001Z");
  const std::size_t before = names().size();
  EXPECT_EQ(prune_runs(runs_, 1, keep("new")), 0u);
  EXPECT_EQ(names().size(), before + 1);
  EXPECT_TRUE(std::filesystem::exists(elsewhere / "report.json"));
}

TEST_F(KeptRuns, HoldWhatTheNewestReportHolds) {
  const auto report = folder_.path() / "report";
  const test::JudgedRun good = test::many(3), bad = test::mixed();
  const auto first = write(report, good.measured, good.judged);
  const auto second = write(report, bad.measured, bad.judged);
  EXPECT_NE(first, second);
  EXPECT_EQ(names().size(), 2u);
  const auto verdict = [](const std::filesystem::path& folder) {
    return nlohmann::json::parse(read_file(folder / "report.json").value())["exit_code"];
  };
  EXPECT_EQ(verdict(first), 0);
  EXPECT_EQ(verdict(second), 1);
  EXPECT_EQ(verdict(report), 1);
  for (const char* file : {"report.html", "report.md", "summary.md", "rows.csv", "tests.csv",
                           "junit.xml", "annotations.txt", "badge.json", "samples.json"})
    EXPECT_EQ(read_file(report / file), read_file(second / file)) << file;
}

} // namespace
} // namespace kg::report
