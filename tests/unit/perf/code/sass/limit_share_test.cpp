// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/table.h"
#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace kg::sass {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Kernel made_of(const std::vector<std::string>& lines, int warps = 64) {
  Kernel kernel{"made", "made", analyse(test::functions(lines)).at(0), 32, 128, 0, warps};
  return kernel;
}

Kernel kernel(std::string_view part, int warps) {
  for (Analysis& one : analyse(test::kernels()))
    if (one.symbol.find(part) != std::string::npos)
      return {std::string(part), std::string(part), std::move(one), 32, 128, 0, warps};
  throw Error("kernels.sass holds no such kernel");
}

std::vector<std::string> kinds(const std::vector<Hint>& hints) {
  std::vector<std::string> found;
  for (const Hint& hint : hints) found.push_back(hint.kind);
  return found;
}

// A Hopper with round figures of memory.
const model::Gpu& hopper() {
  static const model::Gpu gpu = [] {
    model::Gpu made;
    made.sms = 132;
    made.clock_hz = 1.98e9;
    made.copy_bytes_per_s = 4.3e12;
    made.loads = {{4096, 0.94e12}, {8192, 1.7e12}, {16384, 2.76e12}};
    made.f32_flops_per_s = 256 * made.clock_hz;
    made.f16_flops_per_s = 512 * made.clock_hz;
    made.f64_flops_per_s = 128 * made.clock_hz;
    made.matrix_flops_per_s = {{"f16", 4096 * made.clock_hz}, {"tf32", 2048 * made.clock_hz}};
    made.mma_share = 0.629;
    return made;
  }();
  return gpu;
}

std::vector<Hint> hints(const Kernel& one) {
  return hints_of(one, limit_share_of(one, &hopper()), &hopper());
}

TEST(Rates, AreThoseOfTheTableOnHopper) {
  const Rates rates = rates_of(hopper()), table;
  EXPECT_DOUBLE_EQ(rates.fma, table.fma);
  EXPECT_DOUBLE_EQ(rates.half, table.half);
  EXPECT_DOUBLE_EQ(rates.f64, table.f64);
  EXPECT_DOUBLE_EQ(rates.lsu, table.lsu);
  EXPECT_DOUBLE_EQ(rates.matrix_16bit, table.matrix_16bit);
  EXPECT_DOUBLE_EQ(rates.matrix_tf32, table.matrix_tf32);
}

TEST(Rates, OfOtherGpusAreOther) {
  model::Gpu ampere = hopper();
  ampere.f32_flops_per_s /= 2;
  ampere.lsu_lanes = 16;
  const std::vector<std::string> lines = {"FFMA R4, R4, R5, R6", "LDS R4, [R2]", "LDS.128 R4, [R2]",
                                          "IMAD R4, R4, R5, R6"};
  const std::vector<Function> functions = test::functions(lines);
  const Rates rates = rates_of(ampere);
  std::vector<double> clocks;
  for (std::size_t i = 0; i < lines.size(); ++i)
    clocks.push_back(clocks_of(functions.at(0).code.at(i), rates));
  EXPECT_THAT(clocks, ElementsAre(2, 8, 16, 2));
}

TEST(LimitShare, BytesUnderWayAreThoseOfAllResidentWarps) {
  // 64 bytes of 32 lanes of 16 warps.
  const LimitShare found = limit_share_of(kernel("together", 16), &hopper());
  EXPECT_EQ(found.bytes_in_flight, 32768);
  EXPECT_EQ(found.of, "copy");
  EXPECT_EQ(found.limiter, "-");
  EXPECT_EQ(found.share_pct, 100);
}

TEST(LimitShare, TooFewBytesUnderWayLimitWhatLoadsGet) {
  // 8 KiB: loads get 1.7 TB/s where a copy of as many bytes again would take twice their time.
  const LimitShare found = limit_share_of(kernel("together", 4), &hopper());
  EXPECT_EQ(found.bytes_in_flight, 8192);
  EXPECT_EQ(found.limiter, "loads in flight");
  EXPECT_NEAR(found.share_pct, 100 * 2 * 1.7 / 4.3, 0.1);
}

TEST(LimitShare, InstructionsLimitWhereACopyTakesLess) {
  // Budget of 256 bytes: 4 schedulers x 256 / 16.45 bytes per clock.
  std::vector<std::string> lines = {"LDG.E R4, desc[UR4][R2.64]", "STG.E desc[UR4][R6.64], R4"};
  const double budget = 256 * 4 * 132 * 1.98e9 / 4.3e12;
  EXPECT_NEAR(limit_share_of(made_of(lines), &hopper()).budget, budget, 1e-9);
  lines.insert(lines.begin() + 1, 122, "FADD R5, R4, R5");
  const LimitShare found = limit_share_of(made_of(lines, 64), &hopper());
  EXPECT_EQ(found.limiter, "issue");
  EXPECT_NEAR(found.share_pct, 100 * budget / 124, 0.01);
  const std::vector<Hint> said = hints(made_of(lines, 64));
  ASSERT_THAT(kinds(said), ElementsAre("instructions"));
  EXPECT_THAT(said[0].text, HasSubstr("124 instructions a pass, where 62 clocks are the time of a "
                                      "copy of its bytes"));
}

TEST(LimitShare, OfAnUnknownGpuThereIsNoShareOfACopy) {
  const LimitShare found = limit_share_of(kernel("together", 16), nullptr);
  EXPECT_EQ(found.of, "");
  EXPECT_EQ(found.bytes_in_flight, 32768);
}

TEST(LimitShare, MatrixInstructionsAreMeasuredByThemselves) {
  std::vector<std::string> lines(4, "HMMA.16816.F32 R4, R8, R12, R4");
  const LimitShare alone = limit_share_of(made_of(lines), &hopper());
  EXPECT_EQ(alone.of, "mma");
  EXPECT_EQ(alone.share_pct, 100);
  lines.insert(lines.end(), 100, "FADD R5, R4, R5");
  const LimitShare bound = limit_share_of(made_of(lines), &hopper());
  EXPECT_EQ(bound.limiter, "issue");
  EXPECT_LT(bound.share_pct, 30);
}

TEST(Hints, PacksLoadedOneByOneAreNamedByTheirLine) {
  const std::vector<Hint> found = hints(kernel("one_by_one", 16));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, "serial loads");
  EXPECT_EQ(found[0].line, "kernels.cu:29");
  EXPECT_THAT(found[0].text, AllOf(HasSubstr("2 loads of 16 bytes"), HasSubstr("2 round trips"),
                                   HasSubstr("kernels.cu:33 uses the first (IMAD)"),
                                   HasSubstr("convert them behind the branch")));
  EXPECT_THAT(kinds(found), testing::Contains("conversions"));
}

TEST(Hints, WhatIsNotTakenApartNeedsNoConversion) {
  const std::vector<Hint> found =
      hints(made_of({"LDG.E.128 R4, desc[UR8][R2.64]", "STS.128 [R0], R4",
                     "LDG.E.128 R4, desc[UR8][R2.64+0x10]", "STS.128 [R0+0x10], R4", "EXIT"}));
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found[0].text, AllOf(HasSubstr("2 loads of 16 bytes"), HasSubstr("(STS)"),
                                   Not(HasSubstr("convert"))));
}

TEST(Hints, WhatIsLoadedTogetherNeedsNone) {
  EXPECT_THAT(hints(kernel("together", 16)), IsEmpty());
}

TEST(Hints, TooFewLoadsAreNamedWithWhatACopyTakes) {
  const std::vector<Hint> found = hints(kernel("together", 4));
  EXPECT_THAT(kinds(found), ElementsAre("few loads"));
  EXPECT_THAT(found.at(0).text,
              AllOf(HasSubstr("kernels.cu:17"), HasSubstr("8.0 KiB of the 4 warps"),
                    HasSubstr("copy bandwidth takes 28")));
}

TEST(Hints, DivisionsInLoopsAreNamedByTheirLine) {
  const std::vector<Hint> found = hints(kernel("divided", 64));
  EXPECT_THAT(kinds(found), testing::IsSupersetOf({"division", "library call"}));
  for (const Hint& hint : found) {
    if (hint.kind != "division" && hint.kind != "library call") continue;
    EXPECT_EQ(hint.line, "kernels.cu:47")
        << hint.text; // nvcc gives y[row / by] the sum's line, too
  }
}

TEST(Hints, OneDivisionPerThreadIsNone) {
  const std::vector<Function> all =
      read_listing("\t.section .text.k\n\t.type k,@function\n/*00*/ CALL.REL.NOINC "
                   "`($__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath) ;\n/*10*/ EXIT ;\n",
                   "made");
  const Kernel one{"k", "k", analyse(all).at(0), 32, 128, 0, 64};
  EXPECT_THAT(hints(one), IsEmpty());
}

TEST(Hints, ExponentialsThatWaitForProductsAreNamed) {
  const auto kinds = [](bool waits_first) {
    std::vector<std::string> lines = {".L_1:",
                                      "HGMMA.64x64x16.F32.BF16 R24, gdesc[UR16], R24, gsb0"};
    const std::string wait = "WARPGROUP.DEPBAR.LE gsb0, 0x0";
    if (waits_first) lines.push_back(wait);
    lines.insert(lines.end(), 8, "MUFU.EX2 R1, R1");
    if (!waits_first) lines.push_back(wait);
    lines.insert(lines.end(), {"@P0 BRA `(.L_1)", "EXIT"});
    const Kernel kernel{"made", "made", analyse(test::functions(lines)).at(0), 168, 384, 0, 12};
    std::vector<std::string> found;
    for (const Hint& hint : hints_of(kernel, limit_share_of(kernel, &hopper()), &hopper()))
      found.push_back(hint.kind);
    return found;
  };
  EXPECT_THAT(kinds(true), testing::Contains("special functions"));
  EXPECT_THAT(kinds(false), testing::Not(testing::Contains("special functions")));
}

TEST(Table, HasTheWorstFirstAndAHintOnceForAllItsKernels) {
  Kernel serial = kernel("one_by_one", 4), again = serial;
  again.key = "again";
  const std::string text = plain_text(judged({kernel("together", 16), serial, again}, &hopper()));
  EXPECT_LT(text.find("one_by_one"), text.find("together"));
  const std::size_t first = text.find("serial loads: kernels.cu:29");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("serial loads: kernels.cu:29", first + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("in one_by_one and 1 more"));
}

TEST(Table, JsonHoldsEveryLoop) {
  const nlohmann::json found = json(judged({kernel("divided", 64)}, &hopper()));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["parts"].size(), 3u);
  EXPECT_EQ(found[0]["parts"][2]["calls"][0]["callee"], "__cuda_sm3x_div_rn_noftz_f32_slowpath");
  EXPECT_EQ(found[0]["main"], 2);
  EXPECT_THAT(found[0]["unknown_opcodes"].dump(), Not(HasSubstr("1")));
}

} // namespace
} // namespace kg::sass
