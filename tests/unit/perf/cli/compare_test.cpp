// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparing stored results: what is said, what is written, and the exit codes.
#include "perf/judge/result.h"
#include "tests/unit/perf/cli/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class CliCompare : public testing::Test {
 protected:
  // Three processes' times of copy.f32.n64, of which all take `ns`, +-0.1 %.
  std::string stored(const std::string& name, double ns, const std::string& device = "host") {
    std::vector<judge::Results> runs;
    for (const double factor : {0.999, 1.0, 1.001}) {
      judge::Measured row;
      row.op = "copy";
      row.dtype = "f32";
      row.key = {"copy.f32.n64", "plain", judge::Mode::real};
      row.category = "layout";
      judge::take_samples(row, std::vector<double>(10, factor * ns));
      row.canary = judge::MeasuredCanary{judge::CanaryKind::memory, 1e6, 0.01};
      runs.push_back({{{"device", device}, {"source", name}}, {row}});
    }
    const std::filesystem::path path = cli.folder.path() / name;
    judge::save_results(path, judge::merge(runs));
    return path;
  }
  Cli cli;
};

TEST_F(CliCompare, ShowsRatioAndEnvironmentAndFailsARegression) {
  const std::string a = stored("a.json", 1000), b = stored("b.json", 1100);
  const Outcome outcome = cli({"compare", a, b, "--tol", "5"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("0.909"), HasSubstr("regressed"), HasSubstr("source")));
  EXPECT_EQ(cli({"compare", a, b, "--tol", "20"}).exit_code, 0);
}

TEST_F(CliCompare, WritesMarkdownAndJson) {
  const std::string a = stored("a.json", 1000), b = stored("b.json", 1000);
  const std::string json = cli.folder.path() / "compared.json";
  const Outcome outcome = cli({"compare", a, b, "--markdown", "--json", json});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("| differs |"));
  const auto report = nlohmann::json::parse(read_file(json).value());
  EXPECT_EQ(report.at("exit_code"), 0);
  EXPECT_EQ(report.at("rows").at(0).at("case"), "copy.f32.n64");
  EXPECT_EQ(report["rows"][0].at("verdict"), "pass");
  EXPECT_EQ(report["rows"][0].at("a_processes"), 3);
  EXPECT_EQ(report.at("environment").at("source").at("b"), "b.json");
}

TEST_F(CliCompare, RefusesDifferentDevicesUnlessToldTo) {
  const std::string a = stored("a.json", 1000), b = stored("b.json", 9000, "nvidia-h200");
  const Outcome refused = cli({"compare", a, b});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("nvidia-h200"), HasSubstr("--across-devices")));
  const Outcome shown = cli({"compare", a, b, "--across-devices"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("0.111"), HasSubstr("for information")));
}

TEST_F(CliCompare, WantsTwoFilesThatAreThere) {
  const std::string a = stored("a.json", 1000);
  EXPECT_EQ(cli({"compare", a}).exit_code, 2);
  EXPECT_EQ(cli({"compare", a, a, a}).exit_code, 2);
  const Outcome missing = cli({"compare", a, a + ".not"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("no such file"));
}

} // namespace
} // namespace kg::cli::test
