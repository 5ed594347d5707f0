// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/coverage/coverage.h"

#include "perf/code/coverage/fidelity.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::coverage {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string event(const std::string& kind, const std::string& text) {
  return kind + "\n" + text + '\0';
}
std::string kernel(const std::string& name, int line, const std::string& file = "/home/me/k.cu") {
  return event("kernel", fmt::format("{0}\n{0}\n{1}\n{2}", name, file, line));
}

TEST(Notes, OfSeveralProcesses) {
  // A process may begin a kernel that only the next one lists.
  const Notes notes = read_notes(event("begun", "b") + kernel("a", 3) + event("launches", "2") +
                                 kernel("a", 3) + kernel("b", 9) + event("inexact", "__expf"));
  ASSERT_EQ(notes.kernels.size(), 2u);
  EXPECT_FALSE(notes.kernels.at("a").ran);
  EXPECT_TRUE(notes.kernels.at("b").ran);
  EXPECT_EQ(notes.kernels.at("b").line, 9);
  EXPECT_THAT(notes.inexact, testing::ElementsAre("__expf"));
}

TEST(Notes, OfSeveralRunsRanInAny) {
  Notes all = read_notes(kernel("a", 3) + kernel("b", 9));
  all.add(read_notes(kernel("a", 3) + kernel("b", 9) + event("begun", "a")));
  EXPECT_TRUE(all.kernels.at("a").ran);
  EXPECT_FALSE(all.kernels.at("b").ran);
}

TEST(Notes, OfADamagedFileAreAnError) { EXPECT_THROW(read_notes("kernel\na"), Error); }

TEST(CoverageText, IsEmptyWhereAllRan) {
  EXPECT_EQ(coverage_text(read_notes(kernel("a", 3) + event("begun", "a")), "/home/me"), "");
  EXPECT_EQ(coverage_text({}, "/home/me"), "");
}

TEST(CoverageText, NamesFilesFromTheFolder) {
  EXPECT_EQ(coverage_text(read_notes(kernel("sum", 3) + kernel("b", 9, "/opt/x.cu") +
                                     kernel("c", 0, "") + kernel("d", 4) + event("begun", "d")),
                          "/home/me"),
            "never ran: 3 of 4 kernels\n"
            "  c    (compile it with nvcc -lineinfo)\n"
            "  sum  k.cu:3\n"
            "  b    /opt/x.cu:9\n");
}

TEST(CoverageText, CountsWhatItDoesNotShow) {
  std::string file;
  for (int line = 1; line <= 13; ++line) file += kernel(fmt::format("k{}", line), line);
  const std::string text = coverage_text(read_notes(file), "/home/me");
  EXPECT_THAT(text, HasSubstr("never ran: 13 of 13 kernels\n"));
  EXPECT_THAT(text, HasSubstr("  k10  k.cu:10\n  and 3 more, which --json FILE lists\n"));
  EXPECT_THAT(text, Not(HasSubstr("k11")));
}

TEST(CoverageText, NamesLinesThatWereNeverReached) {
  const std::string lines =
      event("lines", "1 3 /home/me/k.cu\n0 5 /home/me/k.cu\n0 8 /home/me/k.cu\n1 9 /home/me/k.cu\n"
                     "0 12 /home/me/k.cu\n0 4 /opt/a b.cu\n");
  EXPECT_EQ(coverage_text(read_notes(lines), "/home/me"), "never reached: 4 of 6 lines of kernels\n"
                                                          "  k.cu:5-8, 12\n"
                                                          "  /opt/a b.cu:4\n");
  // Another run may reach them.
  Notes all = read_notes(lines);
  all.add(read_notes(event("lines", "1 5 /home/me/k.cu\n1 12 /home/me/k.cu\n")));
  EXPECT_THAT(coverage_text(all, "/home/me"),
              HasSubstr("never reached: 2 of 6 lines of kernels\n  k.cu:8\n"));
  EXPECT_EQ(
      lcov_of(read_notes(kernel("a", 3) + event("begun", "a") + lines)),
      "TN:\nSF:/home/me/k.cu\nFN:3,a\nFNDA:1,a\nFNF:1\nFNH:1\nDA:3,1\nDA:5,0\nDA:8,0\nDA:9,1\n"
      "DA:12,0\nLF:5\nLH:2\nend_of_record\nSF:/opt/a b.cu\nFNF:0\nFNH:0\nDA:4,0\nLF:1\nLH:0\n"
      "end_of_record\n");
}

TEST(NotesJson, ListsAllKernels) {
  const nlohmann::json json = notes_json(read_notes(kernel("a", 3) + event("begun", "a")));
  EXPECT_EQ(json["kernels"][0],
            nlohmann::json({{"name", "a"}, {"file", "/home/me/k.cu"}, {"line", 3}, {"ran", true}}));
}

TEST(Lcov, HasARecordForEachFile) {
  EXPECT_EQ(lcov_of(read_notes(kernel("b", 9) + kernel("a", 3) + kernel("c", 9) +
                               kernel("x", 1, "/opt/x.cu") + kernel("nowhere", 0, "") +
                               event("begun", "b"))),
            "TN:\nSF:/home/me/k.cu\nFN:3,a\nFNDA:0,a\nFN:9,b\nFNDA:1,b\nFN:9,c\nFNDA:0,c\n"
            "FNF:3\nFNH:1\nDA:3,0\nDA:9,1\nLF:2\nLH:1\nend_of_record\n"
            "SF:/opt/x.cu\nFN:1,x\nFNDA:0,x\nFNF:1\nFNH:0\nDA:1,0\nLF:1\nLH:0\nend_of_record\n");
}

TEST(Fidelity, SaysNothingWhereThereIsNothing) {
  EXPECT_EQ(fidelity_text({}), "");
  EXPECT_EQ(fidelity_text({"add"}), ""); // which nobody notes
}

TEST(Fidelity, IsOneLine) {
  EXPECT_EQ(fidelity_text({"clock64", "mma", "expf", "rcp.approx", "ex2.approx"}),
            "fidelity: ex2.approx, rcp.approx (correctly rounded here, approximated on a GPU); "
            "expf (of the C library here, of CUDA's math library on a GPU); "
            "mma (adds one product at a time here, a tensor core rounds otherwise); "
            "clock64 (not modelled: nanoseconds of the CPU)\n");
}

} // namespace
} // namespace kg::coverage
