// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf/report/attachments.h"
#include "tests/unit/perf/report/counted.h"
#include "tests/unit/perf/report/page.h"
#include "tests/unit/perf/report/row_histories.h"
#include "tests/unit/perf/report/studies.h"
#include "tests/unit/perf/report/sweep.h"

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

TEST_F(Page, TheOverviewGivesOneVerdictAndWhatToDo) {
  const std::string page = shown(mixed(), "");
  EXPECT_THAT(page, AllOf(HasSubstr("FAILED"), HasSubstr(">2 of 4<"), HasSubstr("scan.csv:3"),
                          HasSubstr(">33.3 %<"), HasSubstr("gave a wrong or no result"),
                          HasSubstr("times as slow"), HasSubstr("✗ critical</span> 0")));
  EXPECT_LT(page.find("gave a wrong or no result"), page.find("times as slow"));
}

// The rows of `sweep.h`, as measured and passed.
JudgedRun swept() {
  JudgedRun run{test::crossing_run("linear"), {}};
  for (const judge::Measured& each : run.measured.rows) {
    judge::RowResult row;
    row.op = each.op;
    row.dtype = each.dtype;
    row.key = each.key;
    run.judged.rows.push_back(row);
  }
  return run;
}

TEST_F(Page, ARowShowsWhereTheFastestChangesAndWhatAutomaticLoses) {
  EXPECT_THAT(
      shown(swept(), "page=row&row=copy.f32.n1000%20root%20cold"),
      AllOf(HasSubstr("Between 2.93 KiB and 97.66 KiB the fastest of Kernelgrade’s changes from "
                      "linear to root: at about 9.766 KiB."),
            HasSubstr("✗ 216.2 % slower"), HasSubstr("✓ none")));
  EXPECT_THAT(shown(swept(), "page=advice"),
              HasSubstr("automatic takes linear, which is 216.2 % slower than root"));
}

TEST_F(Page, RowsAreFilteredAndSorted) {
  EXPECT_THAT(cases(shown(mixed(), "page=rows")),
              testing::ElementsAre("scan.f32.n64", "copy.f32.n128", "copy.f32.n64", "copy.f32.n64",
                                   "scan.f32.n64"))
      << "the worst first";
  EXPECT_THAT(cases(shown(mixed(), "page=rows&sort=median")),
              testing::ElementsAre("scan.f32.n64", "copy.f32.n64", "copy.f32.n64", "copy.f32.n128",
                                   "scan.f32.n64"));
  EXPECT_THAT(cases(shown(mixed(), "page=rows&sort=-median")),
              testing::ElementsAre("copy.f32.n128", "copy.f32.n64", "copy.f32.n64", "scan.f32.n64",
                                   "scan.f32.n64"))
      << "what has no value comes last";
  EXPECT_THAT(cases(shown(mixed(), "page=rows&verdict=regressed")),
              testing::ElementsAre("copy.f32.n128"));
  EXPECT_THAT(cases(shown(mixed(), "page=rows&q=SCAN")),
              testing::ElementsAre("scan.f32.n64", "scan.f32.n64"));
}

TEST_F(Page, ARowTellsItsStory) {
  const std::string page = shown(mixed(), "page=row&row=copy.f32.n128%20ours%20real");
  EXPECT_THAT(page, AllOf(HasSubstr("✗ regressed"), HasSubstr("says &lt;why&gt; &amp;"),
                          HasSubstr("400 ns"), HasSubstr("0.300"),
                          HasSubstr("distribution of the samples"), HasSubstr("time against size"),
                          HasSubstr("kernelgrade gate --op copy")));
  EXPECT_THAT(shown(mixed(), "page=row&row=copy.f32.n64%20ours%20real"),
              AllOf(HasSubstr("Variants and modes of this case"), HasSubstr(">0.800</td>")));
  EXPECT_THAT(shown(mixed(), "page=row&row=none"), HasSubstr("There is no row"));
}

TEST_F(Page, FailuresAndSkipsAreListedWithTheirReasons) {
  const std::string page = shown(mixed(), "page=failures");
  EXPECT_THAT(page, AllOf(HasSubstr("Failures (2)"), HasSubstr("Skipped and undecided (1)")));
}

TEST_F(Page, RooflineDrawsEveryMeasuredRow) {
  const std::string page = shown(mixed(), "page=roofline");
  EXPECT_THAT(page,
              AllOf(HasSubstr("copy.f32.n64 library real"), HasSubstr("scan.f32.n64 new real"),
                    Not(HasSubstr("scan.f32.n64 broken real: ")), HasSubstr("No ceiling")));
}

TEST_F(Page, LimitsByDesignStandBesideMeasuredOnes) {
  const judge::Ceilings measured = {{"dram_bytes_per_s", 1e12}, {"empty_launch_ns", 2500}};
  const std::string page = shown(known_gpu(), "page=environment", {}, {}, "", measured);
  EXPECT_THAT(page, AllOf(HasSubstr(">1280 GB/s<"), HasSubstr(">1000 GB/s<"), HasSubstr(">78.1 %<"),
                          HasSubstr(">12.8 TFLOP/s<"), HasSubstr(">empty launch<"),
                          HasSubstr(">2.5 us<"), Not(HasSubstr("Not known"))));
  EXPECT_THAT(shown(known_gpu(), "page=roofline", {}, {}, "", measured),
              AllOf(HasSubstr("memory, measured on this device: 1000 GB/s"),
                    HasSubstr("memory, by design: 1280 GB/s"),
                    HasSubstr("f32, by design: 12800 GFLOP/s"), HasSubstr("stroke-dasharray")));
  EXPECT_THAT(shown(mixed(), "page=environment"), HasSubstr("Not known"));
  EXPECT_THAT(shown(many(3), "page=environment"), HasSubstr("run on an emulator"));
}

TEST_F(Page, StudiesAreShownOneAtATime) {
  const std::string page = shown(mixed(), "page=studies", {}, test::studies());
  EXPECT_THAT(page, AllOf(HasSubstr("✓ passed"), HasSubstr("✗ failed"),
                          HasSubstr("18 of 18 experiments, 1 invalid, 1 exponent not as expected"),
                          HasSubstr("Time against size"), HasSubstr("library (vendor)"),
                          HasSubstr("tiled overtakes naive at about"), HasSubstr("Which to take"),
                          Not(HasSubstr("2.500"))));
  const std::string other = shown(
      mixed(), "page=studies&study=matmul&begun=2026-01-03T03%3A04%3A05Z", {}, test::studies());
  EXPECT_THAT(other, AllOf(HasSubstr("2.500"), HasSubstr("element 5 is 1, not &lt;2&gt;")));
  EXPECT_THAT(shown(mixed(), ""), Not(HasSubstr(">Studies</a>")));
}

TEST_F(Page, StudiesStandOnTheOtherPagesToo) {
  EXPECT_THAT(shown(mixed(), "", {}, test::studies()),
              AllOf(HasSubstr(">study matmul</a>"), HasSubstr(">Studies</a>"),
                    HasSubstr("</a>: 18 of 18 experiments, 1 invalid")));
  EXPECT_THAT(shown(mixed(), "page=failures", {}, test::studies()),
              AllOf(HasSubstr("Failures (4)"), HasSubstr("study matmul: naive"),
                    HasSubstr("time grows as n^2.500, not as n^3 ± 0.25")));
}

TEST_F(Page, ManyFaultsAreFolded) {
  JudgedRun run = mixed();
  for (int i = 0; i < 10; ++i) run.judged.faults.push_back("fault " + std::to_string(i));
  const std::string page = shown(run, "");
  EXPECT_LT(page.find("fault 3"), page.find("<summary>6 more</summary>"));
  EXPECT_GT(page.find("fault 4"), page.find("<summary>6 more</summary>"));
}

TEST_F(Page, CostsAreListedWorstFirst) {
  const std::string page = shown(mixed(), "page=costs", test::counted());
  EXPECT_THAT(page, AllOf(HasSubstr("5 of 5 rows"), HasSubstr(">sectors_per_request</td>"),
                          HasSubstr("4.1"), HasSubstr("copy.cu:12"), HasSubstr("misaligned read"),
                          HasSubstr("below the algorithmic minimum of 80")));
  EXPECT_LT(page.find(">unique_sectors</td>"), page.find(">sectors_per_request</td>"));
  EXPECT_LT(page.find(">sectors_per_request</td>"), page.find(">barriers</td>"));
  EXPECT_THAT(shown(mixed(), "page=costs&verdict=improved", test::counted()),
              AllOf(HasSubstr("1 of 5 rows"), HasSubstr(">collectives</td>")));
  EXPECT_THAT(shown(mixed(), "page=costs&sort=metric&variant=plain", test::counted()),
              HasSubstr("aria-sort=\"ascending\""));
}

TEST_F(Page, ResourcesShowWhatChanged) {
  EXPECT_THAT(shown(mixed(), "page=resources", test::counted()),
              AllOf(HasSubstr("0 → 16"), HasSubstr("sm_80-cuda13.0"), HasSubstr("copy.cu:8"),
                    HasSubstr("launch bounds")));
}

TEST_F(Page, CountsStandOnTheOtherPagesToo) {
  EXPECT_THAT(shown(mixed(), "", test::counted()),
              AllOf(HasSubstr("page=costs&amp;verdict=regressed"), HasSubstr(">Resources</a>"),
                    HasSubstr("value 4 -&gt; 4.1")));
  EXPECT_THAT(shown(mixed(), "page=failures", test::counted()), HasSubstr("Failures (5)"));
  EXPECT_THAT(shown(mixed(), ""), Not(HasSubstr(">Costs</a>")));
}

TEST_F(Page, BuildsSideBySideAreDrawnAndListedWorstFirst) {
  const std::string page = shown(mixed(), "page=compare", {}, test::attachments());
  EXPECT_THAT(page, AllOf(HasSubstr("A: 1a2b3c4d5e6f7a8b; B: working tree"),
                          HasSubstr("4 of 4 rows"), HasSubstr(">125 ns</td>"),
                          HasSubstr("copy.f32.n128 ours real: 0.800, regressed"),
                          HasSubstr("it found no memory")));
  EXPECT_LT(page.find(">copy.f32.n128</td>"), page.find(">copy.f32.n32</td>"));
  EXPECT_LT(page.find(">copy.f32.n32</td>"), page.find(">copy.f32.n256</td>"));
  EXPECT_LT(page.find(">copy.f32.n256</td>"), page.find(">scan.f32.n64</td>")) << "it has no ratio";
  EXPECT_THAT(shown(mixed(), ""), Not(HasSubstr(">A/B comparison</a>")));
}

TEST_F(Page, CorrectnessShowsTestsByTypeAndWhatTheyShowed) {
  const std::string page = shown(mixed(), "page=correctness", {}, test::attachments());
  EXPECT_THAT(page, AllOf(HasSubstr("✓ passed</span> 12</a>"),
                          HasSubstr("✗ failed</span> 1 of 12</a>"), HasSubstr("Failed tests (1)"),
                          HasSubstr("3 of 64 elements are wrong &lt;here&gt;"),
                          HasSubstr("Skipped tests (1)"), HasSubstr("needs a GPU"),
                          HasSubstr("✗ missing"), HasSubstr("2 of 2 rows")));
  EXPECT_THAT(shown(mixed(), "page=correctness&dtype=f16", {}, test::attachments()),
              AllOf(Not(HasSubstr("Failed tests")), HasSubstr("1 of 2 rows")));
}

TEST_F(Page, MutantsThatSurviveComeFirst) {
  const std::string page = shown(mixed(), "page=mutants", {}, test::attachments());
  EXPECT_THAT(page, AllOf(HasSubstr("✗ 2 of 3"), HasSubstr("3 of 3 rows"),
                          HasSubstr("exact (expected bounds)"), HasSubstr("✗ survived")));
  EXPECT_LT(page.find(">late</td>"), page.find(">one_short</td>"));
}

TEST_F(Page, TestsStandOnTheOtherPagesToo) {
  EXPECT_THAT(shown(mixed(), "", {}, test::attachments()),
              AllOf(HasSubstr("1 of 12 correctness tests fail"),
                    HasSubstr("no test finds this bug (A barrier is missing)"),
                    HasSubstr(">Mutants</a>"), HasSubstr(">66.6 %<")));
  EXPECT_THAT(shown(mixed(), "page=failures", {}, test::attachments()),
              AllOf(HasSubstr("Failures (5)"), HasSubstr("Skipped and undecided (3)"),
                    HasSubstr("KERNELGRADE_MUTANT=late build/host/copy_mutants_test"),
                    HasSubstr("beside 1a2b3c4d5e6f")));
}

TEST_F(Page, TheHistoryMarksWhatChanged) {
  const std::string page = shown(mixed(), "page=history", {}, test::histories());
  EXPECT_THAT(page, AllOf(HasSubstr("copy.f32.n64 ours real over 200 runs"),
                          HasSubstr("2 of 2 rows"), HasSubstr("x SLOWER from commit 060abcdef012"),
                          HasSubstr("x SLOWER from commit 120abcdef012"),
                          HasSubstr("x faster from commit 160abcdef012"),
                          HasSubstr("machine NVIDIA H200 -&gt; NVIDIA H200 NVL with commit 040"),
                          HasSubstr("driver 570.1 -&gt; 580.2 with commit 100"),
                          HasSubstr("baseline none -&gt; 100 ns with commit 020"),
                          HasSubstr("<title>199abcdef012, 2026-04-16: ")));
  const std::string other =
      shown(mixed(), "page=history&row=copy.f32.n128%20ours%20real", {}, test::histories());
  EXPECT_THAT(other, HasSubstr("copy.f32.n128 ours real over 200 runs"));
  EXPECT_THAT(shown(mixed(), "page=row&row=copy.f32.n64%20ours%20real", {}, test::histories()),
              AllOf(HasSubstr("Over commits"), HasSubstr("x SLOWER from commit 060abcdef012")));
  EXPECT_THAT(shown(mixed(), ""), Not(HasSubstr(">History</a>")));
}

TEST_F(Page, TheKeyboardStaysWhereItWas) {
  shown(mixed(), "page=rows&sort=median", {}, {},
        "const button = document.getElementById('sort-median'); button.focus(); show();"
        "document.title = document.activeElement.id + ' ' + button.isConnected;");
  EXPECT_EQ(title_, "sort-median false") << "the button is a new one";
}

TEST_F(Page, ThousandsOfRowsAreShownInParts) {
  const std::string page = shown(many(5000), "page=rows&sort=-ratio");
  EXPECT_THAT(page, AllOf(HasSubstr("5000 of 5000 rows, the first 200 shown"),
                          HasSubstr("show 1000 more")));
  EXPECT_EQ(cases(page).size(), 200u);
  EXPECT_EQ(cases(page).front(), "op19.f32.n249");
}

} // namespace
} // namespace kg::report
