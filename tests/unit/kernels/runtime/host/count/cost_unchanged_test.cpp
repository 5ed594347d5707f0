// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gate --cost where there is no program that counts: what has not changed since it was blessed is
// taken as it was blessed, and nothing else is.
#include "perf/judge/exact_result.h"
#include "perf/judge/result.h"
#include "perf/judge/sources_file.h"
#include "runtime/atomic_file.h"
#include "tests/unit/kernels/runtime/host/count/cost_commands.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli {
namespace {

using test::CostCommands;
using test::Outcome;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class UnchangedCosts : public CostCommands {
 protected:
  // copy is blessed as it is.
  void SetUp() override {
    counted_by_ = {"g++ 12.2.0", "-O2"};
    for (const char* name :
         {"perf/code/cost/bound.h", "perf/code/cost/count_workload.h", "perf/cli/cost_main.cpp",
          "perf/code/cost/metrics.h", "perf/measure/card_operation.h", "perf/cli/cost.cpp",
          "perf/cli/cost_bound.cpp", "perf/cli/cost_model.cpp", "tests/contract/named_card.h",
          "perf/code/resources/compiled.cpp", "kernels/runtime/host/launch.cpp",
          "kernels/ops/copy/copy.h"})
      source(name, "\n");
    source("kernels/ops/copy/copy.cu", "#include \"primitives/pack.h\"\n");
    source("kernels/primitives/pack.h", "struct Pack {};\n");
    source("tests/ops/copy/copy_card.cu", "#include <copy/copy.h>\n");
    source("kernelgrade", ""); // the program, younger than all of them
    ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  }

  void source(const std::string& name, const std::string& text) {
    write_file(folder_.path() / name, text);
  }
  Outcome without_counts(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"gate", "--cost"});
    return (*this)(more, false);
  }
  void expect_counted(const std::string& why) {
    const Outcome gated = without_counts();
    EXPECT_EQ(gated.exit_code, 1) << why;
    EXPECT_THAT(gated.err, AllOf(HasSubstr("op copy must be counted"), HasSubstr(why),
                                 HasSubstr("build the target kernelgrade-cost")));
    const Outcome named = without_counts({"--changed"});
    EXPECT_EQ(named.exit_code, 77) << why;
    EXPECT_EQ(named.out, "copy\n");
    EXPECT_THAT(named.err, HasSubstr(why));
  }
  std::filesystem::path sources() const { return folder_.path() / "simt/sources/counted.csv"; }
};

TEST_F(UnchangedCosts, AreShownAsTheyWereBlessed) {
  const std::string counted = folder_.path() / "counted.json", kept = folder_.path() / "kept.json";
  ASSERT_EQ((*this)({"gate", "--cost", "--json", counted}).exit_code, 0);
  const Outcome outcome = without_counts({"--json", kept});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("copy: not counted: sources, flags and g++ 12.2.0 unchanged since "));
  const judge::ExactRows all = judge::load_results(counted).costs,
                         rows = judge::load_results(kept).costs;
  ASSERT_EQ(rows.size(), all.size());
  for (const judge::ExactMeasured& row : rows)
    EXPECT_THAT(row.as_blessed, HasSubstr("not counted")) << judge::key_text(row.row);
  EXPECT_EQ(without_counts({"--changed"}).out, "");
  EXPECT_EQ(without_counts({"--changed"}).exit_code, 0);

  const std::string out = folder_.path() / "report";
  EXPECT_EQ((*this)({"report", kept, "--out", out}, false).exit_code, 0);
  EXPECT_THAT(read_file(out + "/summary.md").value(),
              HasSubstr("128 unchanged since blessed (not counted)"));
  EXPECT_THAT(read_file(out + "/junit.xml").value(),
              AllOf(HasSubstr("value=\"unchanged\""), HasSubstr("value=\"not counted: ")));
}

TEST_F(UnchangedCosts, OfSomeRowsAreTheirs) {
  const std::string json = folder_.path() / "some.json";
  ASSERT_EQ(without_counts({"--dtype", "f16", "--variant", "slow", "--json", json}).exit_code, 0);
  EXPECT_EQ(judge::load_results(json).costs.size(), 32u);
}

TEST_F(UnchangedCosts, WhatCountsIsAskedWhereItIs) {
  source("kernelgrade-cost", ""); // no program
  EXPECT_THAT(without_counts().err, HasSubstr("kernelgrade-cost: cannot be started"));
}

TEST_F(UnchangedCosts, AnotherKernelHeaderExecutorCardOrFigureIsCounted) {
  for (const char* name : {"kernels/ops/copy/copy.cu", "kernels/primitives/pack.h",
                           "kernels/runtime/host/launch.cpp", "tests/ops/copy/copy_card.cu",
                           "perf/code/cost/metrics.h", "perf/code/timing_model/gpus.json"}) {
    SCOPED_TRACE(name);
    const std::string before = read_file(folder_.path() / name).value();
    source(name, before + (std::string_view(name).ends_with(".json") ? " " : "struct Added;"));
    expect_counted("have changed since");
    source(name, before);
    EXPECT_EQ(without_counts().exit_code, 0);
  }
  source("kernels/ops/copy/other.cu", "");
  expect_counted("have changed since");
  std::filesystem::remove(folder_.path() / "kernels/ops/copy/other.cu");
  std::filesystem::remove(folder_.path() / "kernels/primitives/pack.h");
  expect_counted("#include \"primitives/pack.h\"");
}

TEST_F(UnchangedCosts, AnotherCompilerOrOtherFlagsCount) {
  counted_by_.flags = "-O2 -fno-tree-sra";
  expect_counted("have changed since");
  counted_by_ = {"g++ 13.2.0", "-O2"};
  expect_counted("g++ 13.2.0 is here, and g++ 12.2.0 compiled what is blessed");
}

TEST_F(UnchangedCosts, AnotherDeviceOfTheExecutorCounts) {
  setenv("KERNELGRADE_VIRTUAL_DEVICE", "small", 1);
  expect_counted("have changed since");
  unsetenv("KERNELGRADE_VIRTUAL_DEVICE");
  EXPECT_EQ(without_counts().exit_code, 0);
}

TEST_F(UnchangedCosts, WithoutAHashOrByAnotherOneAllIsCounted) {
  const std::string blessed = read_file(sources()).value();
  std::filesystem::remove(sources());
  expect_counted("counted.csv does not name it");
  write_file(sources(), "schema,op,compiler,commit,hash,files\n");
  expect_counted("counted.csv does not name it");
  write_file(sources(), "schema,op,compiler,commit,hash,files\n1,copy,g++ 12.2.0,abc,,\n");
  expect_counted("counted.csv:2");
  write_file(sources(), "schema,op,compiler,commit,hash,files\n1,copy,g++ 12.2.0,abc,0123,\n");
  expect_counted("have changed since abc");
  write_file(sources(), blessed + "1,fill\n");
  expect_counted("counted.csv:3");
}

TEST_F(UnchangedCosts, FiguresThatNobodyBlessedSoAreCounted) {
  const std::filesystem::path costs = folder_.path() / "simt/copy.csv";
  judge::ExactFile file = judge::load_exact(judge::cost_table(), costs);
  file.rows[0].values[0] += 1;
  judge::save_exact(judge::cost_table(), costs, file.rows);
  expect_counted("have changed since");
  std::filesystem::remove(costs);
  expect_counted("have changed since");
}

// The bound of a kernel depends on its registers.
TEST_F(UnchangedCosts, OtherResourcesAreCounted) {
  const std::filesystem::path resources = folder_.path() / "resources/sm_90a-cuda13.0.csv";
  const auto of = [](const char* kernel) {
    return judge::ExactRow{{kernel}, {32, 0, 0, 0, 0, 256, 100, 0, 0, 0, 0, 0, 0, 0}, "", "why", 0};
  };
  judge::save_exact(judge::resource_table(), resources, {of("fill.fill")});
  EXPECT_EQ(without_counts().exit_code, 0);
  judge::save_exact(judge::resource_table(), resources, {of("copy.copy")});
  expect_counted("have changed since");
}

TEST_F(UnchangedCosts, ARowMoreIsCountedAndARowLessIsAnOrphan) {
  shapes_ = {"n64", "n128", "n256"};
  expect_counted("has no row of copy.f16.n256");
  shapes_ = {"n64"};
  const Outcome outcome = without_counts();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("orphan"));
}

TEST_F(UnchangedCosts, OnlyWhatWasWhollyCountedIsBlessedSo) {
  std::filesystem::remove(sources());
  const Outcome part = (*this)({"bless", "--cost", "--dtype", "f32"});
  EXPECT_EQ(part.exit_code, 0);
  EXPECT_THAT(part.out, HasSubstr("copy: not all of its rows were counted"));
  EXPECT_FALSE(std::filesystem::exists(sources()));
  ++launch_.sites[0].sectors; // refused without a reason
  EXPECT_EQ((*this)({"bless", "--cost"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(sources()));
  EXPECT_EQ((*this)({"bless", "--cost", "--why", "unaligned rows"}).exit_code, 0);
  EXPECT_EQ(without_counts().exit_code, 0);
}

TEST_F(UnchangedCosts, AnOperationWithoutItsFolderIsDroppedByName) {
  judge::SourcesFile file = judge::load_sources(sources());
  file.ops["gone"] = file.ops.at("copy");
  judge::save_sources(file);
  const Outcome outcome = (*this)({"bless", "--cost"});
  EXPECT_THAT(outcome.out,
              HasSubstr("gone: its line in counted.csv is dropped, because there is no "
                        "folder"));
  EXPECT_FALSE(judge::load_sources(sources()).ops.contains("gone"));
}

TEST_F(UnchangedCosts, AProgramThatIsOlderThanASourceBlessesNothing) {
  const auto built = std::filesystem::last_write_time(folder_.path() / "kernelgrade");
  std::filesystem::last_write_time(folder_.path() / "kernels/primitives/pack.h",
                                   built + std::chrono::seconds(1));
  const Outcome outcome = (*this)({"bless", "--cost"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("is older than"), HasSubstr("pack.h")));
}

} // namespace
} // namespace kg::cli
