// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_table.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/exact_rows.h"
#include "tests/unit/perf/judge/folder.h"

#include <gtest/gtest.h>

namespace kg::judge {
namespace {

using test::cost;
using test::Folder;
using test::kernel;

const std::string kCosts =
    "schema,case,variant,sectors_per_request,sectors_per_request_minimum,unique_sectors,"
    "unique_sectors_minimum,bank_conflict_degree,barriers,barrier_phases,collectives,"
    "matrix_instructions,matrix_instructions_minimum,atomics,atomic_contention,global_requests,"
    "sectors,sectors_minimum,shared_wavefronts,shared_wavefronts_minimum,idle_lanes_pct,"
    "serial_round_trips,bound_ns.h200,bound_ns.h200_minimum,waves,resident_blocks,counter_id,why\n";

// A line with barriers, sectors and their minimum.
std::string line(const std::string& barriers, const std::string& sectors,
                 const std::string& minimum, const std::string& end = "g++12,first measurement\n") {
  return "2,gemm.f32.m64,tiled,,,,,," + barriers + ",,,,,,,," + sectors + "," + minimum +
         ",,,,,,,,," + end;
}

ExactRow barriers(double value) {
  ExactRow row = cost(value, "barriers");
  row.values[1] = 0;
  row.counter_id.clear();
  return row;
}

const std::string kResources = "schema,kernel,registers,spill_bytes,local_bytes,static_shared,"
                               "dynamic_shared,threads,occupancy_pct,split_loads,split_stores,"
                               "bytes_in_flight,issue_slots,calls,divisions,loop_calls,why\n";

TEST(ExactTable, TheColumnsAreTheDesigns) {
  EXPECT_EQ(format_exact(cost_table(), {cost(8), barriers(2)}), kCosts + line("2", "8", "4"));
  EXPECT_EQ(format_exact(resource_table(), {kernel()}),
            kResources +
                "3,gemm.tiled,64,0,0,2048,0,256,50,0,1,32,120.5,0,2,1,first measurement\n");
}

// Columns of what few kernels do: only in files whose rows have it.
TEST(ExactTable, OptionalMetricsHaveColumnsWhereARowHasThem) {
  ExactRow wgmma = cost(12, "wgmma_instructions");
  wgmma.counter_id.clear();
  ExactRow loaded = cost(4096, "bulk_load_bytes");
  loaded.values[1] = 0;
  loaded.counter_id.clear();
  const std::string written = format_exact(cost_table(), {cost(8), wgmma, loaded});
  EXPECT_NE(written.find(",matrix_instructions_minimum,wgmma_instructions,"
                         "wgmma_instructions_minimum,bulk_load_bytes,atomics,"),
            std::string::npos)
      << written;
  const ExactFile file = parse_exact(cost_table(), written, "baselines/simt/gemm.csv");
  EXPECT_TRUE(file.problems.empty()) << text(file.problems);
  ASSERT_EQ(file.rows.size(), 3u);
  EXPECT_EQ(file.rows[0].key.back(), "bulk_load_bytes");
  EXPECT_EQ(file.rows[0].values, loaded.values);
  EXPECT_EQ(file.rows[2].key.back(), "wgmma_instructions");
  EXPECT_EQ(file.rows[2].values, wgmma.values);
}

TEST(ExactTable, ReadsWhatItWrites) {
  const ExactFile file = parse_exact(
      cost_table(),
      format_exact(cost_table(), {cost(2, "sectors", "b"), cost(1, "sectors", "a"), barriers(0)}),
      "baselines/simt/gemm.csv");
  EXPECT_TRUE(file.exists);
  EXPECT_TRUE(file.problems.empty()) << text(file.problems);
  ASSERT_EQ(file.rows.size(), 3u);
  EXPECT_EQ(file.rows[0], cost(1, "sectors", "a"));
  EXPECT_EQ(file.rows[1].line, 3u);
  ExactRow none = barriers(0);
  none.line = 4;
  EXPECT_EQ(file.rows[2], none) << "0 is a value, and no counter_id is its";
}

// Each metric is a row of its own, in a line of the case and variant; an empty field is no row.
TEST(ExactTable, ALineOfCostsHoldsARowOfEachMetric) {
  const auto read = [](const std::string& one) {
    return parse_exact(cost_table(), kCosts + one, "simt/gemm.csv");
  };
  EXPECT_EQ(read(line("", "8", "4")).rows, std::vector{cost(8)});
  const ExactFile fixed = read("2,gemm.f32.m64,tiled,,,,,3" + std::string(19, ',') + ",why\n");
  ASSERT_EQ(fixed.rows.size(), 1u) << text(fixed.problems);
  EXPECT_EQ(fixed.rows[0].values, (std::vector<double>{3, 1})) << "a degree is at least 1";
  for (const std::string& torn : {line("2", "8", ""), line("2", "", "4")}) {
    EXPECT_TRUE(read(torn).rows.empty());
    EXPECT_EQ(text(read(torn).problems),
              "simt/gemm.csv:2: of sectors and sectors_minimum one is empty; delete the line, then "
              "count and bless the row again\n");
  }
  EXPECT_EQ(text(read(line("", "", "")).problems),
            "simt/gemm.csv:2: it holds no metric; delete the line, then count and bless the row "
            "again\n");
}

TEST(ExactTable, RowsThatFitNoLineAreNotWritten) {
  ExactRow other = cost(8, "shared_wavefronts");
  const auto refusal = [&](const std::vector<ExactRow>& rows) -> std::string {
    try {
      format_exact(cost_table(), rows);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({cost(8), other}), "");
  other.why = "no worse";
  EXPECT_NE(refusal({cost(8), other}).find("differ in why: 'first measurement' and 'no worse'"),
            std::string::npos);
  other = cost(8, "shared_wavefronts");
  other.counter_id = "g++13";
  EXPECT_NE(refusal({cost(8), other}).find("differ in counter_id"), std::string::npos);
  EXPECT_NE(refusal({cost(8), cost(8)}).find("is there twice"), std::string::npos);
  EXPECT_NE(refusal({cost(8, "sector")}).find("no column for that metric"), std::string::npos);
  EXPECT_NE(refusal({cost(8, "barriers")}).find("the minimum 4 has no column"), std::string::npos);
  ExactRow counted = barriers(8);
  counted.counter_id = "g++12";
  EXPECT_NE(refusal({counted}).find("depends on no compiler"), std::string::npos);
}

TEST(ExactTable, WholeNumbersAreWrittenInFull) {
  EXPECT_EQ(exact_number(123456789), "123456789") << "one more must be another number";
  EXPECT_EQ(exact_number(9007199254740992), "9007199254740992");
  EXPECT_EQ(exact_number(37.5), "37.5");
  EXPECT_EQ(exact_number(1.0 / 3), "0.333333");
  EXPECT_EQ(as_written(1.0 / 3), 0.333333);
  EXPECT_EQ(as_written(123456789), 123456789);
}

TEST(ExactTable, ProblemsNameTheLineAndTheMend) {
  const auto problems = [](const std::string& row) {
    return text(parse_exact(cost_table(), kCosts + row, "simt/gemm.csv").problems);
  };
  std::string other = line("1", "1", "0");
  other.replace(2, 4, "softmax");
  EXPECT_EQ(problems(other),
            "simt/gemm.csv:2: case 'softmax.f32.m64' does not belong to op 'gemm'; move the row to "
            "its op's file\n");
  EXPECT_NE(problems(line("-1", "1", "0")).find("simt/gemm.csv:2: barriers: '-1' is not"),
            std::string::npos);
  EXPECT_NE(problems(line("1", "1", "0", "id\n")).find("27 fields under 28 columns"),
            std::string::npos);
  EXPECT_EQ(text(parse_exact(resource_table(),
                             kResources + "3,tiled,1,0,0,0,0,0,0,0,0,0,0,0,0,0,\n", "a.csv")
                     .problems),
            "a.csv:2: kernel: 'tiled' is not a kernel; write <op>.<name>\n");
}

TEST(ExactTable, AFileOfAnOlderSchemaIsRefusedWithTheCommandThatWritesItAnew) {
  const ExactFile costs = parse_exact(cost_table(),
                                      "schema,case,variant,metric,value,minimum,counter_id,why\n"
                                      "1,gemm.f32.m64,tiled,barriers,8,4,g++12,first measurement\n",
                                      "baselines/simt/gemm.csv");
  EXPECT_TRUE(costs.rows.empty());
  EXPECT_EQ(text(costs.problems),
            "baselines/simt/gemm.csv:1: schema version '1', but this program reads 2; write it "
            "anew: rm baselines/simt/gemm.csv && kernelgrade bless --cost --op gemm\n");
  const ExactFile resources =
      parse_exact(resource_table(),
                  "schema,kernel,registers,spill_bytes,local_bytes,static_shared,"
                  "dynamic_shared,threads,occupancy_pct,split_loads,split_stores,why\n"
                  "2,gemm.tiled,64,0,0,2048,0,256,50,0,1,first measurement\n",
                  "a.csv");
  EXPECT_TRUE(resources.rows.empty());
  EXPECT_EQ(text(resources.problems),
            "a.csv:1: schema version '2', but this program reads 3; write it anew: rm a.csv && "
            "kernelgrade resources --bless\n");
}

TEST(ExactTable, AFileThatIsNotThereIsNoProblemAndAnUnreadableOneIs) {
  const Folder folder;
  const ExactFile none = load_exact(cost_table(), folder.path() / "gemm.csv");
  EXPECT_FALSE(none.exists);
  EXPECT_TRUE(none.problems.empty());
  const ExactFile unreadable = load_exact(cost_table(), folder.path());
  EXPECT_TRUE(unreadable.exists);
  EXPECT_EQ(unreadable.problems.size(), 1u);
}

TEST(ExactTable, WritesNothingThatItCouldNotRead) {
  const Folder folder;
  EXPECT_THROW(save_exact(cost_table(), folder.path() / "softmax.csv", {cost(1)}), Error);
  EXPECT_THROW(save_exact(cost_table(), folder.path() / "gemm.csv", {kernel()}), Error);
  EXPECT_EQ(folder.count_files(), 0);
  save_exact(cost_table(), folder.path() / "simt" / "gemm.csv", {cost(1)});
  EXPECT_EQ(load_exact(cost_table(), folder.path() / "simt" / "gemm.csv").rows.size(), 1u);
}

} // namespace
} // namespace kg::judge
