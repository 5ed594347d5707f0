// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/products.h"

#include "perf/code/sass/analysis.h"
#include "perf/code/sass/registers.h"
#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>
#include <numeric>

namespace kg::sass {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Instruction decoded(const std::string& text) { return test::function({text}).code.at(0); }

std::vector<int> from(int first, int count) {
  std::vector<int> registers(static_cast<std::size_t>(count));
  std::iota(registers.begin(), registers.end(), first);
  return registers;
}

TEST(WarpgroupProducts, HaveShapeTypeAndPlaceOfA) {
  const auto shared = product_of(decoded("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24, UP0"));
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->columns, 256);
  EXPECT_EQ(shared->depth, 16);
  EXPECT_EQ(shared->element_bits, 16);
  EXPECT_EQ(shared->sum_registers(), 128);
  EXPECT_FALSE(shared->a_in_registers);
  EXPECT_FALSE(shared->closes_group);
  EXPECT_EQ(shared->shared_bytes(), (64 + 256) * 32);
  EXPECT_EQ(4 * shared->operations(), 2.0 * 64 * 256 * 16);

  const auto registers =
      product_of(decoded("HGMMA.64x128x16.F32.BF16 R24, R180, gdesc[UR4].tnspB, R24, gsb0"));
  ASSERT_TRUE(registers);
  EXPECT_TRUE(registers->a_in_registers);
  EXPECT_TRUE(registers->closes_group);
  EXPECT_EQ(registers->shared_bytes(), 128 * 32);
}

TEST(WarpgroupProducts, OfOtherTypes) {
  const auto halves = product_of(decoded("HGMMA.64x64x16.F16 R24, gdesc[UR4], RZ, !UPT, gsb0"));
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->sum_registers(), 16);
  const auto tf32 = product_of(decoded("HGMMA.64x8x8.F32.TF32 R24, gdesc[UR4], RZ, !UPT, gsb0"));
  ASSERT_TRUE(tf32);
  EXPECT_EQ(tf32->element_bits, 32);
  for (const char* bytes : {"QGMMA.64x64x32.F32.E5M2.E5M2 R24, gdesc[UR4], RZ, !UPT, gsb0",
                            "IGMMA.64x64x32.S8.S8 R24, gdesc[UR4], RZ, !UPT, gsb0"}) {
    const auto product = product_of(decoded(bytes));
    ASSERT_TRUE(product) << bytes;
    EXPECT_EQ(product->element_bits, 8);
    EXPECT_EQ(product->sum_registers(), 32);
  }
}

TEST(WarpgroupProducts, AreNothingWhereTheShapeIsNotKnown) {
  EXPECT_FALSE(product_of(decoded("HMMA.16816.F32.BF16 R4, R8, R12, R4")));
  EXPECT_FALSE(product_of(decoded("BGMMA.64x8x256.AND R24, gdesc[UR4], RZ, !UPT, gsb0")));
  EXPECT_FALSE(product_of(decoded("HGMMA.SP.64x8x32.F32 R24, gdesc[UR4], RZ, !UPT, gsb0")));
  EXPECT_FALSE(product_of(decoded("HGMMA.128x8x16.F32 R24, gdesc[UR4], RZ, !UPT, gsb0")));
}

TEST(WarpgroupProducts, ReadAndWriteTheirRegisters) {
  const Registers shared =
      registers_of(decoded("HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], R24, gsb0"));
  EXPECT_THAT(shared.written, ElementsAre(24, 25, 26, 27));
  EXPECT_THAT(shared.read, ElementsAre(24, 25, 26, 27));
  const Registers first =
      registers_of(decoded("HGMMA.64x128x16.F32.BF16 R24, R152, gdesc[UR4].tnspB, RZ, !UPT"));
  EXPECT_EQ(first.written, from(24, 64));
  EXPECT_EQ(first.read, from(152, 4));
  const Registers adds =
      registers_of(decoded("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24, UP0"));
  EXPECT_EQ(adds.read, from(24, 128));
}

// The whitepaper's peak: N / 2 clocks in each type, where shared memory keeps up: from N = 64 on.
TEST(WarpgroupProducts, TakeTheClocksOfThePeak) {
  const auto clocks = [](const std::string& text) { return clocks_of(decoded(text)); };
  EXPECT_EQ(clocks("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24"), 128);
  EXPECT_EQ(clocks("HGMMA.64x256x8.F32.TF32 R24, gdesc[UR16], R24"), 128);
  EXPECT_EQ(clocks("QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR16], R24"), 128);
  EXPECT_EQ(clocks("IGMMA.64x256x32.S8.S8 R24, gdesc[UR16], R24"), 128);
  EXPECT_EQ(clocks("HGMMA.64x64x16.F32.BF16 R24, gdesc[UR16], R24"), 32);
  // A's 2 KiB take 16 clocks of shared memory, B's 256 bytes two.
  const std::string narrow = "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR16], R24";
  EXPECT_EQ(clocks(narrow), 18);
  EXPECT_EQ(matrix_clocks(decoded(narrow)), 4);
  EXPECT_EQ(clocks("HGMMA.64x8x16.F32.BF16 R24, R4, gdesc[UR16], R24"), 4);
}

TEST(WarpgroupProducts, AreCountedByShapeWithTheirOperations) {
  const auto found = analyse(test::functions(
      {"USETMAXREG.DEALLOC.CTAPOOL 0x28", "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8",
       ".L_1:", "WARPGROUP.ARRIVE", "HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24, UP0",
       "HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24, gsb0", "WARPGROUP.DEPBAR.LE gsb0, 0x0",
       "@P0 BRA `(.L_1)", "EXIT"}));
  ASSERT_EQ(found.size(), 1u);
  const Part& part = found[0].main_part();
  EXPECT_THAT(part.products, ElementsAre(Pair("HGMMA.64x256x16.F32.BF16", 2)));
  EXPECT_EQ(part.product_groups, 1);
  EXPECT_EQ(part.operations, 2 * 2.0 * 16 * 256 * 16);
  EXPECT_EQ(part.matrix_clocks, 256);
  EXPECT_EQ(found[0].least_registers, 40);
  EXPECT_EQ(found[0].most_registers, 232);
}

// The wait for the second group stands in front of the last exponential, or behind it.
TEST(WarpgroupProducts, SpecialFunctionsBesideThem) {
  std::vector<std::string> lines = {".L_1:",
                                    "MUFU.EX2 R1, R1",
                                    "HGMMA.64x64x16.F32.BF16 R24, gdesc[UR16], R24, gsb0",
                                    "HGMMA.64x64x16.F32.BF16 R56, gdesc[UR16], R56",
                                    "MUFU.EX2 R1, R1",
                                    "HGMMA.64x64x16.F32.BF16 R56, gdesc[UR16], R56, gsb0",
                                    "WARPGROUP.DEPBAR.LE gsb0, 0x1",
                                    "MUFU.EX2 R1, R1",
                                    "WARPGROUP.DEPBAR.LE gsb0, 0x0",
                                    "MUFU.EX2 R1, R1",
                                    "@P0 BRA `(.L_1)",
                                    "EXIT"};
  const auto overlap = [&] { return analyse(test::functions(lines)).at(0).main_part().overlap; };
  EXPECT_EQ(overlap().special, 4);
  EXPECT_EQ(overlap().beside_products, 2);
  lines[8] = "WARPGROUP.DEPBAR.LE gsb0, 0x1"; // the next pass's first, too
  EXPECT_EQ(overlap().beside_products, 4);
}

TEST(WarpgroupProducts, InstructionsAroundThemAreKnown) {
  const auto found = analyse(test::functions({"UTMALDG.2D [UR8], [UR12]",
                                              "UTMALDG.2D.MULTICAST [UR4], [UR10], UR8",
                                              "UTMASTG.2D [UR4], [UR8]",
                                              "UTMAREDG.2D.ADD [UR4], [UR10]",
                                              "UTMACCTL.PF [UR4]",
                                              "UTMACMDFLUSH",
                                              "UBLKCP.S.G [UR4], [UR8], UR6",
                                              "UBLKPF.L2 [UR6], UR4",
                                              "UBLKRED.G.S.ADD.F32.RN [UR6], [UR4], UR5",
                                              "SYNCS.EXCH.64 URZ, [UR10], UR4",
                                              "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R4",
                                              "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR6], RZ",
                                              "WARPGROUP.ARRIVE",
                                              "WARPGROUP.DEPBAR.LE gsb0, 0x1",
                                              "WARPSYNC.ALL",
                                              "ENDCOLLECTIVE",
                                              "USETMAXREG.DEALLOC.CTAPOOL 0x28",
                                              "FENCE.VIEW.ASYNC.S",
                                              "ELECT P1, URZ, PT",
                                              "STSM.16.M88.4 [R0], R4",
                                              "UCGABAR_ARV",
                                              "UCGABAR_WAIT",
                                              "CGAERRBAR",
                                              "ACQBULK",
                                              "PREEXIT",
                                              "NANOSLEEP.SYNCS 0x989680",
                                              "EXIT"}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].unknown, IsEmpty());
}

} // namespace
} // namespace kg::sass
