// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures in files that stand for nothing: days that no calendar has, times that no clock gives.
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/hostile/output.h"
#include "tests/unit/perf/cli/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kg::hostile {
namespace {

#if KERNELGRADE_HISTORY
TEST(Figures, OfTheHistory) {
  cli::test::Cli cli;
  const auto import = [&](const std::string& date, const std::string& ns) {
    const std::string file = (cli.folder.path() / "run.json").string();
    write_file(file,
               fmt::format(R"({{"environment": {{"source": "a", "date_utc": {}, "device": "host"}},
      "rows": [{{"case": "copy.f32.n64", "variant": "plain", "mode": "real", "verdict": "pass",
      "median_ns": {}, "ci_lo_ns": 1, "ci_hi_ns": 1}}]}})",
                           date, ns));
    const auto outcome =
        cli({"history", "import", file, "--db", (cli.folder.path() / "db").string()});
    EXPECT_EQ(fault_of_console(outcome.err), "");
    return outcome.exit_code;
  };
  for (const char* date : {"2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-02-30T00:00:00Z",
                           "2025-02-29",
                           "2026-04-31",
                           "2026-01-00",
                           "2026-01-32",
                           "2026-1-1",
                           "26-01-01",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:61Z",
                           "2026-01-01T00:00:00",
                           "2026-01-01T00:00:00+01:00",
                           "2026-01-01 00:00:00Z",
                           "yesterday",
                           "",
                           " 2026-01-01",
                           "2026-01-01 ",
                           "20260101",
                           "-2026-01-01",
                           "12026-01-01",
                           "2026-01-01T00:00:00Z; DROP TABLE runs"}) {
    SCOPED_TRACE(date);
    EXPECT_EQ(import(fmt::format("\"{}\"", date), "1"), 1);
  }
  for (const char* date : {"1", "null", "[]", "{}", "true"})
    EXPECT_EQ(import(date, "1"), 1) << date;
  for (const char* ns : {"0", "-1", "null", "\"1\"", "[]", "true", "1e19", "1e300", "1e999", "nan"})
    EXPECT_EQ(import("\"2026-01-01\"", ns), 1) << ns;
  EXPECT_EQ(import("\"2024-02-29T23:59:59Z\"", "1"), 0) << "a leap year";
}
#endif

// Each number of a file of results in turn, in whatever reads such files.
TEST(Figures, OfResults) {
  cli::test::Cli cli;
  const std::string file = (cli.folder.path() / "run.json").string();
  const std::string bad = (cli.folder.path() / "bad.json").string();
  const std::string out = (cli.folder.path() / "report").string();
  ASSERT_EQ(cli({"run", "--in-process", "--op", "fill", "--json", file}).exit_code, 0);
  const auto good = nlohmann::json::parse(read_file(file).value());
  const auto members = good.flatten();
  std::size_t numbers = 0;
  for (const auto& [pointer, value] : members.items()) {
    // Of the samples the first stands for all.
    if (!value.is_number() ||
        (pointer.find("/samples_ns/") != pointer.npos && pointer.back() != '0'))
      continue;
    ++numbers;
    for (const double figure : {1e19, -1e300}) {
      SCOPED_TRACE(fmt::format("{} = {}", pointer, figure));
      nlohmann::json changed = good;
      changed[nlohmann::json::json_pointer(pointer)] = figure;
      write_file(bad, changed.dump());
      for (const std::vector<std::string>& call :
           std::vector<std::vector<std::string>>{{"report", bad, "--op", "fill", "--out", out},
                                                 {"merge", bad, "--json", out + ".json"},
                                                 {"gate", "--import", bad},
                                                 {"compare", file, bad}}) {
        const auto outcome = cli(call);
        EXPECT_EQ(outcome.exit_code, 1) << call.front();
        EXPECT_NE(outcome.err.find("bad.json: /"), std::string::npos) << outcome.err;
      }
    }
  }
  EXPECT_GE(numbers, 10u);
}

} // namespace
} // namespace kg::hostile
