// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that are a cluster, in PTX: who arrives, who is waited for, and what is refused. The forms
// of the instructions are tests/unit/kernels/runtime/ptx/snippets/clusters.cpp's.
#include "runtime/device.h"
#include "runtime/error.h"
#include "tests/unit/kernels/runtime/ptx_snippet.h"

#include <gmock/gmock.h>

namespace kg::ptx_run {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kBarrier = "barrier.cluster.arrive; barrier.cluster.wait; ";

std::vector<std::uint32_t> run_cluster(const std::string& body, unsigned blocks, unsigned threads,
                                       const std::string& before = "") {
  return run(body, {0, 0, 0, 0}, threads, before, blocks);
}

std::string refusal(const std::string& body, unsigned blocks = 2, unsigned threads = 1) {
  try {
    run_cluster(body, blocks, threads, ".shared .b32 word;");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PtxCluster, KnowsItsShape) {
  EXPECT_THAT(run_cluster("mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; "
                          "mad.lo.u32 %r1, %r1, 10, %r2; mov.u32 %r2, %cluster_ctaid.x; "
                          "mad.lo.u32 %r1, %r1, 10, %r2; mov.u32 %r2, %cluster_nctaid.x; "
                          "mad.lo.u32 %r1, %r1, 10, %r2; mov.u32 %r2, %nclusterid.x; "
                          "mad.lo.u32 %r1, %r1, 10, %r2; mov.u32 %r2, %clusterid.x; "
                          "mad.lo.u32 %r1, %r1, 10, %r2; st.global.u32 [%out], %r1;",
                          3, 1),
              ElementsAre(30310, 131310, 232310));
}

TEST(PtxCluster, BlocksKnowTheirMultiprocessors) {
  const auto all = static_cast<std::uint32_t>(device_properties().sm_count);
  EXPECT_THAT(run_cluster("mov.u32 %r1, %smid; mov.u32 %r2, %nsmid; mad.lo.u32 %r1, %r1, 1000, "
                          "%r2; st.global.u32 [%out], %r1;",
                          3, 1),
              ElementsAre(all, 1000 + all, 2000 + all));
}

// Each block hands a value to the next one, around the cluster.
TEST(PtxCluster, PassesAroundInManyPhases) {
  EXPECT_THAT(
      run_cluster("mov.u32 %r1, %cluster_ctarank; add.u32 %r2, %r1, 10; add.u32 %r3, %r1, 1; "
                  "rem.u32 %r3, %r3, 5; mov.u32 %r4, box; mov.u32 %r5, 0; " +
                      kBarrier +
                      "NEXT: mapa.shared::cluster.u32 %r6, %r4, %r3; "
                      "st.shared::cluster.u32 [%r6], %r2; " +
                      kBarrier + "ld.shared.u32 %r2, [box]; " + kBarrier +
                      "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra NEXT; "
                      "st.global.u32 [%out], %r2;",
                  5, 1, ".shared .b32 box;"),
      ElementsAre(11, 12, 13, 14, 10));
}

// To arrive is not to wait: the other block arrives only when it has seen what this one writes
// after its arrival.
TEST(PtxCluster, GoesOnAfterAnArrival) {
  EXPECT_THAT(run_cluster("mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; "
                          "@!%p1 bra SECOND; barrier.cluster.arrive; mov.u32 %r2, 1; "
                          "st.relaxed.gpu.global.u32 [%in], %r2; barrier.cluster.wait; bra DONE; "
                          "SECOND: ld.relaxed.gpu.global.u32 %r2, [%in]; setp.eq.u32 %p2, %r2, 0; "
                          "@%p2 bra SECOND; " +
                              kBarrier + "DONE: st.global.u32 [%out], %r2;",
                          2, 1),
              Each(1));
}

TEST(PtxCluster, WaitsForNobodyWhoIsOver) {
  // Half of each block's threads; a whole block; one that has arrived and never waits.
  for (const std::string gone :
       {"setp.lt.u32 %p1, %lane, 16; @%p1 bra DONE; ",
        "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1; @%p1 bra DONE; ",
        "setp.eq.u32 %p1, %lane, 5; @!%p1 bra ON; barrier.cluster.arrive; bra DONE; ON: "})
    EXPECT_THAT(run_cluster("mov.u32 %r9, 7; " + gone + kBarrier + kBarrier +
                                "DONE: st.global.u32 [%out], %r9;",
                            3, 32),
                Each(7))
        << gone;
}

// A block without a cluster is one of its own.
TEST(PtxCluster, MayBeOneBlock) {
  EXPECT_THAT(run("shl.b32 %r1, %lane, 2; mov.u32 %r2, tile; add.u32 %r3, %r1, %r2; "
                  "st.shared.u32 [%r3], %lane; " +
                      kBarrier +
                      "xor.b32 %r1, %r1, 124; add.u32 %r3, %r1, %r2; mov.u32 %r4, 0; "
                      "mapa.shared::cluster.u32 %r3, %r3, %r4; ld.shared::cluster.u32 %r5, [%r3]; "
                      "add.u32 %r5, %r5, %lane; st.global.u32 [%out], %r5;",
                  {0}, 32, ".shared .b8 tile[128];"),
              Each(31));
}

TEST(PtxCluster, RefusesWhatIsUndefined) {
  EXPECT_THAT(refusal("barrier.cluster.arrive; barrier.cluster.arrive;"),
              HasSubstr("barrier.cluster.arrive for the second time"));
  EXPECT_THAT(refusal("barrier.cluster.wait;"),
              HasSubstr("barrier.cluster.wait without a barrier.cluster.arrive"));
  EXPECT_THAT(refusal("mov.u32 %r1, word; mov.u32 %r2, 2; mapa.shared::cluster.u32 %r1, %r1, %r2;"),
              HasSubstr("mapa: rank 2 is not one of the 2 blocks of the cluster"));
  EXPECT_THAT(refusal("mov.u32 %r2, 0; mapa.u64 %d1, %in, %r2;"),
              HasSubstr("mapa: the address is not in the 0 bytes of shared memory"));
  // Whoever waits for a block that waits for something else.
  EXPECT_THAT(refusal("mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; "
                      "@%p1 barrier.cluster.arrive; @%p1 barrier.cluster.wait; "
                      "@!%p1 bar.sync 1, 64;",
                      2, 32),
              HasSubstr("deadlock"));
}

// --- Barriers of a part of a block that count

TEST(PtxBarrier, CountsThePredicatesOfAPart) {
  // Two warps in one barrier, of which every third thread says yes; the third warp in another.
  const auto out =
      run("rem.u32 %r1, %lane, 3; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %lane, 64; "
          "mov.u32 %r2, 0; @!%p2 bra THIRD; bar.red.popc.u32 %r2, 1, 64, %p1; "
          "bar.red.and.pred %p3, 1, 64, %p1; bar.red.or.pred %p4, 1, 64, %p1; "
          "bra DONE; THIRD: bar.red.popc.u32 %r2, 2, 32, !%p1; "
          "bar.red.and.pred %p3, 2, 32, %p2; bar.red.or.pred %p4, 2, 32, %p2; "
          "DONE: @%p3 add.u32 %r2, %r2, 100; @%p4 add.u32 %r2, %r2, 1000; "
          "st.global.u32 [%out], %r2;",
          {0}, 96);
  for (unsigned i = 0; i < 96; ++i) EXPECT_EQ(out[i], i < 64 ? 1022u : 22u) << i;
}

} // namespace
} // namespace kg::ptx_run
