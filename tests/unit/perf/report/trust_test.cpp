// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/run_quality.h"

#include "tests/unit/perf/report/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(Trust, CountsWhatIsDoubtful) {
  test::JudgedRun run = test::mixed();
  run.measured.environment["cpu"] = "EPYC";
  run.measured.environment["cuda_driver"] = "13.0";
  run.measured.environment["source"] = "1a2b3c4";
  run.measured.environment["date_utc"] = "2026-01-02T03:04:05Z";
  run.measured.rows[0].process_medians_ns = {100, 100, 100};
  run.measured.rows[1].ci_ns = {70, 90}; // of 80 ns
  for (const std::size_t row : {0, 2})
    run.measured.rows[row].canary = judge::MeasuredCanary{judge::CanaryKind::memory, 100, 0.01};
  run.judged.rows[0].healthy = true;
  run.judged.rows[4].verdict = judge::Verdict::env;
  run.judged.notes = {"a note"};
  EXPECT_THAT(trust_facts(run.measured, run.judged),
              ElementsAre(Pair("machine", "NVIDIA H200, EPYC"), Pair("driver", "CUDA 13.0"),
                          Pair("source", "1a2b3c4"), Pair("measured", "2026-01-02T03:04:05Z"),
                          Pair("processes per row", "2 to 3"),
                          Pair("rows whose median is uncertain by more than ±5 %", "1 of 4"),
                          Pair("rows with an unstable canary", "1 of 2"),
                          Pair("rows spoiled by the machine", "1"), Pair("note", "a note")));
  EXPECT_THAT(trust_markdown(run.measured, run.judged),
              HasSubstr("| machine | NVIDIA H200, EPYC |\n"));
}

TEST(Trust, SaysWhatIsNotKnown) {
  EXPECT_THAT(trust_facts({}, {}),
              ElementsAre(Pair("machine", "not known"), Pair("source", "not known"),
                          Pair("measured", "not known"), Pair("processes per row", "-"),
                          Pair("rows whose median is uncertain by more than ±5 %", "0 of 0"),
                          Pair("rows with an unstable canary", "0 of 0"),
                          Pair("rows spoiled by the machine", "0")));
}

} // namespace
} // namespace kg::report
