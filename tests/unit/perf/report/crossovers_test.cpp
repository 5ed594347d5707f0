// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/crossovers.h"

#include "perf/report/report.h"
#include "tests/unit/perf/report/run.h"
#include "tests/unit/perf/report/sweep.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::report {
namespace {

using test::crossing_run;
using test::sweep_row;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Sweep, PlacesTheCrossoverBetweenNeighbouringCases) {
  const auto found = sweeps(crossing_run());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].shape, "n#");
  EXPECT_EQ(found[0].unit, "bytes");
  ASSERT_EQ(found[0].points.size(), 3u);
  EXPECT_EQ(found[0].points[1].fastest, "linear");
  EXPECT_EQ(found[0].points[2].fastest, "root");
  ASSERT_EQ(found[0].changes.size(), 1u);
  const SweepChange& change = found[0].changes[0];
  EXPECT_EQ(change.before, "linear");
  EXPECT_EQ(change.after, "root");
  EXPECT_EQ(change.from, 3000);
  EXPECT_EQ(change.to, 100000);
  ASSERT_TRUE(change.size.has_value()) << change.reason;
  EXPECT_NEAR(*change.size, 1e4, 1e-6);
}

TEST(Sweep, DoesNotPlaceWhatIntervalsLeaveOpen) {
  judge::Results run = crossing_run();
  run.rows[2].ci_ns = {2500, 6000}; // linear at 3000, over root's 5477
  const auto found = sweeps(run);
  ASSERT_EQ(found[0].changes.size(), 1u);
  EXPECT_FALSE(found[0].changes[0].size.has_value());
  EXPECT_EQ(found[0].changes[0].reason,
            "the intervals of linear and root overlap in copy.f32.n3000");
  EXPECT_THAT(found[0].points[1].as_fast, ElementsAre("root"));
}

TEST(Sweep, DoesNotPlaceWhereAVariantHasNoTime) {
  for (const bool is_wrong : {false, true}) {
    judge::Results run = crossing_run();
    if (is_wrong)
      run.rows[4].verified = "wrong";
    else
      run.rows.erase(run.rows.begin() + 4);
    const auto found = sweeps(run);
    ASSERT_EQ(found[0].changes.size(), 1u);
    EXPECT_FALSE(found[0].changes[0].size.has_value());
    EXPECT_EQ(found[0].changes[0].reason, "linear has no time in copy.f32.n100000");
  }
}

TEST(Sweep, SaysWhereItIsNotTheSizeThatDecides) {
  judge::Results run{{{"device", "nvidia-h200"}}, {}};
  const auto add = [&](const std::string& shape, double bytes, double warp, double block) {
    run.rows.push_back(sweep_row("softmax.f32." + shape, "warp", bytes, warp));
    run.rows.push_back(sweep_row("softmax.f32." + shape, "block", bytes, block));
  };
  add("rows8_cols8", 64, 1, 2);
  add("rows64_cols16", 1024, 5, 8);
  add("rows16_cols64", 1030, 9, 7);
  add("rows64_cols64", 4096, 40, 30);
  const auto found = sweeps(run);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].shape, "rows#_cols#");
  ASSERT_EQ(found[0].changes.size(), 1u);
  EXPECT_FALSE(found[0].changes[0].size.has_value());
  EXPECT_EQ(found[0].changes[0].from, 1024);
  EXPECT_EQ(found[0].changes[0].to, 1030);
  EXPECT_EQ(
      found[0].changes[0].reason,
      "cases of about one size differ: softmax.f32.rows64_cols16 and softmax.f32.rows16_cols64");
}

TEST(Sweep, KeepsShapesTypesAndModesApart) {
  judge::Results run{{{"device", "nvidia-h200"}}, {}};
  run.rows = {sweep_row("copy.f32.n64", "v", 64, 1), sweep_row("copy.f32.n128", "v", 128, 1),
              sweep_row("copy.f16.n64", "v", 64, 1), sweep_row("copy.f32.rows8_cols8", "v", 64, 1),
              sweep_row("copy.f32.n64", "v", 64, 1)};
  run.rows.back().key.mode = judge::Mode::hot;
  const auto found = sweeps(run);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].points.size(), 2u);
  EXPECT_EQ(found[0].mode, "cold");
  EXPECT_EQ(found[1].dtype, "f16");
  EXPECT_EQ(found[2].shape, "rows#_cols#");
  EXPECT_EQ(found[3].mode, "hot");
}

TEST(Sweep, CountsOperationsWhereThereAreMany) {
  judge::Results run{{{"device", "nvidia-h200"}}, {}};
  run.rows = {sweep_row("gemm.f32.m8", "v", 10, 1), sweep_row("gemm.f32.m16", "v", 20, 2)};
  for (judge::Measured& row : run.rows) row.flops = 9 * row.bytes;
  const auto found = sweeps(run);
  EXPECT_EQ(found[0].unit, "flops");
  EXPECT_EQ(found[0].points[1].size, 180);
}

TEST(Sweep, LeavesLibrariesOut) {
  judge::Results run = crossing_run();
  for (std::size_t i = 1; i < run.rows.size(); i += 2) run.rows[i].kind = judge::Kind::vendor;
  EXPECT_EQ(sweeps(run)[0].points[2].fastest, "linear");
}

TEST(Automatic, IsHeldAgainstTheFastest) {
  const auto points = sweeps(crossing_run("linear"))[0].points;
  EXPECT_EQ(points[0].automatic, "linear");
  EXPECT_EQ(points[0].loss_pct, 0);
  EXPECT_EQ(points[1].loss_pct, 0);
  EXPECT_NEAR(points[2].loss_pct.value(), 100 * (std::sqrt(1e5) / 100 - 1), 1e-9);
}

TEST(Automatic, LosesNothingWithinTheNoise) {
  judge::Results run = crossing_run("root");
  run.rows[2].ci_ns = {2500, 6000};
  const auto points = sweeps(run)[0].points;
  EXPECT_GT(points[0].loss_pct, 200);
  EXPECT_EQ(points[1].loss_pct, 0);
}

TEST(Automatic, IsJudgedWhereItsChoiceHasATimeOnAGpu) {
  EXPECT_EQ(sweeps(crossing_run())[0].points[2].loss_pct, std::nullopt) << "the rows do not say";
  EXPECT_EQ(sweeps(crossing_run("tiled"))[0].points[2].loss_pct, std::nullopt) << "no time";
  judge::Results on_host = crossing_run("linear");
  on_host.environment["device"] = "host";
  EXPECT_EQ(sweeps(on_host)[0].points[2].automatic, "linear");
  EXPECT_EQ(sweeps(on_host)[0].points[2].loss_pct, std::nullopt);
}

TEST(SweepFaces, NameTheCrossoverAndTheLoss) {
  const judge::Results run = crossing_run("linear");
  EXPECT_THAT(markdown(sweeps(run)),
              AllOf(HasSubstr("In 1 of 1 sweeps"),
                    HasSubstr("| copy.f32.n# | cold | linear -> root | 9.766 KiB (between 2.93 KiB "
                              "and 97.66 KiB) | - |"),
                    HasSubstr("`automatic` takes a slower variant in 1 of 3 cases and modes"),
                    HasSubstr("| copy.f32.n100000 | cold | linear | root | 216.2 % |")));
  const nlohmann::json all = json(sweeps(run));
  EXPECT_NEAR(all[0]["changes"][0]["size"].get<double>(), 1e4, 1e-6);
  EXPECT_FALSE(all[0]["changes"][0].contains("reason"));
  EXPECT_NEAR(all[0]["points"][2]["loss_pct"].get<double>(), 216.2, 0.1);
  EXPECT_EQ(markdown(std::vector<Sweep>{}), "");
}

TEST(SweepFaces, SayWhatIsNotResolvedAndNotJudged) {
  judge::Results run = crossing_run();
  run.rows.erase(run.rows.begin() + 4);
  EXPECT_THAT(markdown(sweeps(run)),
              AllOf(HasSubstr("not resolved (between 2.93 KiB and 97.66 KiB) | linear has no time"),
                    HasSubstr("is not judged"), Not(HasSubstr("takes a slower variant"))));
  const nlohmann::json all = json(sweeps(run));
  EXPECT_FALSE(all[0]["changes"][0].contains("size"));
  EXPECT_FALSE(all[0]["points"][0].contains("automatic"));
}

TEST(SweepFaces, StandInTheReport) {
  const judge::Results run = crossing_run("linear");
  const auto report = nlohmann::json::parse(json(run, judge::GateResult{}));
  EXPECT_EQ(report["crossovers"], json(sweeps(run)));
  EXPECT_THAT(markdown(run, judge::GateResult{}), HasSubstr(markdown(sweeps(run))));
}

} // namespace
} // namespace kg::report
