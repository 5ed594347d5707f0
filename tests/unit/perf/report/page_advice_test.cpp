// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page recommends, and what it does not.
#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/counted.h"
#include "tests/unit/perf/report/page.h"

#include <algorithm>
#include <vector>

namespace kg::report {
namespace {

using test::JudgedRun;
using test::known_gpu;
using test::many;
using test::mixed;
using test::Page;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(Page, RecommendationsAreOrderedByTheirGain) {
  JudgedRun run = mixed(); // copy.f32.n64 takes 1.25 times as long as the vendor's
  run.add("scan.f32.n32", "naive", judge::Verdict::pass, 900, 1.0);
  run.add("scan.f32.n32", "ours", judge::Verdict::improved, 300, 1.5);
  run.add("scan.f32.n32", "library", judge::Verdict::pass, 100, 1.0, judge::Kind::vendor);
  const std::string page = shown(run, "page=advice");
  std::vector<std::size_t> places;
  for (const char* piece :
       {"Fix first (2)", "gave a wrong or no result", "3.333 times as slow as its baseline",
        "Make faster (2)", "<strong>up to 3 times as fast: </strong>",
        "takes 300 ns, the vendor 100 ns", "<strong>up to 1.25 times as fast: </strong>",
        "takes 100 ns, the vendor 80 ns", "Keep what was won (2)",
        "1.5 times as fast as its baseline", "have no baseline"}) {
    EXPECT_THAT(page, HasSubstr(piece));
    places.push_back(page.find(piece));
  }
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_THAT(page, Not(HasSubstr("up to 9 times"))) << "a faster variant stands beside it";
  EXPECT_THAT(shown(many(3), "page=advice"), HasSubstr("Nothing: no row fails"));
}

// A naive variant stays as it is, also where it is the fastest.
TEST_F(Page, NaiveVariantsAreNotToBeMadeFaster) {
  JudgedRun run = many(1);
  run.measured.environment = {{"device", "nvidia-h200"}};
  run.add("scan.f32.n32", "naive", judge::Verdict::pass, 200, 1.0);
  run.add("scan.f32.n32", "library", judge::Verdict::pass, 100, 1.0, judge::Kind::vendor);
  CountedSections counted = test::counted();
  counted[0].measured[3].row.key[1] = "naive_nhwc";
  counted[0].measured[3].row.values = {10, 4}; // sectors_per_request, 4 at least
  EXPECT_THAT(shown(run, "page=advice", counted), Not(HasSubstr("Make faster")));
  run.measured.rows[run.measured.rows.size() - 2].key.variant = "ours";
  for (judge::RowResult& row : run.judged.rows)
    if (row.key.variant == "naive") row.key.variant = "ours";
  EXPECT_THAT(shown(run, "page=advice", counted), HasSubstr("Make faster (1)"));
}

// What a CPU's times say holds of no GPU: they are folded away, and nothing is to be done about
// them.
TEST_F(Page, OfTheEmulatorsTimesNothingIsAdvised) {
  JudgedRun run = mixed();
  run.measured.environment = {{"device", "host"}};
  run.add("scan.f32.n32", "ours", judge::Verdict::improved, 300, 1.5);
  run.add("scan.f32.n32", "library", judge::Verdict::pass, 100, 1.0, judge::Kind::vendor);
  const std::string page = shown(run, "", test::counted(), test::attachments());
  std::size_t at = 0;
  for (const char* piece :
       {"FAILED", "What holds on a GPU, too", ">correctness tests</a>", ">costs</a>", "What to do",
        "<details><summary>Times of the emulator on this CPU", ">timings of Kernelgrade</a>",
        "Categories", "Can this run be trusted?"}) {
    const std::size_t next = page.find(piece, at);
    ASSERT_NE(next, std::string::npos) << piece;
    at = next;
  }
  EXPECT_THAT(page, AllOf(Not(HasSubstr(", the vendor ")), Not(HasSubstr("bless it, or")),
                          Not(HasSubstr("have no baseline")), Not(HasSubstr(">Roofline</a>"))));
}

TEST_F(Page, OfWhatNoVendorHasTheRoofSaysWhatIsToGain) {
  JudgedRun run = known_gpu();
  run.add("fill.f32.n64", "ours", judge::Verdict::pass, 100, 1.0);
  for (judge::Measured& row : run.measured.rows) row.key.mode = judge::Mode::cold;
  for (judge::RowResult& row : run.judged.rows) row.key.mode = judge::Mode::cold;
  EXPECT_THAT(shown(run, "page=advice", {}, {}, "", {{"dram_bytes_per_s", 2e12}}),
              AllOf(HasSubstr("up to 2 times as fast: </strong><a href=\"#page=row&amp;row=fill"),
                    HasSubstr("reaches 50.0 % of what this device")));
  EXPECT_THAT(shown(run, "page=row&row=fill.f32.n64%20ours%20cold", {}, {}, "",
                    {{"dram_bytes_per_s", 2e12}}),
              HasSubstr(">50.0 %<"));
}

TEST_F(Page, WhatEvenTheBestVariantWastesIsAdvised) {
  CountedSections counted = test::counted();
  judge::ExactMeasured other = counted[0].measured[3]; // sectors_per_request, 4 at least
  counted[0].measured[3].row.values = {10, 4};
  other.row.key[1] = "better";
  other.row.values = {6, 4};
  counted[0].measured.push_back(other);
  counted[0].result.rows.push_back(counted[0].result.rows[3]);
  EXPECT_THAT(shown(mixed(), "", counted),
              AllOf(HasSubstr("copy.f32.n64 better</a>: 1.5 times the sectors that its requests "
                              "need, most of it at copy.cu:12: misaligned read"),
                    Not(HasSubstr("2.5 times the sectors"))));
}

} // namespace
} // namespace kg::report
