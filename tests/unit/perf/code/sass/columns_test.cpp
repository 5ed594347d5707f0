// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/columns.h"
#include "runtime/error.h"
#include "tests/unit/perf/code/sass/code.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace kg::sass {
namespace {

using testing::AllOf;
using testing::HasSubstr;

judge::ExactMeasured filled(Analysis analysis) {
  judge::ExactMeasured row;
  row.row.key = {"made.made"};
  row.row.values.assign(judge::resource_table().quantities.size(),
                        std::numeric_limits<double>::quiet_NaN());
  fill_columns(row, {"made.made", "kg::made::made", std::move(analysis), 32, 128, 0, 64});
  return row;
}

judge::ExactMeasured of_kernel(std::string_view part) {
  for (Analysis& one : analyse(test::kernels()))
    if (one.symbol.find(part) != std::string::npos) return filled(std::move(one));
  throw Error("kernels.sass holds no such kernel");
}

judge::ExactMeasured of_lines(const std::vector<std::string>& lines) {
  return filled(analyse(test::functions(lines)).at(0));
}

double value(const judge::ExactMeasured& row, std::string_view name) {
  const auto& quantities = judge::resource_table().quantities;
  const auto at = std::find_if(quantities.begin(), quantities.end(),
                               [&](const judge::Quantity& one) { return one.name == name; });
  return row.row.values.at(static_cast<std::size_t>(at - quantities.begin()));
}

TEST(Columns, BytesInFlightAreThoseOfLoadsThatDoNotWait) {
  EXPECT_EQ(value(of_kernel("together"), "bytes_in_flight"), 64);
  const judge::ExactMeasured serial = of_kernel("one_by_one");
  EXPECT_EQ(value(serial, "bytes_in_flight"), 16);
  EXPECT_THAT(serial.hints.at("bytes_in_flight"),
              AllOf(HasSubstr("2 round trips for 32 bytes"), HasSubstr("kernels.cu:29 2")));
}

TEST(Columns, IssueSlotsAreOfWhatAPassMoves) {
  std::vector<std::string> lines = {"LDG.E.64 R4, desc[UR4][R2.64]",
                                    "STG.E.64 desc[UR4][R6.64], R4"};
  EXPECT_EQ(value(of_lines(lines), "issue_slots"), 4) << "half a KiB of 32 lanes";
  lines.insert(lines.begin() + 1, 30, "FADD R5, R4, R5");
  EXPECT_EQ(value(of_lines(lines), "issue_slots"), 64);
  lines = {"HMMA.16816.F32 R4, R8, R12, R4", "HMMA.16816.F32 R4, R8, R12, R4", "IADD3 R1, R2, R3",
           "FADD R5, R4, R5"};
  EXPECT_EQ(value(of_lines(lines), "issue_slots"), 2) << "for each matrix instruction";
  lines = {"FADD R5, R4, R5", "FADD R5, R4, R5"};
  EXPECT_EQ(value(of_lines(lines), "issue_slots"), 2) << "it moves nothing";
}

TEST(Columns, ConversionsAreNamedByTheirLine) {
  EXPECT_THAT(of_kernel("one_by_one").hints.at("issue_slots"),
              AllOf(HasSubstr("conversions, most at"), HasSubstr("kernels.cu:33")));
}

TEST(Columns, CallsAndDivisionsAreCountedWhereTheyStand) {
  const judge::ExactMeasured row = of_kernel("divided");
  EXPECT_EQ(value(row, "calls"), 1);
  EXPECT_EQ(value(row, "divisions"), 1);
  EXPECT_EQ(value(row, "loop_calls"), 2);
  EXPECT_THAT(row.hints.at("calls"), HasSubstr("kernels.cu:47 (__cuda_sm20_div_s64)"));
  EXPECT_THAT(row.hints.at("divisions"), HasSubstr("kernels.cu:47 (__cuda_sm3x_div_rn"));
  EXPECT_EQ(value(of_kernel("together"), "divisions"), 0);
}

TEST(Columns, AFenceOfTheGpuInTheMainLoopIsTheRowsFault) {
  const auto fault = [](const std::string& fence, bool in_loop) {
    std::vector<std::string> lines = {".L_x_0:", "LDG.E R4, desc[UR4][R2.64]",
                                      "STG.E desc[UR4][R6.64], R4", "@P0 BRA `(.L_x_0)", "EXIT"};
    lines.insert(lines.begin() + (in_loop ? 2 : 4), fence);
    return of_lines(lines).fault;
  };
  EXPECT_THAT(fault("MEMBAR.SC.GPU", true), HasSubstr("a fence of the whole GPU (MEMBAR"));
  EXPECT_THAT(fault("MEMBAR.ALL.SYS", true), HasSubstr("a fence of the whole GPU (MEMBAR"));
  EXPECT_EQ(fault("MEMBAR.ALL.CTA", true), "");
  EXPECT_EQ(fault("MEMBAR.SC.GPU", false), "");
}

TEST(Columns, AnUnknownOpcodeIsTheRowsFault) {
  EXPECT_THAT(of_lines({"NEWOP R1, R2", "EXIT"}).fault, HasSubstr("NEWOP 1 times"));
  EXPECT_EQ(of_kernel("together").fault, "");
}

} // namespace
} // namespace kg::sass
