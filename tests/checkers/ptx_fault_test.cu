// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What nvcc made of a kernel is watched as the source is: findings name lines of the `.cu` file.
#include "runtime/ptx/library.h"
#include "tests/checkers/finding.h"

#include <fmt/format.h>

namespace kg::test {
namespace {

// Of 64 threads each stores its number in shared memory (line 10), and after the barrier writes its
// neighbour's to out (line 13, which two functions of the toolkit do for it, one inside of the
// other).
std::string finding_of(const std::string& barrier, const std::string& before_store = "",
                       int out_offset = 0) {
  const std::string text = fmt::format(R"(
.version 9.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 tile[256];
.visible .entry turn(.param .u64 turn_param_0)
{{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %d<4>;
  .loc 1 9 3
  ld.param.u64 %d1, [turn_param_0];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.s32 %r4, %r2, %r3;
  .loc 1 10 3
  {}
  st.shared.u32 [%r4], %r1;
  .loc 1 11 3
  {}
  .loc 1 12 3
  xor.b32 %r5, %r3, 252;
  add.s32 %r6, %r2, %r5;
  ld.shared.u32 %r7, [%r6];
  .loc 3 90 7, function_name $L__info_string0, inlined_at 1 13 5
  .loc 2 402 1, function_name $L__info_string1, inlined_at 3 90 7
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  st.global.u32 [%d3+{}], %r7;
  ret;
}}
  .file 1 "/home/me/turn.cu"
  .file 2 "/usr/local/cuda/bin/../targets/x86_64-linux/include/intrinsics.hpp"
  .file 3 "/usr/local/cuda-13.0/include/cccl/cuda/barrier"
)",
                                       before_store, barrier, out_offset);
  const ptx_run::LoadedKernel kernel = ptx_run::compile(text, "turn.ptx", "turn");
  const DeviceBuffer<unsigned> out(64);
  void* pointer = out.data();
  void* arguments[] = {&pointer};
  const std::size_t sizes[] = {sizeof pointer};
  LaunchConfig config{.grid = 1, .block = 64};
  config.shared_bytes = kernel.static_shared_bytes;
  try {
    detail::launch_erased(config, ptx_run::erased(kernel), {arguments, sizes, 1, nullptr, nullptr});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Two blocks of 32 threads are a cluster: each thread stores its number (line 10), and reads that
// of the same thread in the other block (line 14). Three barriers of the cluster: before that,
// behind it, and what stands between arrival and wait of the first one (line 12).
std::string cluster_finding(const std::string& arrive, const std::string& between,
                            const std::string& wait, const std::string& last) {
  const std::string text = fmt::format(R"(
.version 9.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 tile[128];
.visible .entry swap(.param .u64 swap_param_0)
{{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %d<4>;
  .loc 1 9 3
  ld.param.u64 %d1, [swap_param_0];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mov.u32 %r3, %cluster_ctarank;
  xor.b32 %r3, %r3, 1;
  shl.b32 %r4, %r1, 2;
  add.s32 %r5, %r2, %r4;
  mapa.shared::cluster.u32 %r6, %r5, %r3;
  .loc 1 10 3
  st.shared.u32 [%r5], %r1;
  .loc 1 11 3
  {}
  .loc 1 12 3
  {}
  .loc 1 13 3
  {}
  .loc 1 14 3
  ld.shared::cluster.u32 %r7, [%r6];
  .loc 1 15 3
  {}
  .loc 1 16 3
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  atom.global.add.u32 %r8, [%d3], %r7;
  ret;
}}
  .file 1 "/home/me/swap.cu"
)",
                                       arrive, between, wait, last);
  const ptx_run::LoadedKernel kernel = ptx_run::compile(text, "swap.ptx", "swap");
  Stream stream;
  const auto out = DeviceBuffer<unsigned>::from_host(std::vector<unsigned>(32), stream);
  stream.synchronize();
  const void* pointer = out.data();
  void* arguments[] = {&pointer};
  const std::size_t sizes[] = {sizeof pointer};
  LaunchConfig config{.grid = 2, .block = 32};
  config.cluster = 2;
  config.shared_bytes = kernel.static_shared_bytes;
  try {
    detail::launch_erased(config, ptx_run::erased(kernel), {arguments, sizes, 1, nullptr, nullptr});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class PtxFaults : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, PtxFaults, kOrders, order_name);

TEST_P(PtxFaults, NoneInWhatIsRight) { EXPECT_THAT(finding_of("bar.sync 0;"), IsEmpty()); }

TEST_P(PtxFaults, ARaceNamesBothLines) {
  EXPECT_THAT(finding_of(""), AllOf(HasSubstr("[race] kernel turn"), HasSubstr("turn.cu:10"),
                                    HasSubstr("turn.cu:12")));
}

TEST_P(PtxFaults, WhatNobodyWrote) {
  EXPECT_THAT(finding_of("bar.sync 0;", "setp.ne.u32 %p1, %r1, 5;\n@%p1"),
              AllOf(StartsWith("[uninitialised] kernel turn"), HasSubstr("turn.cu:12")));
}

TEST_P(PtxFaults, BehindABuffer) {
  EXPECT_THAT(finding_of("bar.sync 0;", "", 4),
              AllOf(StartsWith("[out-of-bounds] kernel turn"), HasSubstr("writes 4 bytes at"),
                    HasSubstr("turn.cu:13")));
}

TEST_P(PtxFaults, AMisalignedAddress) {
  EXPECT_THAT(finding_of("bar.sync 0;", "add.s32 %r4, %r4, 2;"),
              AllOf(HasSubstr("misaligned"), HasSubstr("turn.cu:10")));
}

const std::string kArrive = "barrier.cluster.arrive;", kWait = "barrier.cluster.wait;";
const std::string kBoth = kArrive + " " + kWait;

TEST_P(PtxFaults, NoneInAClusterThatWaits) {
  EXPECT_THAT(cluster_finding(kArrive, "", kWait, kBoth), IsEmpty());
  // A relaxed arrival behind a fence.
  EXPECT_THAT(
      cluster_finding("fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;", "", kWait, kBoth),
      IsEmpty());
}

TEST_P(PtxFaults, ARaceBetweenBlocksOfACluster) {
  for (const std::string arrive : {"bar.sync 0;", "barrier.cluster.arrive.relaxed;"})
    EXPECT_THAT(cluster_finding(arrive, "", arrive == "bar.sync 0;" ? "" : kWait, kBoth),
                AllOf(HasSubstr("kernel swap"), HasSubstr("swap.cu:14")))
        << arrive;
  // Stored once more when this thread has arrived, and the others may read.
  EXPECT_THAT(
      cluster_finding(kArrive, "st.shared.u32 [%r5], %r3;", kWait, kBoth),
      AllOf(HasSubstr("[race] kernel swap"), HasSubstr("swap.cu:12"), HasSubstr("swap.cu:14")));
}

TEST_P(PtxFaults, ABlockOfAClusterThatIsOver) {
  const std::string found = cluster_finding(kArrive, "", kWait, "");
  // In random order every thread may have read in time, as on a GPU.
  if (GetParam().order == ThreadOrder::random && found.empty()) return;
  EXPECT_THAT(found, AllOf(StartsWith("[out-of-bounds] kernel swap"), HasSubstr("swap.cu:14"),
                           HasSubstr("let no block of a cluster end before")));
}

} // namespace
} // namespace kg::test
