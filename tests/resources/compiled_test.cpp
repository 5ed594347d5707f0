// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/resources/compiled.h"

#include "perf/judge/atomic_file.h"
#include "runtime/error.h"
#include "tests/identity/file.h"
#include "tests/judge/folder.h"

#include <gtest/gtest.h>

namespace kg::resources {
namespace {

using identity::test::contents_of;

TEST(KernelKey, IsTheOpAndTheNameWithoutItsNamespace) {
  EXPECT_EQ(kernel_key("gemm", "kg::gemm::tiled<false, true>"), "gemm.tiled<false, true>");
  EXPECT_EQ(kernel_key("elementwise", "kg::elementwise::naive<(kg::elementwise::Op)0, float>"),
            "elementwise.naive<(Op)0, float>");
  EXPECT_EQ(kernel_key("scan", "other::scan"), "scan.other::scan");
}

class Compiled : public testing::Test {
 protected:
  // A folder with the tiny kernel's cubin and a log that says what ptxas said, or something else.
  void SetUp() override {
    if (!std::filesystem::exists(identity::test::made("tiny.sm_90a.cubin")))
      GTEST_SKIP() << "there is no nvcc that could compile device code";
    judge::write_file(folder_.path() / "tiny.cubin", contents_of("tiny.sm_90a.cubin"));
  }

  void log(const std::string& symbol) {
    judge::write_file(folder_.path() / "tiny.log",
                      "ptxas info    : Compiling entry function '" + symbol +
                          "' for 'sm_90a'\n    24 bytes stack frame, 8 bytes spill stores, 16 "
                          "bytes spill loads\nptxas info    : Used 40 registers, 256 bytes smem\n");
  }

  std::vector<double> values(const Launches& launches) {
    const auto rows =
        compiled_resources(folder_.path(), "sm_90a", "tiny", launches, folder_.path());
    return rows.size() == 1 ? rows[0].row.values : std::vector<double>();
  }

  judge::test::Folder folder_;
};

TEST_F(Compiled, TakesTheLaunchBoundsWhereNoLaunchIsKnown) {
  log("_ZN2kg4tiny5scaleEPf");
  // 128 threads: 16 blocks by warps, 12 by registers (1280 per warp, 12 of each part).
  EXPECT_EQ(values({}), (std::vector<double>{40, 24, 24, 256, 0, 128, 75}));
  EXPECT_EQ(compiled_resources(folder_.path(), "sm_90a", "tiny", {}, folder_.path())[0].row.key,
            std::vector<std::string>{"tiny.scale"});
}

TEST_F(Compiled, TakesTheLaunchWhereOneIsKnown) {
  log("_ZN2kg4tiny5scaleEPf");
  // 256 + 114432 + 1024 bytes: 2 blocks of 2 warps.
  EXPECT_EQ(values({{"kg::tiny::scale", {64, 114432}}}),
            (std::vector<double>{40, 24, 24, 256, 114432, 64, 6.25}));
}

TEST_F(Compiled, AKernelThatTheLogDoesNotNameHasNoRow) {
  log("_ZN2kg4tiny5otherEPf");
  EXPECT_TRUE(compiled_resources(folder_.path(), "sm_90a", "tiny", {}, folder_.path()).empty());
}

TEST_F(Compiled, ARegressionNamesTheLineOfTheKernel) {
  log("_ZN2kg4tiny5scaleEPf");
  judge::write_file(folder_.path() / "tiny.cu",
                    "namespace kg::tiny {\n__global__ void scale(float* x) { x[0] *= 2; }\n}\n");
  const auto rows = compiled_resources(folder_.path(), "sm_90a", "tiny", {}, folder_.path());
  ASSERT_EQ(rows.size(), 1u);
  judge::ExactFile baseline{"sm_90a.csv", true, {rows[0].row}, {}};
  baseline.rows[0].values[1] = 0; // no spills
  const auto result = judge::judge_exact(judge::resource_table(), rows, baseline, {}, {});
  EXPECT_EQ(result.exit_code, 1);
  const std::string place = (folder_.path() / "tiny.cu").string() + ":2";
  EXPECT_NE(result.rows[0].message.find("spill_bytes 0 -> 24; the kernel is at " + place),
            std::string::npos)
      << result.rows[0].message;
}

TEST_F(Compiled, AMissingLogOrABrokenCubinIsAnError) {
  EXPECT_THROW(values({}), Error);
  log("_ZN2kg4tiny5scaleEPf");
  judge::write_file(folder_.path() / "tiny.cubin", "no cubin");
  EXPECT_THROW(values({}), Error);
}

} // namespace
} // namespace kg::resources
