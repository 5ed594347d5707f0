// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_table.h"

#include "perf/judge/atomic_file.h"
#include "runtime/error.h"
#include "tests/judge/exact_rows.h"
#include "tests/judge/folder.h"

#include <gtest/gtest.h>

namespace kg::judge {
namespace {

using test::cost;
using test::Folder;
using test::kernel;

const std::string kCosts = "schema,case,variant,metric,value,minimum,counter_id,why\n";
const std::string kResources = "schema,kernel,registers,spill_bytes,local_bytes,static_shared,"
                               "dynamic_shared,threads,occupancy_pct,split_loads,split_stores,"
                               "bytes_in_flight,issue_slots,calls,divisions,loop_calls,why\n";

TEST(ExactTable, TheColumnsAreTheDesigns) {
  EXPECT_EQ(format_exact(cost_table(), {cost(8)}),
            kCosts + "1,gemm.f32.m64,tiled,barriers,8,4,g++12,first measurement\n");
  EXPECT_EQ(format_exact(resource_table(), {kernel()}),
            kResources +
                "3,gemm.tiled,64,0,0,2048,0,256,50,0,1,32,120.5,0,2,1,first measurement\n");
}

TEST(ExactTable, ReadsWhatItWrites) {
  const ExactFile file =
      parse_exact(cost_table(), format_exact(cost_table(), {cost(2, "b"), cost(1, "a")}),
                  "baselines/simt/gemm.csv");
  EXPECT_TRUE(file.exists);
  EXPECT_TRUE(file.problems.empty()) << text(file.problems);
  ASSERT_EQ(file.rows.size(), 2u);
  ExactRow first = cost(1, "a");
  EXPECT_EQ(file.rows[0], first);
  EXPECT_EQ(file.rows[1].line, 3u);
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
  EXPECT_EQ(problems("1,softmax.f32.r2,online,barriers,1,0,id,\n"),
            "simt/gemm.csv:2: case 'softmax.f32.r2' does not belong to op 'gemm'; move the row to "
            "its op's file\n");
  EXPECT_NE(problems("1,gemm.f32.m64,tiled,barriers,-1,0,id,\n").find("simt/gemm.csv:2: value"),
            std::string::npos);
  EXPECT_NE(problems("1,gemm.f32.m64,tiled,barriers,1,0,id\n").find("7 fields under 8 columns"),
            std::string::npos);
  EXPECT_EQ(text(parse_exact(resource_table(),
                             kResources + "3,tiled,1,0,0,0,0,0,0,0,0,0,0,0,0,0,\n", "a.csv")
                     .problems),
            "a.csv:2: kernel: 'tiled' is no kernel; write <op>.<name>\n");
}

TEST(ExactTable, AFileOfAnOlderSchemaIsRefusedWithTheFix) {
  const std::string old = "schema,kernel,registers,spill_bytes,local_bytes,static_shared,"
                          "dynamic_shared,threads,occupancy_pct,split_loads,split_stores,why\n"
                          "2,gemm.tiled,64,0,0,2048,0,256,50,0,1,first measurement\n";
  const ExactFile file = parse_exact(resource_table(), old, "a.csv");
  EXPECT_TRUE(file.rows.empty());
  ASSERT_EQ(file.problems.size(), 5u);
  EXPECT_NE(text(file.problems[0]).find("a.csv:1: column 'bytes_in_flight' is missing"),
            std::string::npos);
  EXPECT_NE(text(file.problems[0]).find("if an older program wrote the file, delete it and bless"),
            std::string::npos);
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
