// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/compiled.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace kg::resources {
namespace {

constexpr const char* kWhole = "_ZN2kg5packs5wholeEPKNS0_4PackEPS1_";
constexpr const char* kSplit = "_ZN2kg5packs5splitEPKNS0_4PackEPS1_";

std::filesystem::path made(const std::string& name) {
  return std::filesystem::path(KERNELGRADE_TEST_FILES) / name;
}

TEST(KernelKey, IsTheOpAndTheNameWithoutItsNamespace) {
  EXPECT_EQ(kernel_key("gemm", "kg::gemm::tiled<false, true>"), "gemm.tiled<false, true>");
  EXPECT_EQ(kernel_key("elementwise", "kg::elementwise::naive<(kg::elementwise::Op)0, float>"),
            "elementwise.naive<(Op)0, float>");
  EXPECT_EQ(kernel_key("scan", "other::scan"), "scan.other::scan");
}

class Compiled : public testing::Test {
 protected:
  // A folder with what packs.cu was compiled to, and a log that says what ptxas said, or something
  // else.
  void SetUp() override {
    if (!std::filesystem::exists(made("packs.fatbin")))
      GTEST_SKIP() << "nvcc not found, which compiles device code";
    std::filesystem::copy(made("packs.fatbin"), folder_.path());
  }

  void log() {
    const std::string begin = "ptxas info    : Compiling entry function '";
    write_file(folder_.path() / "packs.log",
               begin + kWhole +
                   "' for 'sm_90a'\n    24 bytes stack frame, 8 bytes spill stores, 16 "
                   "bytes spill loads\nptxas info    : Used 40 registers, 256 bytes smem\n" +
                   begin + kSplit + "' for 'sm_90a'\nptxas info    : Used 8 registers\n");
  }

  // Of the kernel `whole`, the second by name.
  std::vector<double> values(const Launches& launches) {
    const auto rows =
        compiled_resources(folder_.path(), "sm_90a", "packs", launches, folder_.path());
    if (rows.size() != 2) return {};
    constexpr std::size_t kOfPtxas = 9; // and of PTX; nobody has read the machine code
    std::vector<double> values = rows[1].row.values;
    EXPECT_TRUE(std::all_of(values.begin() + kOfPtxas, values.end(),
                            [](double value) { return std::isnan(value); }));
    values.resize(kOfPtxas);
    return values;
  }

  judge::test::Folder folder_;
};

TEST_F(Compiled, TakesTheLaunchBoundsWhereNoLaunchIsKnown) {
  log();
  // 128 threads: 16 blocks by warps, 12 by registers (1280 per warp, 12 of each part).
  EXPECT_EQ(values({}), (std::vector<double>{40, 24, 24, 256, 0, 128, 75, 0, 0}));
  EXPECT_EQ(compiled_resources(folder_.path(), "sm_90a", "packs", {}, folder_.path())[1].row.key,
            std::vector<std::string>{"packs.whole"});
}

TEST_F(Compiled, TakesTheLaunchWhereOneIsKnown) {
  log();
  // 256 + 114432 + 1024 bytes: 2 blocks of 2 warps.
  EXPECT_EQ(values({{"kg::packs::whole", {64, 114432}}}),
            (std::vector<double>{40, 24, 24, 256, 114432, 64, 6.25, 0, 0}));
}

// Its rows would be absent otherwise, and what ptxas remarked of it.
TEST_F(Compiled, AKernelThatTheLogDoesNotNameIsAnError) {
  for (const char* text : {"", "ptxas info    : 0 bytes gmem\n"}) {
    write_file(folder_.path() / "packs.log", text);
    try {
      values({});
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("packs.fatbin: its log says nothing of the kernel "),
                std::string::npos)
          << error.what();
    }
  }
}

TEST_F(Compiled, ARegressionNamesTheLineOfTheKernel) {
  log();
  write_file(folder_.path() / "packs.cu",
             "namespace kg::packs {\n__global__ void whole(float* x) { x[0] *= 2; }\n}\n");
  const auto rows = compiled_resources(folder_.path(), "sm_90a", "packs", {}, folder_.path());
  ASSERT_EQ(rows.size(), 2u);
  judge::ExactFile baseline{"sm_90a.csv", true, {rows[0].row, rows[1].row}, {}};
  baseline.rows[1].values[1] = 0; // no spills
  const auto result = judge::judge_exact(judge::resource_table(), rows, baseline, {}, {});
  EXPECT_EQ(result.exit_code, 1);
  const std::string place = (folder_.path() / "packs.cu").string() + ":2";
  EXPECT_NE(result.rows[1].message.find("spill_bytes 0 -> 24; the kernel is at " + place),
            std::string::npos)
      << result.rows[1].message;
}

TEST_F(Compiled, AccessesThatTheCompilerSplitAreFound) {
  std::filesystem::copy(made("packs.log"), folder_.path());
  const auto rows = compiled_resources(folder_.path(), "sm_90a", "packs", {}, folder_.path());
  ASSERT_EQ(rows.size(), 2u);
  const auto splits = [&](std::size_t row) {
    const std::vector<double>& values = rows[row].row.values;
    return std::vector<double>(values.begin() + 7, values.begin() + 9);
  };
  EXPECT_EQ(rows[0].row.key.front(), "packs.split");
  EXPECT_EQ(splits(0), (std::vector<double>{2, 1}));
  EXPECT_EQ(rows[1].row.key.front(), "packs.whole");
  EXPECT_EQ(splits(1), (std::vector<double>{0, 0}));
}

TEST_F(Compiled, AFatbinThatLacksMachineCodeOrPtxIsAnError) {
  log();
  std::string fatbin = *read_file(made("packs.fatbin"));
  fatbin[16] = 7; // the kind of the first entry: no kind that this program knows
  write_file(folder_.path() / "packs.fatbin", fatbin);
  try {
    values({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("must hold machine code and PTX"), std::string::npos)
        << error.what();
  }
}

TEST_F(Compiled, AMissingLogOrABrokenFatbinIsAnError) {
  EXPECT_THROW(values({}), Error);
  log();
  write_file(folder_.path() / "packs.fatbin", "no fatbin");
  EXPECT_THROW(values({}), Error);
}

} // namespace
} // namespace kg::resources
