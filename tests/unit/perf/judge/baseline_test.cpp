// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/baseline.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"
#include "tests/unit/perf/judge/rows.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using test::blessed;
using test::Folder;
using test::key;

const std::string kHeader =
    "schema,case,variant,mode,median_ns,ci_lo_ns,ci_hi_ns,process_medians_ns,"
    "canary,tol_pct,status,bytes,flops,identity,why\n";
const std::string kRow =
    "1,softmax.f32.r64_c64,online,real,100,99,101,100;100.5,memory:1000,2,gate,"
    "32768,20480,,first measurement\n";

std::string problems_of(const std::string& contents, Device device = Device::host) {
  return text(parse_timings(contents, "softmax.csv", device).problems);
}

// The row with one field replaced.
std::string with(const std::string& field, const std::string& replacement) {
  std::string row = kRow;
  return kHeader + row.replace(row.find(field), field.size(), replacement);
}

TEST(Baseline, ReadsARow) {
  const TimingFile file = parse_timings(kHeader + kRow, "softmax.csv", Device::host);
  EXPECT_TRUE(file.problems.empty()) << text(file.problems);
  TimingRow expected = blessed(100);
  expected.process_medians_ns = {100, 100.5};
  EXPECT_EQ(file.rows, std::vector<TimingRow>{expected});
}

TEST(Baseline, EachMalformedFieldIsNamed) {
  const std::string again = "; delete the line, then measure and bless the row again\n";
  EXPECT_EQ(problems_of(with(",real,", ",warm,")),
            "softmax.csv:2: mode: unknown mode 'warm'; use cold, hot, graph or real\n");
  EXPECT_EQ(problems_of(with(",gate,", ",maybe,")),
            "softmax.csv:2: status: unknown status 'maybe'; use gate, info or xfail\n");
  for (const std::string bad : {"0", "-5", "nan", "inf", ""})
    EXPECT_EQ(problems_of(with(",100,", "," + bad + ",")),
              "softmax.csv:2: median_ns: '" + bad + "' is not a positive number up to 1e+18" +
                  again);
  EXPECT_EQ(problems_of(with("100;100.5", "100;")),
            "softmax.csv:2: process_medians_ns: '' is not a positive number up to 1e+18" + again);
  EXPECT_EQ(problems_of(with(",100,", ",102,")),
            "softmax.csv:2: median_ns 102 lies outside [99, 101]" + again);
  EXPECT_EQ(problems_of(with(",100,", ",98,")),
            "softmax.csv:2: median_ns 98 lies outside [99, 101]" + again);
  EXPECT_EQ(
      problems_of(with("softmax.f32", "gemm.f32")),
      "softmax.csv:2: case 'gemm.f32.r64_c64' does not belong to op 'softmax'; move the row to "
      "its op's file\n");
  EXPECT_EQ(problems_of(with("softmax.f32", "softmax.f33")),
            "softmax.csv:2: case 'softmax.f33.r64_c64' names no dtype; a case id is "
            "<op>.<dtype>.<parameters>\n");
  for (const std::string bad : {"memory", "memory:", "memory:0", "memory:nan", "tea:5", ":5"})
    EXPECT_EQ(
        problems_of(with("memory:1000", bad)),
        "softmax.csv:2: canary: '" + bad +
            "' is not a canary; write memory, compute, sync or launch, a colon and its time in "
            "nanoseconds\n");
}

TEST(Baseline, OnlyAGpuRowMayLackItsCanary) {
  EXPECT_EQ(problems_of(with("memory:1000", ""), Device::gpu), "");
  EXPECT_EQ(
      problems_of(with("memory:1000", ""), Device::host),
      "softmax.csv:2: canary: it is empty, but host rows are compared in canary units; delete "
      "the line, then measure and bless the row again\n");
}

TEST(Baseline, AnUnknownColumnIsNoSmallMatter) {
  const TimingFile file = parse_timings("x," + kHeader + "1," + kRow, "softmax.csv", Device::host);
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_EQ(text(file.problems.front()).substr(0, 35), "softmax.csv:1: unknown column 'x'; ");
  EXPECT_TRUE(file.rows.empty());
}

TEST(Baseline, ReportsAllProblemsInLineOrder) {
  const TimingFile file =
      parse_timings(with(",100,", ",200,") + "\n" + kRow, "softmax.csv", Device::host);
  ASSERT_EQ(file.problems.size(), 3u); // outside its interval, an empty line, a duplicate
  EXPECT_EQ(file.problems[0].line, 2u);
  EXPECT_EQ(file.problems[1].line, 3u);
  EXPECT_EQ(file.problems[2].line, 4u);
}

TEST(Baseline, RoundTrip) {
  const Folder folder;
  const auto path = folder.path() / "host" / "softmax.csv";
  TimingRow second = blessed(1234567, key("softmax.f16.r1_c1", "naive", Mode::cold));
  second.why = "a \"quoted\", long\nreason";
  second.status = Status::xfail;
  second.identity = "9f3c";
  second.canary.reset();
  save_timings(path, {blessed(100), second}, Device::gpu);
  const TimingFile file = load_timings(path, Device::gpu);
  EXPECT_TRUE(file.exists);
  EXPECT_TRUE(file.problems.empty()) << text(file.problems);
  ASSERT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.rows[0].key, second.key) << "f16 comes before f32";
  EXPECT_EQ(file.rows[0].why, second.why);
  EXPECT_EQ(file.rows[0].median_ns, 1.23457e6);
  EXPECT_EQ(file.rows[0].canary, std::nullopt);
  EXPECT_EQ(format_timings(file.rows), *read_file(path)) << "writing again changes nothing";
}

TEST(Baseline, WhatCouldNotBeReadAgainIsNotWritten) {
  const Folder folder;
  const auto path = folder.path() / "softmax.csv";
  save_timings(path, {blessed(100)}, Device::host);
  EXPECT_THROW(save_timings(path, {blessed(0)}, Device::host), Error);
  EXPECT_THROW(save_timings(path, {blessed(5), blessed(6)}, Device::host), Error);
  EXPECT_EQ(*read_file(path), format_timings({blessed(100)}));
}

TEST(Baseline, AMissingFileIsNoProblemButAnUnreadableOneIs) {
  const Folder folder;
  const TimingFile missing = load_timings(folder.path() / "softmax.csv", Device::host);
  EXPECT_FALSE(missing.exists);
  EXPECT_TRUE(missing.problems.empty());
  std::filesystem::create_directory(folder.path() / "gemm.csv");
  const TimingFile unreadable = load_timings(folder.path() / "gemm.csv", Device::host);
  EXPECT_TRUE(unreadable.exists);
  EXPECT_EQ(unreadable.problems.size(), 1u);
}

} // namespace
} // namespace kg::judge
