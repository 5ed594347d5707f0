// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/result.h"

#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"
#include "tests/unit/perf/judge/rows.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using test::Folder;
using test::key;
using test::measured;

std::string error_of(const std::string& contents) {
  try {
    results_from_json(contents, "run.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The JSON of a run of one quiet row, with one piece of text replaced.
std::string run_with(const std::string& piece, const std::string& replacement) {
  std::string json = to_json(Results{{}, {measured(100)}});
  const auto at = json.find(piece);
  EXPECT_NE(at, json.npos) << piece;
  return json.replace(at, piece.size(), replacement);
}

// The JSON of one quiet row of one process, changed.
std::string error_of_row(void (*change)(Measured&)) {
  Measured row = measured(100);
  change(row);
  return error_of(to_json(Results{{}, {row}}));
}

TEST(Result, RefusesFiguresThatContradictEachOther) {
  EXPECT_EQ(error_of_row([](Measured&) {}), "no error");
  const auto refused = [](const std::string& error, const char* why) {
    EXPECT_NE(error.find(why), error.npos) << error;
  };
  refused(error_of_row([](Measured& row) {
            for (double& ns : row.samples_ns) ns *= 3;
            row.process_medians_ns = {300};
          }),
          "is 100, and the samples lie in");
  refused(error_of_row([](Measured& row) {
            row.process_medians_ns = {290, 300, 310};
          }),
          "the medians of its processes lie in [290, 310]");
  refused(error_of_row([](Measured& row) { row.ci_ns.low = 1; }), "ci_lo_ns");
  refused(error_of_row([](Measured& row) { row.ci_ns.high = 1e12; }), "ci_hi_ns");
  refused(error_of_row([](Measured& row) {
            row.canary = {CanaryKind::memory, 1000, 99};
          }),
          "half_width");
}

TEST(Result, ReadsTheCanaryOfABusyMachine) {
  const std::vector<double> uneven = {1, 1, 1, 1, 1, 2, 2, 2, 2, 2}; // 1.5, in [1, 2]
  EXPECT_NEAR(measured_canary(CanaryKind::sync, uneven).half_width, 1.0 / 3, 1e-9);
  const auto beside_busy_canary = [](Measured& row) {
    const std::vector<double> busy = {1, 1, 1, 1, 1, 1, 1000, 1000, 1000};
    row.canary = measured_canary(CanaryKind::sync, busy);
    EXPECT_EQ(row.canary->half_width, kWidestCanary);
  };
  EXPECT_EQ(error_of_row(beside_busy_canary), "no error");
}

TEST(Result, TakesSamples) {
  Measured row;
  take_samples(row, {5, 1, 2, 3, 4, 6, 7, 8});
  EXPECT_EQ(row.median_ns, 4.5);
  EXPECT_EQ(row.ci_ns, (Interval{1, 8}));
  EXPECT_EQ(row.process_medians_ns, std::vector<double>{4.5});
  EXPECT_EQ(row.samples_ns.front(), 5) << "in the order taken";
  EXPECT_THROW(take_samples(row, {}), Error);
}

TEST(Result, RoundTripKeepsEveryDigit) {
  const Folder folder;
  Measured row = measured(100.0 / 3);
  row.note = "note \"1\"";
  row.tags = {{"sm_clock_mhz", "1980"}};
  row.identity = "9f3c";
  row.setup_ns = 1e6 / 3;
  row.first_call_ns = 2e6 / 3;
  row.jit_ns = 4e5 / 3;
  row.peak_bytes = 12345678;
  row.turn_medians_ns = {1e5 / 3, 2e5 / 3};
  row.kind = Kind::vendor;
  Measured skipped;
  skipped.op = "softmax";
  skipped.key = key("softmax.f16.r1_c1", "onednn");
  skipped.skipped = "oneDNN has no f16 on this CPU";
  Measured wrong = measured(5, key("softmax.f32.r2_c2"));
  wrong.verified = "element 3 is 0.5, not 0.25";
  wrong.canary.reset();
  wrong.tf32 = true;
  const Results run = {{{"device", "host"}, {"compiler", "g++ 12.2"}}, {row, skipped, wrong}};
  save_results(folder.path() / "run.json", run);
  const Results reread = load_results(folder.path() / "run.json");
  EXPECT_EQ(reread.environment, run.environment);
  EXPECT_EQ(reread.rows, run.rows);
  EXPECT_THROW(load_results(folder.path() / "other.json"), Error);
}

TEST(Result, FilesFromBeforeTheTimesOfSetUpAreRead) {
  std::string json = to_json(Results{{}, {measured(100)}});
  for (const std::string member : {"setup_ns", "first_call_ns", "jit_ns", "peak_bytes"}) {
    const std::string text = "\"" + member + "\":0.0,";
    const auto at = json.find(text);
    ASSERT_NE(at, json.npos) << json;
    json.erase(at, text.size());
  }
  EXPECT_EQ(results_from_json(json, "run.json").rows.at(0), measured(100));
}

TEST(Result, AnEmptyRunIsReadBack) {
  EXPECT_TRUE(results_from_json(to_json(Results{}), "run.json").rows.empty());
}

TEST(Result, ASlopeOfGraphsMayBeNegative) {
  Results run{{}, {measured(100, key(key().case_id, "online", Mode::graph))}};
  run.rows[0].samples_ns[3] = -1;
  EXPECT_EQ(results_from_json(to_json(run), "run.json").rows, run.rows);
  run.rows[0].key.mode = Mode::hot;
  EXPECT_EQ(error_of(to_json(run)),
            "run.json: /rows/0/samples_ns/3: expected a positive number, got -1.0");
}

TEST(Result, ErrorsNameFileAndPointer) {
  EXPECT_EQ(error_of(run_with("\"mode\":\"real\"", "\"mode\":\"warm\"")),
            "run.json: /rows/0/mode has an unknown value; use cold, hot, graph or real");
  EXPECT_EQ(error_of(run_with("\"kind\":\"ours\"", "\"kind\":\"theirs\"")),
            "run.json: /rows/0/kind has an unknown value; use `ours` or `vendor`");
  EXPECT_EQ(
      error_of(run_with("\"kind\":\"memory\"", "\"kind\":\"tea\"")),
      "run.json: /rows/0/canary/kind has an unknown value; use memory, compute, sync or launch");
  EXPECT_EQ(error_of(run_with("\"median_ns\":1000.0", "\"median_ns\":-1")),
            "run.json: /rows/0/canary/median_ns: expected a positive number, got -1");
  EXPECT_EQ(
      error_of(run_with("\"process_medians_ns\":[100.0]", "\"process_medians_ns\":[100.0,0]")),
      "run.json: /rows/0/process_medians_ns/1: expected a positive number, got 0");
  for (const char* beyond : {"1.1e18", "-1.1e18", "1e300"}) {
    SCOPED_TRACE(beyond);
    const std::string got =
        ": expected a number from -1e+18 to 1e+18, got " + nlohmann::json::parse(beyond).dump();
    EXPECT_EQ(error_of(run_with("\"bytes\":32768.0", std::string("\"bytes\":") + beyond)),
              "run.json: /rows/0/bytes" + got);
    EXPECT_EQ(error_of(run_with("\"process_medians_ns\":[100.0]",
                                std::string("\"process_medians_ns\":[") + beyond + "]")),
              "run.json: /rows/0/process_medians_ns/0" + got);
  }
  EXPECT_EQ(error_of(run_with("\"bytes\":32768.0", "\"bytes\":1e18")), "no error");
  EXPECT_EQ(error_of(run_with("\"op\":\"softmax\",", "")),
            "run.json: /rows/0/op is missing; add it, or write the file anew");
  EXPECT_EQ(error_of(run_with("\"op\":", "\"opp\":1,\"op\":")),
            "run.json: /rows/0/opp is unknown; remove it");
  EXPECT_EQ(error_of(run_with("\"median_ns\":100.0", "\"median_ns\":200.0")),
            "run.json: /rows/0/median_ns lies outside its interval; measure again");
  EXPECT_EQ(
      error_of(run_with("\"schema\":1", "\"schema\":0")),
      "run.json: /schema is 0, but this program reads 1; write the file anew with this program, "
      "or use the program that wrote it");
  EXPECT_EQ(error_of(to_json(Results{{}, {measured(1), measured(2)}})),
            "run.json: /rows/1/case repeats the row softmax.f32.r64_c64 online real; keep the "
            "correct one");
}

TEST(Merge, DifferentRowsStandSideBySide) {
  const Results merged =
      merge(std::vector<Results>{{{{"device", "host"}}, {measured(100)}},
                                 {{{"os", "linux"}}, {measured(50, key("softmax.f16.a"))}}});
  ASSERT_EQ(merged.rows.size(), 2u);
  EXPECT_EQ(merged.rows[0].key.case_id, "softmax.f16.a");
  EXPECT_EQ(merged.rows[1], measured(100)) << "a row of one process stays as it is";
  EXPECT_EQ(merged.environment.size(), 2u);
}

TEST(Merge, ProcessesOfOneRowAreReplicates) {
  Measured slow = measured(130);
  slow.canary = MeasuredCanary{CanaryKind::memory, 1300, 0.05};
  slow.verified = "wrong after timing";
  slow.tags = {{"clock", "low"}};
  Measured quick = measured(90);
  quick.tags = {{"clock", "high"}};
  const Results merged =
      merge(std::vector<Results>{{{}, {measured(100)}}, {{}, {slow}}, {{}, {quick}}});
  ASSERT_EQ(merged.rows.size(), 1u);
  const Measured& row = merged.rows.front();
  EXPECT_EQ(row.process_medians_ns, (std::vector<double>{100, 100, 90}))
      << "in units of the canary, which was slow beside the slow one";
  EXPECT_EQ(row.samples_ns.size(), 3 * 41u);
  EXPECT_EQ(row.median_ns, 100) << "of the process medians";
  EXPECT_EQ(row.ci_ns, (Interval{90, 100})) << "three processes cannot promise more";
  EXPECT_EQ(row.canary, (MeasuredCanary{CanaryKind::memory, 1000, 0.01}));
  EXPECT_EQ(row.verified, "wrong after timing");
  EXPECT_EQ(row.tags.at("clock"), "low; high");
}

TEST(Merge, WhatComesBeforeTheSteadyTimesIsTheMedianAndMemoryTheMost) {
  std::vector<Results> runs;
  for (const double factor : {1.0, 5.0, 2.0}) {
    Measured row = measured(100);
    row.setup_ns = 10 * factor;
    row.first_call_ns = 100 * factor;
    row.peak_bytes = 1000 * factor;
    runs.push_back({{}, {row}});
  }
  runs[1].rows[0].setup_ns = 0; // not known
  const Measured row = merge(runs).rows.at(0);
  EXPECT_EQ(row.setup_ns, 15);
  EXPECT_EQ(row.first_call_ns, 200);
  EXPECT_EQ(row.jit_ns, 0);
  EXPECT_EQ(row.peak_bytes, 5000);
}

TEST(Merge, ContradictionsAreRefused) {
  const Results run = {{{"device", "host"}}, {measured(100)}};
  const auto merges_with = [&](Results other) {
    return merge(std::vector<Results>{run, std::move(other)});
  };
  EXPECT_NO_THROW(merges_with(run));
  Results other = run;
  other.environment["device"] = "nvidia-h200";
  EXPECT_THROW(merges_with(other), Error);
  other = run;
  other.rows[0].bytes = 1;
  EXPECT_THROW(merges_with(other), Error);
  other = run;
  other.rows[0].identity = "changed";
  EXPECT_THROW(merges_with(other), Error);
  other = run;
  other.rows[0].canary->kind = CanaryKind::sync;
  EXPECT_THROW(merges_with(other), Error);
  other = run;
  other.rows[0].canary.reset();
  EXPECT_THROW(merges_with(other), Error);
}

} // namespace
} // namespace kg::judge
