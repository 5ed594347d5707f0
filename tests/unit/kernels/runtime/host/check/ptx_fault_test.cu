// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What nvcc made of a kernel is watched as the source is: findings name lines of the `.cu` file.
#include "runtime/ptx/library.h"
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include <fmt/format.h>

namespace kg::test {
namespace {

// What the checkers say of a kernel that has one parameter, where its threads may add or store
// words.
std::string launch_finding(const std::string& text, const std::string& name, unsigned blocks,
                           unsigned threads) {
  const ptx_run::LoadedKernel kernel = ptx_run::compile(text, name + ".ptx", name);
  Stream stream;
  const auto out = DeviceBuffer<unsigned>::from_host(std::vector<unsigned>(threads), stream);
  stream.synchronize();
  const void* pointer = out.data();
  void* arguments[] = {&pointer};
  const std::size_t sizes[] = {sizeof pointer};
  LaunchConfig config{.grid = blocks, .block = threads};
  config.cluster = blocks;
  config.shared_bytes = kernel.static_shared_bytes;
  try {
    detail::launch_erased(config, ptx_run::erased(kernel), {arguments, sizes, 1, nullptr, nullptr});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

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
  return launch_finding(text, "turn", 1, 64);
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
  return launch_finding(text, "swap", 2, 32);
}

// Eight blocks of 1024 threads, as large as clusters get: in each of three rounds every thread
// stores its number (line 10) and reads that of the same thread in the next block (line 14).
std::string large_cluster_finding(const std::string& behind_first_barrier,
                                  const std::string& second_barrier) {
  const std::string text = fmt::format(R"(
.version 9.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 tile[4096];
.visible .entry around(.param .u64 around_param_0)
{{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %d<4>;
  .loc 1 9 3
  ld.param.u64 %d1, [around_param_0];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mov.u32 %r3, %cluster_ctarank;
  shl.b32 %r4, %r1, 2;
  add.s32 %r5, %r2, %r4;
  mad.lo.s32 %r7, %r3, 1024, %r1;
  add.s32 %r3, %r3, 1;
  and.b32 %r3, %r3, 7;
  mapa.shared::cluster.u32 %r6, %r5, %r3;
  mov.u32 %r3, 0;
ROUND:
  .loc 1 10 3
  st.shared.u32 [%r5], %r7;
  .loc 1 11 3
  barrier.cluster.arrive; barrier.cluster.wait;
  .loc 1 12 3
  {}
  .loc 1 14 3
  ld.shared::cluster.u32 %r8, [%r6];
  .loc 1 15 3
  {}
  .loc 1 16 3
  add.s32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 3;
  @%p1 bra ROUND;
  barrier.cluster.arrive; barrier.cluster.wait;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  atom.global.add.u32 %r8, [%d3], %r8;
  ret;
}}
  .file 1 "/home/me/around.cu"
)",
                                       behind_first_barrier, second_barrier);
  return launch_finding(text, "around", 8, 1024);
}

class PtxFaults : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, PtxFaults, kOrders, order_name);

TEST_P(PtxFaults, NoneInWhatIsRight) { EXPECT_THAT(finding_of("bar.sync 0;"), IsEmpty()); }

TEST_P(PtxFaults, ARaceNamesBothLines) {
  EXPECT_THAT(finding_of(""),
              AllOf(HasSubstr("[race] kernel turn"), HasSubstr("turn.cu:10"),
                    HasSubstr("turn.cu:12"), HasSubstr("between lines 10 and 12 of")));
}

TEST_P(PtxFaults, SharedVariablesHaveTheirNames) {
  EXPECT_THAT(finding_of(""),
              AllOf(ContainsRegex("byte [0-9]+ of __shared__ tile"), Not(HasSubstr("dynamic"))));
  EXPECT_THAT(finding_of("", "add.s32 %r4, %r4, 256;"),
              AllOf(ContainsRegex("[0-9]+ bytes behind the end of __shared__ tile, 256 bytes long"),
                    HasSubstr("hint: fix the index")));
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

// What thousands of threads know of each other is told by all of them to the barrier, and learnt by
// all: with a clock of its own for each this would take minutes, and gigabytes.
TEST_P(PtxFaults, ALargeCluster) {
  const std::string bar = "bar.sync 0;";
  EXPECT_THAT(large_cluster_finding("", kBoth), IsEmpty());
  EXPECT_THAT(large_cluster_finding(bar, bar + kBoth + bar), IsEmpty());
  // Its own block does not read what it stores a second time.
  const std::string one_stores = "setp.eq.u32 %p2, %r7, 5897;\n@%p2 st.shared.u32 [%r5], %r1;";
  EXPECT_THAT(large_cluster_finding(one_stores, kBoth),
              AllOf(HasSubstr("[race] kernel around, block"), HasSubstr("thread (777,0,0)"),
                    HasSubstr("around.cu:12"), HasSubstr("around.cu:14")));
  EXPECT_THAT(large_cluster_finding("", bar),
              AllOf(HasSubstr("[race] kernel around"), HasSubstr("around.cu:10"),
                    HasSubstr("around.cu:14")));
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
