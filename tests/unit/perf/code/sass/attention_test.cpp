// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What ptxas makes of attention's inner loop
// (tests/unit/kernels/runtime/warpgroup/attend_tiles.cu).
#include "perf/code/sass/analysis.h"
#include "perf/code/sass/listing.h"
#include "perf/code/sass/nvdisasm.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/ptx/fatbin.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace kg::sass {
namespace {

// Of the mutant of this number; 0 is none.
Part main_part_of(int mutant, const std::filesystem::path& nvdisasm) {
  const std::string file = KERNELGRADE_ATTENTION;
  const std::string fatbin = read_file(file).value();
  const std::string name = "AttendMutantE" + std::to_string(mutant) + "E";
  for (const FatbinEntry& entry : read_fatbin(fatbin, file)) {
    if (entry.kind != FatbinEntry::Kind::elf) continue;
    for (const Analysis& one :
         analyse(read_listing(disassemble(nvdisasm, entry.cubin(), file), file)))
      if (one.symbol.find(name) != std::string::npos) return one.main_part();
  }
  throw Error(file + " lacks " + name);
}

// Sums of 64 x 64 lie in 32 registers of a thread: an exponential for each, and two for the sums'
// new scale. All of them run beside the product of the tile before; where nothing holds the wait
// for that product, ptxas moves it in front of most of them.
TEST(AttentionLoop, ExponentialsRunBesideTheProductOfWeights) {
  if (!std::filesystem::exists(KERNELGRADE_ATTENTION))
    GTEST_SKIP() << "nvcc not found, which compiles device code";
  const std::filesystem::path nvdisasm = find_nvdisasm();
  if (nvdisasm.empty()) GTEST_SKIP() << nvdisasm_missing();
  const Part good = main_part_of(0, nvdisasm);
  EXPECT_THAT(good.products, testing::ElementsAre(testing::Pair("HGMMA.64x64x16.F32.BF16", 8)));
  EXPECT_EQ(good.product_groups, 2);
  EXPECT_EQ(good.overlap.special, 34);
  EXPECT_EQ(good.overlap.beside_products, 34);
  constexpr int kNothingOverlaps = 8;
  const Part moved = main_part_of(kNothingOverlaps, nvdisasm);
  EXPECT_EQ(moved.overlap.special, 34);
  EXPECT_LT(moved.overlap.beside_products, 17);
}

} // namespace
} // namespace kg::sass
