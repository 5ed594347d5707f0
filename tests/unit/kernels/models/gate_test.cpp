// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/gate.h"

#include "perf/judge/baseline.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace kg::test {
namespace {

using testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), with);
}

// Of one small model, in a folder of its own.
class ModelGate : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(gate(true), 0) << out_; }

  int gate(bool bless = false, const std::string& part = "mlp_dim64", const std::string& why = "") {
    perf::GateCall call;
    call.part = part;
    call.runs = 1;
    call.baselines = folder_.path();
    call.bless = bless;
    call.why = why;
    call.source = "0123456789ab";
    std::ostringstream out;
    const int exit = perf::gate(call, out);
    out_ = out.str();
    return exit;
  }
  std::filesystem::path file() const { return folder_.path() / "models/host/memory.csv"; }
  std::string held() const { return *read_file(file()); }

  std::string out_;

 private:
  TemporaryFolder folder_;
};

TEST_F(ModelGate, WhatIsAsBlessedPasses) {
  EXPECT_EQ(gate(), 0) << out_;
  for (const char* word : {"6 pass", "excellent", "backward", "whole", "informational"})
    EXPECT_THAT(out_, HasSubstr(word));
}

TEST_F(ModelGate, AByteMoreFails) {
  perf::ModelFigures now = perf::figures({.name = "mlp", .mlp = {64, 4}, .batch = 32}, 0);
  const double peak = now.memory.front().row.values[0];
  write_file(file(), replaced(held(), fmt::format("forward,{:.0f},", peak),
                              fmt::format("forward,{:.0f},", peak - 1)));
  EXPECT_EQ(gate(), 1);
  EXPECT_THAT(out_, HasSubstr("regressed: peak_bytes"));
  EXPECT_EQ(gate(true), 1) << "blessed without a reason";
  EXPECT_EQ(gate(true, "mlp_dim64", "a test"), 0);
  EXPECT_EQ(gate(), 0) << out_;
}

TEST_F(ModelGate, WhatIsMissingFails) {
  const std::string whole = held();
  const std::size_t last = whole.rfind("\n1,") + 1;
  write_file(file(), whole.substr(0, last));
  EXPECT_EQ(gate(), 1);
  EXPECT_THAT(out_, HasSubstr("has no such row"));
  write_file(file(), whole + replaced(whole.substr(last), ",whole,", ",zeroth,"));
  EXPECT_EQ(gate(), 1);
  EXPECT_THAT(out_, HasSubstr("orphan"));
  write_file(file(), whole + "1,model.f32");
  EXPECT_EQ(gate(), 1);
  std::filesystem::remove(file());
  EXPECT_EQ(gate(), 1);
  EXPECT_THAT(out_, HasSubstr("does not exist"));
  EXPECT_EQ(gate(false, "no such model"), 1);
  EXPECT_THAT(out_, HasSubstr("judges nothing"));
}

// A GPU's times, made up: what judge_run concludes of operations is tested where it is written.
class ModelTimes : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_.path());
    std::vector<judge::TimingRow> rows;
    for (const judge::Measured& row : times(1)) {
      judge::TimingRow& blessed = rows.emplace_back();
      blessed.key = row.key;
      blessed.median_ns = row.median_ns;
      blessed.ci_ns = row.ci_ns;
      blessed.process_medians_ns = std::vector<double>(10, row.median_ns);
      blessed.canary = {judge::CanaryKind::memory, 1e5};
      blessed.tol_pct = 2;
      blessed.why = "a test";
    }
    judge::save_timings(file(), rows, judge::Device::gpu);
  }
  std::vector<judge::Measured> times(double slower) const {
    std::vector<judge::Measured> rows = perf::figures(cases_.front().spec, 1).times;
    for (judge::Measured& row : rows) {
      row.samples_ns.clear();
      judge::take_samples(row, std::vector<double>(20, 1e6 * slower));
      row.canary = {judge::CanaryKind::memory, 1e5, 0.01};
    }
    return rows;
  }
  int gate(const std::vector<judge::Measured>& rows) {
    std::ostringstream out;
    const int exit = perf::gate_times({folder_.path()}, rows, cases_, out);
    out_ = out.str();
    return exit;
  }
  std::filesystem::path file() const { return folder_.path() / "model.csv"; }

  const std::vector<perf::ModelCase> cases_ = {
      {{.name = "mlp", .mlp = {16, 2}, .batch = 4, .training = true}, false}};
  std::string out_;

 private:
  TemporaryFolder folder_;
};

TEST_F(ModelTimes, AreGatedOnAGpu) {
  EXPECT_EQ(gate(times(1)), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("excellent"));
  EXPECT_EQ(gate(times(2)), 1) << out_;
  EXPECT_THAT(out_, HasSubstr("regressed"));
  EXPECT_EQ(gate(times(1.2)), 77) << out_;
  std::vector<judge::Measured> some = times(1);
  some.pop_back();
  EXPECT_EQ(gate(some), 1);
  EXPECT_THAT(out_, HasSubstr("not measured"));
  some = times(1);
  some[0].verified = "an output is not a number";
  EXPECT_EQ(gate(some), 1);
  std::filesystem::remove(file());
  EXPECT_EQ(gate(times(1)), 1) << "a file that is gone switches its gate off";
}

} // namespace
} // namespace kg::test
