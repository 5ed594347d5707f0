// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/history/database.h"

#include "runtime/error.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kg::history {
namespace {

class History : public testing::Test {
 protected:
  History() { std::filesystem::create_directories(folder_); }
  ~History() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path report(const std::string& source, const std::string& date, double ns) {
    return file(fmt::format(
        R"({{"environment": {{"source": "{0}", "date_utc": "{1}", "device": "host"}}, "rows": [
          {{"case": "copy.f32.n64", "variant": "naive", "mode": "real", "verdict": "pass",
            "median_ns": {2}, "ci_lo_ns": {2}, "ci_hi_ns": {2}, "baseline_ns": 90}},
          {{"case": "copy.f32.n64", "variant": "broken", "mode": "real", "verdict": "invalid"}}]}})",
        source, date, ns));
  }
  std::filesystem::path file(const std::string& text) {
    const auto path = folder_ / fmt::format("{}.json", ++files_);
    std::ofstream(path) << text;
    return path;
  }
  static std::string error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("kernelgrade-history-{}", getpid());
  std::filesystem::path db_ = folder_ / "history.sqlite";
  int files_ = 0;
};

TEST_F(History, KeepsRunsInOrderOfTime) {
  {
    Database database(db_);
    EXPECT_TRUE(database.import(report("b", "2026-01-02T00:00:00Z", 200)));
    EXPECT_TRUE(database.import(report("a", "2026-01-01T00:00:00Z", 100)));
  }
  const Database database(db_); // from the file again
  const auto series = database.series("copy", "");
  ASSERT_EQ(series.size(), 1u) << "what was not measured has no history";
  const auto points = database.points(series[0]);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].source, "a");
  EXPECT_EQ(points[1].median_ns, 200);
  EXPECT_EQ(points[1].baseline_ns, 90);
  EXPECT_TRUE(database.series("copy", "tiled").empty());
  EXPECT_TRUE(database.series("softmax", "").empty());
}

TEST_F(History, IsPrunedToTheNewestRuns) {
  Database database(db_);
  for (const int day : {3, 1, 4, 2})
    database.import(report(fmt::format("commit{}", day), fmt::format("2026-01-0{}", day), day));
  EXPECT_EQ(database.prune(4), 0u);
  EXPECT_EQ(database.prune(2), 2u);
  const auto points = database.points(database.series("copy", "").at(0));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].source, "commit3") << "by the time measured, not that of the import";
  EXPECT_EQ(points[1].source, "commit4");
  EXPECT_TRUE(database.import(report("commit1", "2026-01-01", 1))) << "it is forgotten";
}

TEST_F(History, KnowsTheDriverOfEachRun) {
  const auto run = [&](const char* date, const char* driver) {
    return file(fmt::format(
        R"({{"environment": {{"source": "a", "date_utc": "{}", "device": "nvidia-h200"{}}}, "rows": [
          {{"case": "copy.f32.n64", "variant": "naive", "mode": "cold", "verdict": "pass",
            "median_ns": 1, "ci_lo_ns": 1, "ci_hi_ns": 1}}]}})",
        date, driver));
  };
  Database database(folder_ / "a folder" / "history.sqlite");
  database.import(run("2026-01-01", R"(, "cuda_driver": "13.0", "nvidia_module":
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build")"));
  database.import(run("2026-01-02", R"(, "cuda_driver": "13.1")"));
  database.import(run("2026-01-03", ""));
  const auto points = database.points(database.series("copy", "").at(0));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].driver, "580.65.06");
  EXPECT_EQ(points[1].driver, "13.1") << "the module's line cannot be seen everywhere";
  EXPECT_EQ(points[2].driver, "");
}

TEST_F(History, KnowsTheMachineOfEachRun) {
  const auto run = [&](const char* date, const char* machine) {
    return file(fmt::format(
        R"({{"environment": {{"source": "a", "date_utc": "{}", {}}}, "rows": [
          {{"case": "copy.f32.n64", "variant": "naive", "mode": "cold", "verdict": "pass",
            "median_ns": 1, "ci_lo_ns": 1, "ci_hi_ns": 1}}]}})",
        date, machine));
  };
  Database database(db_);
  database.import(run("2026-01-01", R"("device": "host", "cpu": "EPYC", "cores": "2")"));
  database.import(run("2026-01-02", R"("device": "host", "cpu": "Xeon")"));
  database.import(run("2026-01-01", R"("device": "nvidia-h200", "device_name": "NVIDIA H200")"));
  const auto machines = [&](std::size_t series) {
    std::vector<std::string> found;
    for (const Point& point : database.points(database.series("", "").at(series)))
      found.push_back(point.machine);
    return found;
  };
  EXPECT_THAT(machines(0), testing::ElementsAre("EPYC, 2 cores", "Xeon"));
  EXPECT_THAT(machines(1), testing::ElementsAre("NVIDIA H200"));
}

TEST_F(History, TakesARunOnce) {
  Database database(db_);
  EXPECT_TRUE(database.import(report("a", "2026-01-01T00:00:00Z", 100)));
  EXPECT_FALSE(database.import(report("a", "2026-01-01T00:00:00Z", 300)));
  EXPECT_EQ(database.points(database.series("", "")[0])[0].median_ns, 100);
}

TEST_F(History, TakesAllOfARunOrNothing) {
  Database database(db_);
  const std::string text =
      R"({"environment": {"source": "a", "date_utc": "2026-01-01", "device": "host"},
    "rows": [{"case": "c", "variant": "v", "mode": "real", "verdict": "pass", "median_ns": 1,
              "ci_lo_ns": 1, "ci_hi_ns": 1}, {"case": "c2", "median_ns": 1}]})";
  EXPECT_THAT(error_of([&] { database.import(file(text)); }), testing::HasSubstr("not found"));
  EXPECT_TRUE(database.series("", "").empty());
}

TEST_F(History, SaysWhatIsWrongWithAFile) {
  Database database(db_);
  EXPECT_THAT(error_of([&] { database.import(file("{")); }), testing::HasSubstr("1.json"));
  EXPECT_THAT(error_of([&] { database.import(file("[]")); }), testing::HasSubstr("report.json"));
  EXPECT_THAT(error_of([&] { database.import(file(R"({"rows": [], "environment": {}})")); }),
              testing::HasSubstr("\"source\""));
  std::ofstream(folder_ / "no.sqlite")
      << "this is not a database, but a text long enough to be read";
  EXPECT_THAT(error_of([&] { Database other(folder_ / "no.sqlite"); }),
              testing::HasSubstr("not a database"));
}

} // namespace
} // namespace kg::history
