// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_result.h"

#include "perf/judge/result.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/exact_rows.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace kg::judge {
namespace {

using test::cost;
using test::kernel;
using test::kernel_with;
using test::measured;

// What a file does not carry: the baseline's part of a row.
ExactMeasured counted(ExactRow row, Gating gating = Gating::always) {
  row.why.clear();
  row.line = 0;
  return {std::move(row), gating, "gemm_tiled.cu:160", "pad by one"};
}

Results all_kinds() {
  Results run;
  run.environment = {{"source", "abc"}};
  run.costs = {counted(cost(8)), counted(cost(1.0 / 3, "shared_wavefronts"), Gating::same_counter)};
  run.costs.push_back(counted(cost(0, "waves")));
  run.costs.back().fault = "it does not fit";
  ExactMeasured row = counted(kernel());
  row.hints = {{"divisions", "at gather.h:100"}};
  row.as_blessed = "not compiled: unchanged";
  run.resources = {{"sm_80-cuda13.0", {row}}, {"sm_90a-cuda13.0", {row}}};
  return run;
}

TEST(ExactResult, ReadsWhatItWrites) {
  const Results run = all_kinds();
  const Results read = results_from_json(to_json(run), "a.json");
  EXPECT_EQ(read.costs, run.costs);
  EXPECT_EQ(read.resources, run.resources);
  EXPECT_EQ(read.environment, run.environment);
}

TEST(ExactResult, WhatWasNotReadIsLeftOut) {
  Results run;
  const ExactMeasured row = counted(test::kernel_with(9, std::numeric_limits<double>::quiet_NaN()));
  run.resources = {{"sm_90a-cuda13.0", {row}}};
  EXPECT_EQ(to_json(run).find("bytes_in_flight"), std::string::npos);
  ExactRows read = results_from_json(to_json(run), "a.json").resources.at("sm_90a-cuda13.0");
  EXPECT_TRUE(std::isnan(read.at(0).row.values.at(9)));
  EXPECT_EQ(read.at(0).row.values.at(10), 120.5);
  append(read, read); // it is the same row
  EXPECT_EQ(read.size(), 1u);
}

TEST(ExactResult, FilesOfTimingsAloneAreAsTheyWere) {
  const std::string before = "{\"schema\":1,\n\"environment\":{},\n\"rows\":[\n]}\n";
  EXPECT_EQ(to_json(Results()), before);
  const Results read = results_from_json(before, "old.json");
  EXPECT_TRUE(read.costs.empty());
  EXPECT_TRUE(read.resources.empty());
}

TEST(ExactResult, WhatIsWrongIsNamed) {
  const auto fault = [](std::string text, const std::string& piece, const std::string& other) {
    text.replace(text.find(piece), piece.size(), other);
    try {
      results_from_json(text, "a.json");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string text = to_json(all_kinds());
  EXPECT_NE(fault(text, "\"value\":8.0", "\"value\":-8.0")
                .find("a.json: /costs/0/value: expected a number from 0, got -8.0"),
            std::string::npos);
  EXPECT_NE(fault(text, "\"always\"", "\"often\"").find("/costs/0/gating has an unknown value"),
            std::string::npos);
  EXPECT_NE(fault(text, "\"threads\"", "\"thread\"").find("/resources/0/rows/0/threads is missing"),
            std::string::npos);
}

TEST(ExactResult, MergeJoinsAndRefusesContradictions) {
  Results costs, more, kernels;
  costs.costs = {counted(cost(8))};
  more.costs = {counted(cost(8)), counted(cost(9, "shared_wavefronts"))};
  kernels.resources = {{"sm_80-cuda13.0", {counted(kernel())}}};
  const std::vector<Results> runs = {costs, more, kernels};
  const Results merged = merge(runs);
  EXPECT_EQ(merged.costs.size(), 2u) << "equal counts are the same row";
  EXPECT_EQ(merged.resources.at("sm_80-cuda13.0").size(), 1u);

  Results other;
  other.costs = {counted(cost(7))};
  EXPECT_THROW(merge(std::vector<Results>{costs, other}), Error);
  other.costs.clear();
  other.resources = {{"sm_80-cuda13.0", {counted(kernel_with(1, 16))}}};
  EXPECT_THROW(merge(std::vector<Results>{kernels, other}), Error);
}

} // namespace
} // namespace kg::judge
