// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/ptxas_log.h"

#include "runtime/error.h"

#include <gtest/gtest.h>

namespace kg::resources {
namespace {

// As ptxas 13.0 writes for sm_80 (with cmem and smem) and sm_90a.
const std::string kLog =
    "ptxas info    : 10 bytes gmem, 80 bytes cmem[4]\n"
    "ptxas info    : Compiling entry function '_Z5stagePf' for 'sm_80'\n"
    "ptxas info    : Function properties for _Z5stagePf\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 61 registers, used 1 barriers, 32 bytes smem, 384 bytes cmem[0]\n"
    "ptxas info    : Compile time = 21.473 ms\n"
    "ptxas info    : Compiling entry function 'spilly' for 'sm_90a'\n"
    "ptxas info    : Function properties for spilly\n"
    "    1072 bytes stack frame, 2280 bytes spill stores, 2464 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 0 barriers, 1072 bytes cumulative stack size\n";

TEST(PtxasLog, ReadsWhatEachKernelTakes) {
  const auto kernels = read_ptxas_log(kLog, "x.log");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].symbol, "_Z5stagePf");
  EXPECT_EQ(kernels[0].registers, 61);
  EXPECT_EQ(kernels[0].shared_bytes, 32);
  EXPECT_EQ(kernels[0].stack_bytes, 0);
  EXPECT_EQ(kernels[0].spill_bytes, 0);
  EXPECT_EQ(kernels[1].symbol, "spilly");
  EXPECT_EQ(kernels[1].registers, 32);
  EXPECT_EQ(kernels[1].shared_bytes, 0);
  EXPECT_EQ(kernels[1].stack_bytes, 1072);
  EXPECT_EQ(kernels[1].spill_bytes, 4744);
}

TEST(PtxasLog, FiguresOfADeviceFunctionBelongToNoKernel) {
  const auto kernels =
      read_ptxas_log(kLog + "ptxas info    : Function properties for helper\n"
                            "    96 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n",
                     "x.log");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[1].spill_bytes, 4744);
}

TEST(PtxasLog, InstructionsThatPtxasSerializesAreAnError) {
  const std::string remark = "ptxas info    : (C7518) Potential Performance Loss: wgmma.mma_async "
                             "instructions are serialized due to program dependence on "
                             "compiler-inserted WG.DP in divergent path in the function 'spilly'";
  try {
    read_ptxas_log(remark + "\n" + kLog, "x.log");
    FAIL();
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_EQ(said.rfind("x.log: ptxas gives up", 0), 0u) << said;
    EXPECT_NE(said.find(remark), said.npos) << said;
  }
}

TEST(PtxasLog, AKernelWithoutRegistersIsAnError) {
  const std::string cut = kLog.substr(0, kLog.rfind("ptxas info"));
  try {
    read_ptxas_log(cut, "x.log");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string(error.what()).rfind("x.log: nothing is said of the registers of spilly", 0), 0u)
        << error.what();
  }
  EXPECT_TRUE(read_ptxas_log("", "x.log").empty()) << "a file without kernels";
}

} // namespace
} // namespace kg::resources
