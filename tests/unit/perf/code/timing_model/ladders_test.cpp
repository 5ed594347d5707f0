// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The bound against times that others have published (perf/code/timing_model/ladders.csv).
#include "perf/code/timing_model/ladders.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <gmock/gmock.h>
#include <map>

namespace kg::model {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kHeader =
    "ladder,gpu,shape,source,kernel,milliseconds,blocks,resident,round_trips,load_bytes,block_read,"
    "sectors,passes,issue_clocks,read_bytes,written_bytes\n";

Gpu gpu() {
  Gpu gpu;
  gpu.name = "round";
  gpu.sms = 10;
  gpu.clock_hz = 1e9;
  gpu.copy_bytes_per_s = 100e9;
  gpu.l2_bytes_per_s = 1000e9;
  gpu.port_bytes_per_s = 128e9;
  gpu.latency_s = gpu.l2_latency_s = gpu.l1_latency_s = 1e-6;
  gpu.f32_flops_per_s = 256e9;
  return gpu;
}

std::vector<Ladder> load(const std::string& rows) {
  const TemporaryFolder folder;
  write_file(folder.path() / "ladders.csv", kHeader + rows);
  return load_ladders(folder.path() / "ladders.csv", {gpu()});
}

TEST(Ladders, ARungHasTheCostsOfAllItsBlocks) {
  const auto found = load("a,round,s,u,naive,10,100,1,0,0,0,0,1000,0,0,0\n"
                          "a,round,s,u,better,3,100,1,0,0,0,0,0,400,0,0\n"
                          "b,round,s,u,x,1,10,1,0,0,0,0,1,0,0,0\n"
                          "b,round,s,u,y,2,10,1,0,0,0,0,2,0,0,0\n");
  ASSERT_EQ(found.size(), 2u);
  const Ladder& a = found[0];
  EXPECT_DOUBLE_EQ(a.rungs[0].bound.seconds, 10e-6); // 10 blocks of 1,000 passes, one a clock
  EXPECT_DOUBLE_EQ(a.rungs[1].bound.seconds, 1e-6);  // of 400 clocks of four schedulers
  EXPECT_DOUBLE_EQ(a.correlation, 1);
  EXPECT_DOUBLE_EQ(a.median_factor, 2000); // of 1,000 and 3,000
  EXPECT_THAT(text(found), HasSubstr("naive"));
}

TEST(Ladders, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_THAT([] { load("a,other,s,u,k,1,1,1,0,0,0,0,0,0,0,0\n"); },
              ThrowsMessage<Error>(HasSubstr("ladders.csv:2: no GPU is called other")));
  EXPECT_THAT([] { load("a,round,s,u,k,fast,1,1,0,0,0,0,0,0,0,0\n"); },
              ThrowsMessage<Error>(HasSubstr("expected a number from 0, got 'fast'")));
  EXPECT_THAT([] { load("a,round,s,u,k\n"); }, ThrowsMessage<Error>(HasSubstr("has 5 fields")));
}

// docs/results/validation.md says what each misses. A change of the model or of a GPU's figures
// that ranks kernels worse fails here.
TEST(Ladders, TheBoundRanksKernelsAsTheirGpusDid) {
  const std::map<std::string, double> wanted = {{"SGEMM_CUDA", 0.9},
                                                {"CUDA-GEMM-Optimization f32", 0.9},
                                                {"CUDA-GEMM-Optimization f16", 0.9},
                                                {"NVIDIA_SGEMM_PRACTICE", 0.9},
                                                {"reduce", 0.9},
                                                {"gpu-matrix-transpose", 0.7}};
  const auto found = load_ladders(KERNELGRADE_LADDERS, load_gpus(KERNELGRADE_GPUS));
  EXPECT_EQ(found.size(), wanted.size());
  for (const Ladder& one : found) {
    EXPECT_GE(one.correlation, wanted.at(one.name)) << text({one});
    EXPECT_GT(one.median_factor, 1) << text({one});
    // GPUs run faster than at the clocks of their data sheets, and another nvcc made the code.
    for (const Rung& rung : one.rungs)
      EXPECT_GT(rung.measured_s / rung.bound.seconds, 0.75) << one.name << " " << rung.kernel;
    EXPECT_THAT(one.source, HasSubstr("commit"));
  }
}

} // namespace
} // namespace kg::model
