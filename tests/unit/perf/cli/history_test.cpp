// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// `history` over the reports of 200 commits with three planted changes of level, as
// docs/how-to/gate_in_ci.md shows it: docs/examples/ has the expected output;
// KERNELGRADE_WRITE_EXAMPLES=1 writes it anew.
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/world.h"
#include "tests/unit/perf/lab/history/planted.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::cli::test {
namespace {

void expect_example(const std::string& name, const std::string& text) {
  const std::filesystem::path wanted = std::filesystem::path(EXAMPLES) / name;
  if (std::getenv("KERNELGRADE_WRITE_EXAMPLES")) write_file(wanted, text);
  EXPECT_EQ(text, read_file(wanted).value_or(wanted.string() + " is missing"));
}

nlohmann::json report_of(const history::Point& point, const std::string& machine) {
  const nlohmann::json row = {{"case", "copy.f32.n64"},
                              {"variant", "plain"},
                              {"mode", "real"},
                              {"verdict", "pass"},
                              {"median_ns", point.median_ns},
                              {"ci_lo_ns", point.ci_lo_ns},
                              {"ci_hi_ns", point.ci_hi_ns},
                              {"baseline_ns", point.baseline_ns}};
  return {{"environment",
           {{"source", point.source},
            {"date_utc", point.date_utc},
            {"device", "host"},
            {"cpu", machine}}},
          {"rows", {row}}};
}

TEST(CliHistory, ShowsAndPlotsThreePlantedChangesAmongTwoHundredCommits) {
  Cli cli;
  const auto path = [&](const std::string& name) { return (cli.folder.path() / name).string(); };
  const auto points = history::test::runs(
      history::test::series(200, {{60, 1.10}, {120, 1.25}, {160, 0.9}}, 0.01, 1.2, 1));
  std::vector<std::string> import = {"history", "import", "--db", path("history.sqlite")};
  for (std::size_t i = 0; i < points.size(); ++i) {
    import.push_back(path(std::to_string(i) + ".json"));
    write_file(import.back(), report_of(points[i], i < 40 ? "one CPU" : "another").dump());
  }
  ASSERT_EQ(cli(import).exit_code, 0);
  const Outcome shown = cli({"history", "show", "--db", path("history.sqlite"), "--case", "copy"});
  EXPECT_EQ(shown.exit_code, 0);
  for (const char* change : {"SLOWER from commit 060abcdef012", "SLOWER from commit 120abcdef012",
                             "faster from commit 160abcdef012"})
    EXPECT_THAT(shown.out, testing::HasSubstr(change));
  expect_example("history.txt", shown.out);
  ASSERT_EQ(cli({"history", "plot", "--db", path("history.sqlite"), "--case", "copy", "--out",
                 path("plots")})
                .exit_code,
            0);
  expect_example("history.svg", read_file(path("plots/copy.f32.n64.plain.real.host.svg")).value());
  const Outcome kept =
      cli({"history", "import", "--db", path("history.sqlite"), "--keep", "50", import.back()});
  EXPECT_EQ(kept.out, path("history.sqlite") + ": 0 runs taken in, 1 were there already, 150 older "
                                               "ones removed\n");
}

} // namespace
} // namespace kg::cli::test
