// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands with --cost, on an invented operation whose launches cost what the test says.
#include "perf/judge/result.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/kernels/runtime/host/count/cost_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace kg::cli {
namespace {

using test::CostCommands;
using test::Outcome;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST_F(CostCommands, BlessedCostsPass) {
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 1); // a missing baseline is none
  EXPECT_EQ((*this)({"gate", "--cost", "--strict"}).exit_code, 1);
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  const std::string csv = read_file(folder_.path() / "simt" / "copy.csv").value();
  EXPECT_THAT(csv, AllOf(HasSubstr("\n2,copy.f16.n128,slow,4,4,20,20,1,"),
                         ContainsRegex("\n2,copy.f32.n64,plain,.*,40,20,0,0,.*,g.+-12,first"),
                         Not(HasSubstr("lib"))));
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 0);
}

TEST_F(CostCommands, OneSectorMoreFails) {
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  ++launch_.sites[0].sectors;
  const Outcome outcome = (*this)({"gate", "--cost", "--dtype", "f32"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("sectors_per_request: regressed: value 4 -> 4.1"),
                                 HasSubstr("copy.cu:12"), HasSubstr("misaligned read"),
                                 HasSubstr("kernelgrade gate --cost --case copy.f32.n128")));
  EXPECT_EQ((*this)({"bless", "--cost"}).exit_code, 1); // without a reason
  EXPECT_EQ((*this)({"bless", "--cost", "--why", "unaligned rows"}).exit_code, 0);
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 0);
}

// nvcc made two accesses of one: twice the requests, at two lines, for as many sectors.
TEST_F(CostCommands, WhatNvccMadeOtherwise) {
  const auto compared = [this] {
    return (*this)({"profile", "--cost", "--compiled", ".", "--case", "copy.f32.n64"});
  };
  EXPECT_EQ(compared().out, "2 of 2 rows: nvcc's code accesses memory as g++'s does\n");
  compiled_launch_.sites.push_back(compiled_launch_.sites[0]);
  compiled_launch_.sites[0].line = "copy.cu:13";
  for (count::Site& site : compiled_launch_.sites) site.sectors = 20;
  EXPECT_THAT(compared().out,
              AllOf(ContainsRegex("copy.f32.n64 +plain +global 4 B load +10 -> 20 +40 +copy.cu:13"),
                    HasSubstr("0 of 2 rows")));
  compiled_launch_ = launch_;
  compiled_launch_.barriers = 2;
  EXPECT_THAT(compared().out, ContainsRegex("plain +barriers +0 -> 2"));
  compiled_launch_.kernel = "another";
  const Outcome other = compared();
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("g++'s code launched copy; nvcc's launched another"));
}

TEST_F(CostCommands, CountsThatAreLostAreInvalid) {
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  launch_.sites.clear();
  launch_.unique_read = launch_.unique_written = 0;
  const Outcome outcome = (*this)({"gate", "--cost", "--dtype", "f32"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("unique_sectors: invalid: value 0 is below the "
                                           "algorithmic minimum of 20"),
                                 HasSubstr("sectors_per_request: invalid"),
                                 Not(HasSubstr("sectors_per_request: improved"))));
  EXPECT_EQ((*this)({"bless", "--cost", "--why", "fewer"}).exit_code, 1);
}

TEST_F(CostCommands, TheReportShowsWhatWasStored) {
  const std::string f16 = folder_.path() / "f16.json", f32 = folder_.path() / "f32.json";
  const std::string out = folder_.path() / "report";
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  launch_.barriers = 3;
  ASSERT_EQ((*this)({"gate", "--cost", "--dtype", "f16", "--json", f16}).exit_code, 1);
  launch_.barriers = 0;
  ASSERT_EQ((*this)({"gate", "--cost", "--dtype", "f32", "--json", f32}).exit_code, 0);

  const Outcome whole = (*this)({"report", f16, f32, "--out", out}, false);
  EXPECT_EQ(whole.exit_code, 1);
  EXPECT_THAT(whole.out, AllOf(HasSubstr("barriers: regressed: value 0 -> 3"),
                               HasSubstr("the files hold no timings")));
  const auto json = nlohmann::json::parse(read_file(out + "/report.json").value());
  EXPECT_EQ(json["counted"][0]["rows"].size(), 128u); // 2 types, 2 shapes, 2 variants, 16 metrics
  EXPECT_EQ(json["counted"][0]["rows"][0]["baseline"]["value"], 0);
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ((*this)({"report", f32, "--dtype", "f32", "--out", out}, false).exit_code, 0);
  EXPECT_EQ((*this)({"merge", f16, f32, "--json", out + "/both.json"}, false).exit_code, 0);
  EXPECT_EQ((*this)({"report", out + "/both.json", "--out", out}, false).exit_code, 1);
}

TEST_F(CostCommands, TheReportMissesWhatNoFileHolds) {
  const std::string json = folder_.path() / "f32.json";
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  ASSERT_EQ((*this)({"gate", "--cost", "--dtype", "f32", "--json", json}).exit_code, 0);
  const Outcome outcome = (*this)({"report", json, "--out", folder_.path() / "report"}, false);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("copy.f16.n64 plain: no file holds its costs; "
                                     "again: kernelgrade gate --cost --op copy --dtype f16"));
}

TEST_F(CostCommands, ShardsTogetherAreTheWhole) {
  const std::string first = folder_.path() / "1.json", second = folder_.path() / "2.json";
  const std::string out = folder_.path() / "report";
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  const Outcome one = (*this)({"gate", "--cost", "--shard", "1/2", "--json", first});
  EXPECT_EQ(one.exit_code, 0) << one.out << one.err << "; the other's rows are not orphans";
  ASSERT_EQ((*this)({"gate", "--cost", "--shard", "2/2", "--json", second}).exit_code, 0);
  EXPECT_EQ(judge::load_results(first).costs.size(), 64u);
  EXPECT_EQ((*this)({"report", first, second, "--out", out}, false).exit_code, 0);
  const Outcome half = (*this)({"report", first, "--out", out}, false);
  EXPECT_EQ(half.exit_code, 1);
  EXPECT_THAT(half.err, HasSubstr("shard 2/2 is missing"));
}

// More requests of the same kind: what another compiler may make of the same kernel.
TEST_F(CostCommands, AnotherCompilerMayCountOtherRequests) {
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  count::Site& site = launch_.sites[0];
  for (std::uint64_t* count : {&site.requests, &site.lanes, &site.sectors, &site.least_sectors})
    *count *= 2;
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 1);
  counter_id_ = "g++-13";
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 0);
}

TEST_F(CostCommands, RowsThatNothingCountsAreOrphans) {
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  shapes_ = {"n64", "n256"};
  const Outcome outcome = (*this)({"gate", "--cost"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("orphan"), HasSubstr("copy.f32.n256")));
  EXPECT_EQ((*this)({"gate", "--cost", "--shape", "n64"}).exit_code, 0); // a part of the rows
  EXPECT_EQ((*this)({"bless", "--cost", "--remove-orphans"}).exit_code, 0);
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 0);
}

TEST_F(CostCommands, EveryVariantNeedsTwoShapes) {
  shapes_ = {"n64"};
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  const Outcome outcome = (*this)({"gate", "--cost"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("copy f16 slow: it has costs for one shape only"));
}

TEST_F(CostCommands, WrongResultsAreNotCounted) {
  wrong_ = "element 5 is 1, not 2";
  const Outcome outcome = (*this)({"bless", "--cost"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("copy.f32.n64 plain real: INVALID: element 5 is 1, not 2"));
}

TEST_F(CostCommands, ADirtyTreeIsRefusedBeforeAnythingIsCounted) {
  wrong_ = "never asked for";
  const Outcome outcome = (*this)({"bless", "--cost", "--source-id", "1a2b-dirty"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("uncommitted changes"), Not(HasSubstr(wrong_))));
}

TEST_F(CostCommands, AFileInThePlaceOfAnOperation) {
  const Outcome outcome = (*this)({"profile", "--cost", "my.cu"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("use kernelgrade check --costs my.cu"));
  EXPECT_THAT((*this)({"profile", "--cost", "--op", "my.cu"}).err,
              HasSubstr("use kernelgrade check --costs my.cu"));
  EXPECT_THAT((*this)({"gate", "my.cu"}).err, HasSubstr("use kernelgrade check my.cu"));
}

TEST_F(CostCommands, Profile) {
  const Outcome outcome = (*this)({"profile", "--cost", "--variant", "plain", "--dtype", "f32"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("copy.f32.n64 plain"), HasSubstr("kernel copy"),
                                 HasSubstr("copy.cu:12"), Not(HasSubstr("slow"))));
  EXPECT_THAT(outcome.out, HasSubstr("16 multiprocessors of nvidia-h200"));
  EXPECT_EQ((*this)({"profile"}).exit_code, 77);                      // times need a device
  EXPECT_EQ((*this)({"profile", "--gpu", "nvidia-t4"}).exit_code, 2); // no cost, no model
  EXPECT_EQ((*this)({"profile", "--cost", "--variant", "lib"}).exit_code, 1);
}

TEST_F(CostCommands, ProfileOfAnotherGpu) {
  EXPECT_THAT((*this)({"profile", "--cost", "--gpu", "nvidia-t4"}).out,
              HasSubstr("16 multiprocessors of nvidia-t4"));
  const Outcome unknown = (*this)({"profile", "--cost", "--gpu", "nvidia-t5"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("no GPU 'nvidia-t5'"), HasSubstr(" nvidia-t4")));
}

// The rows of a GPU that the model is held to: ours, cold, and none that failed.
TEST_F(CostCommands, CompareModel) {
  judge::Results run;
  run.environment = {{"device", "nvidia-h200"}};
  const auto row = [&](const char* shape, const char* variant, judge::Mode mode) {
    judge::Measured measured;
    measured.op = "copy";
    measured.dtype = "f32";
    measured.key = {std::string("copy.f32.") + shape, variant, mode};
    measured.category = "layout";
    measured.kind = variant == std::string("lib") ? judge::Kind::vendor : judge::Kind::ours;
    measured.bytes = 640;
    judge::take_samples(measured, std::vector<double>(10, 4000.0));
    run.rows.push_back(measured);
  };
  row("n64", "plain", judge::Mode::cold);
  row("n128", "plain", judge::Mode::cold);
  row("n64", "slow", judge::Mode::real);
  row("n64", "lib", judge::Mode::cold);
  const std::filesystem::path file = folder_.path() / "measured.json";
  judge::save_results(file, run);
  const Outcome outcome = (*this)({"compare", "--model", file.string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 rows: "), HasSubstr("fewer than 50 rows")));
  EXPECT_EQ((*this)({"compare"}).exit_code, 2);

  run.environment = {{"device", "host"}};
  judge::save_results(file, run);
  EXPECT_THAT((*this)({"compare", "--model", file.string()}).err, HasSubstr("no GPU 'host'"));
}

// 40 sectors for 10 requests of 128 bytes, and 20 different ones for 640 bytes, are the least. A
// 32nd access to a bank, a sector more, a spill and a split access are not.
TEST_F(CostCommands, ProfileBesideTheLeast) {
  const auto of_plain = [&] {
    return (*this)(
        {"profile", "--cost", "--minimum", "--op", "copy", "--dtype", "f32", "--variant", "plain"});
  };
  const Outcome least = of_plain();
  EXPECT_EQ(least.exit_code, 0) << least.err;
  EXPECT_THAT(least.out, AllOf(HasSubstr("copy.f32.n64"), HasSubstr("2 of 2 rows cost the minimum"),
                               Not(HasSubstr("unique_sectors"))));
  launch_.unique_read = 11;
  EXPECT_THAT(of_plain().out,
              AllOf(HasSubstr("unique_sectors\n"), HasSubstr("0 of 2 rows cost the minimum")));
  launch_.unique_read = 10;
  launch_.sites[0].sectors = 80;
  EXPECT_THAT(of_plain().out, HasSubstr("sectors_per_request\n"));
  launch_.sites[0].sectors = 40;
  judge::save_exact(
      judge::resource_table(), folder_.path() / "resources" / "sm_80-cuda13.0.csv",
      {{{"copy.copy"}, {32, 8, 8, 0, 0, 256, 100, 0, 0, 0, 0, 0, 0, 0}, "", "why", 0}});
  EXPECT_THAT(of_plain().out, HasSubstr("spilled bytes\n"));
  judge::save_exact(
      judge::resource_table(), folder_.path() / "resources" / "sm_80-cuda13.0.csv",
      {{{"copy.copy"}, {32, 0, 0, 0, 0, 256, 100, 2, 3, 0, 0, 0, 0, 0}, "", "why", 0}});
  EXPECT_THAT(of_plain().out, ContainsRegex(" 0 +5 +split accesses\n"));
}

// What `run --once` executed, beside what ncu read of it.
TEST_F(CostCommands, CompareHardware) {
  judge::Results run;
  run.environment = {{"device", "nvidia-h200"}};
  const auto row = [&](const char* shape, const char* launches) {
    judge::Measured executed;
    executed.op = "copy";
    executed.dtype = "f32";
    executed.key = {std::string("copy.f32.") + shape, "plain", judge::Mode::cold};
    executed.category = "layout";
    executed.skipped = "executed once, not timed";
    executed.tags = {{"launches", launches}};
    run.rows.push_back(executed);
  };
  row("n64", "1");
  row("n128", "1");
  const std::filesystem::path file = folder_.path() / "copy.csv";
  judge::save_results(folder_.path() / "copy.json", run);
  const std::string header = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\","
                             "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\"\n";
  const std::string equal = "\"0\",\"copy(int)\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"40\"\n",
                    more = "\"1\",\"copy(int)\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"80\"\n",
                    other = "\"1\",\"copy(int)\",\"(1, 1, 1)\",\"(9, 1, 1)\",\"40\"\n";
  const auto compare = [&](const std::string& launches) {
    write_file(file, header + launches);
    return (*this)({"compare", "--hardware", file.string()});
  };
  const Outcome outcome = compare(equal + more);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("copy.f32.n128 plain"), Not(HasSubstr("copy.f32.n64 plain")),
                    HasSubstr("0.500"), HasSubstr("1 of 2 counts of 2 rows are the hardware's")));
  EXPECT_THAT(compare(equal + other).out,
              AllOf(HasSubstr("(9, 1, 1) blocks"), HasSubstr("1 of 1 counts of 2 rows"),
                    HasSubstr("1 rows launch otherwise")));
  EXPECT_THAT(compare(equal).err, HasSubstr("made more"));
  EXPECT_THAT(compare(equal + more + more).err, HasSubstr("profile nothing else"));
}

TEST_F(CostCommands, WithoutTheCountingProgram) {
  const Outcome outcome = (*this)({"gate", "--cost"}, false);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("kernelgrade-cost"));
  EXPECT_THAT((*this)({"list"}, false).out, Not(HasSubstr("slow")));
}

} // namespace
} // namespace kg::cli
