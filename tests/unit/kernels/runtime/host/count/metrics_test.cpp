// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/metrics.h"
#include "perf/code/cost/profile.h"
#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cost {
namespace {

using count::Access;
using count::Launch;
using count::Memory;
using count::Site;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

Site global_load(std::string line, std::uint64_t requests, std::uint64_t sectors,
                 std::uint64_t least) {
  Site site;
  site.line = std::move(line);
  site.width = 4;
  site.requests = requests;
  site.lanes = 32 * requests;
  site.sectors = sectors;
  site.least_sectors = least;
  return site;
}

Site shared_load(std::string line, unsigned width, std::uint64_t wavefronts, std::uint64_t least) {
  Site site;
  site.line = std::move(line);
  site.memory = Memory::shared;
  site.width = width;
  site.requests = 1;
  site.lanes = 32;
  site.wavefronts = wavefronts;
  site.least_wavefronts = least;
  return site;
}

Site atomic(std::uint64_t addresses, std::uint64_t most) {
  Site site = global_load("a.cu:9", 1, 1, 1);
  site.access = Access::atomic;
  site.addresses = addresses;
  site.most_lanes = most;
  return site;
}

Metric metric(const std::vector<Launch>& launches, const std::string& name,
              const Work& work = {.bytes = 640}) {
  for (const Metric& found : metrics(launches, work))
    if (found.name == name) return found;
  ADD_FAILURE() << "no metric " << name;
  return {};
}

TEST(Metrics, WhereNothingWasCountedTheMinimaStay) {
  const std::vector<Launch> none(1);
  EXPECT_EQ(metric(none, "unique_sectors").minimum, 20);
  EXPECT_EQ(metric(none, "sectors").minimum, 20);
  EXPECT_EQ(metric(none, "sectors_per_request").value, 0);
  EXPECT_EQ(metric(none, "sectors_per_request").minimum, 1);
  EXPECT_EQ(metric(none, "sectors_per_request", {.bytes = 0}).minimum, 0) << "an empty case";
}

TEST(Metrics, SumOverTheLaunches) {
  Launch first, second;
  first.sites = {global_load("a.cu:1", 10, 40, 40), global_load("a.cu:2", 10, 320, 40)};
  first.unique_read = 20;
  first.barriers = 3;
  first.collectives = {{"__shfl_xor_sync", 5}, {"__syncwarp", 2}};
  second.sites = {global_load("b.cu:7", 20, 80, 80)};
  second.unique_written = 30;
  second.barriers = 1;
  const std::vector<Launch> launches = {first, second};
  EXPECT_EQ(metric(launches, "sectors_per_request").value, 11); // 440 of 40
  EXPECT_EQ(metric(launches, "sectors_per_request").minimum, 4);
  EXPECT_EQ(metric(launches, "sectors_per_request").site, "a.cu:2");
  EXPECT_EQ(metric(launches, "unique_sectors").value, 50);
  EXPECT_EQ(metric(launches, "unique_sectors").minimum, 20); // 640 bytes
  EXPECT_EQ(metric(launches, "barriers").value, 4);
  EXPECT_EQ(metric(launches, "collectives").value, 7);
  EXPECT_EQ(metric(launches, "sectors").value, 440);
  EXPECT_EQ(metric(launches, "global_requests").value, 40);
}

// 6 * 4096 + 4 * 2048 = 32768 flops where 16384 would do: half of the instructions are on padding.
TEST(Metrics, MatrixInstructions) {
  Launch launch;
  launch.collectives = {{"__syncwarp", 3},
                        {"ldmatrix", 7},
                        {"ldmatrix_trans", 7},
                        {"mma_m16n8k16<bf16>", 6},
                        {"mma_m16n8k8_tf32", 4}};
  const Work work{.bytes = 0, .flops = 16384};
  EXPECT_EQ(metric({launch}, "matrix_instructions", work).value, 10);
  EXPECT_EQ(metric({launch}, "matrix_instructions", work).minimum, 5);
  EXPECT_EQ(metric({launch}, "collectives").value, 3);
  for (const Metric& other : metrics({Launch{}}, work))
    EXPECT_NE(other.name, "matrix_instructions");
}

// 3 * 524288 + 65536 flops where half would do. Without any of these there is no row of them.
TEST(Metrics, WarpgroupsAndBulkCopies) {
  Launch launch;
  launch.wgmma = {{"m64n256k16<bf16>", 3}, {"m64n16k32<e4m3,e5m2>", 1}};
  launch.bulk_loaded = 4096;
  launch.bulk_stored = 1024;
  launch.bulk_in_flight = 2048;
  Launch second = launch;
  second.bulk_in_flight = 512;
  const Work work{.bytes = 0, .flops = 3 * 524288 + 65536};
  const std::vector<Launch> launches = {launch, second};
  EXPECT_EQ(metric(launches, "wgmma_instructions", work).value, 8);
  EXPECT_EQ(metric(launches, "wgmma_instructions", work).minimum, 4);
  EXPECT_EQ(metric(launches, "wgmma_flops", work).value, 2 * work.flops);
  EXPECT_EQ(metric(launches, "wgmma_flops", work).minimum, work.flops);
  EXPECT_EQ(metric(launches, "bulk_load_bytes").value, 8192);
  EXPECT_EQ(metric(launches, "bulk_store_bytes").value, 2048);
  EXPECT_EQ(metric(launches, "bulk_bytes_in_flight").value, 2048);
  EXPECT_TRUE(metric(launches, "bulk_bytes_in_flight").informs) << "more is better";
  for (const Metric& other : metrics({Launch{}}, work)) {
    EXPECT_FALSE(other.name.starts_with("wgmma"));
    EXPECT_FALSE(other.name.starts_with("bulk"));
  }
  EXPECT_EQ(warpgroup_instruction("m64n16k32<e4m3,e5m2>").type, "e4m3");
  for (const char* name : {"mma_m16n8k16<bf16>", "m64n8k16", "m64n0k16<bf16>", ""})
    EXPECT_THROW(warpgroup_instruction(name), Error) << name;
}

TEST(Metrics, WithoutAccessesNothingIsLost) {
  EXPECT_EQ(metric({}, "sectors_per_request").value, 0);
  EXPECT_EQ(metric({}, "bank_conflict_degree").value, 1);
  EXPECT_EQ(metric({}, "atomic_contention").value, 1);
  EXPECT_EQ(metric({}, "idle_lanes_pct").value, 0);
}

TEST(Metrics, SharedMemoryAndAtomics) {
  Launch launch;
  launch.sites = {shared_load("a.cu:3", 4, 1, 1), shared_load("a.cu:4", 4, 5, 1), atomic(8, 9)};
  EXPECT_EQ(metric({launch}, "bank_conflict_degree").value, 3);
  EXPECT_EQ(metric({launch}, "bank_conflict_degree").site, "a.cu:4");
  EXPECT_EQ(metric({launch}, "atomics").value, 32);
  EXPECT_EQ(metric({launch}, "atomic_contention").value, 4);
  EXPECT_EQ(metric({launch}, "atomic_contention").site, "a.cu:9");
}

// Where nothing is lost there may still be too much.
TEST(Metrics, WhereMostIs) {
  Launch launch;
  launch.sites = {global_load("a.cu:1", 8, 32, 32), global_load("a.cu:2", 12, 48, 48),
                  shared_load("a.cu:3", 4, 99, 99), atomic(32, 1)};
  launch.barriers_at = {{"a.cu:5", 2}, {"a.cu:6", 7}};
  EXPECT_EQ(metric({launch}, "sectors").site, "a.cu:2");
  EXPECT_EQ(metric({launch}, "sectors_per_request").site, "");
  EXPECT_EQ(metric({launch}, "barriers").site, "a.cu:6");
  EXPECT_EQ(metric({launch}, "atomics").site, "a.cu:9");
  EXPECT_EQ(metric({launch}, "global_requests").site, "a.cu:2");
  EXPECT_THAT(metric({launch}, "global_requests").hint,
              HasSubstr("accesses of 16 would take 0.25 of the requests"));
  launch.sites[1].width = 16;
  EXPECT_THAT(metric({launch}, "global_requests").hint, IsEmpty());
  launch.sites[0].sectors = 33; // now something is lost
  EXPECT_EQ(metric({launch}, "sectors").site, "a.cu:1");
}

TEST(Metrics, IdleLanes) {
  Launch launch;
  launch.sites = {global_load("a.cu:1", 1, 4, 4), global_load("a.cu:2", 1, 1, 1)};
  launch.sites[1].lanes = 8;
  EXPECT_EQ(metric({launch}, "idle_lanes_pct").value, 37.5);
  EXPECT_EQ(metric({launch}, "idle_lanes_pct").site, "a.cu:2");
}

// What a compiler may merge or repeat must not gate under another one.
TEST(Metrics, WhichDependOnTheCompiler) {
  EXPECT_FALSE(metric({}, "sectors_per_request").of_compiler);
  EXPECT_FALSE(metric({}, "unique_sectors").of_compiler);
  EXPECT_FALSE(metric({}, "bank_conflict_degree").of_compiler);
  EXPECT_TRUE(metric({}, "global_requests").of_compiler);
  EXPECT_TRUE(metric({}, "sectors").of_compiler);
  EXPECT_TRUE(metric({}, "shared_wavefronts").of_compiler);
}

TEST(Hint, SaysWhatIsWrongAndWhatHelps) {
  EXPECT_THAT(hint(global_load("", 2, 64, 8)),
              AllOf(HasSubstr("uncoalesced read: 32 sectors per request"), HasSubstr("12.5 %")));
  EXPECT_THAT(hint(global_load("", 2, 10, 8)), HasSubstr("misaligned read: 5 sectors"));
  EXPECT_THAT(hint(global_load("", 2, 8, 8)), IsEmpty());
  EXPECT_THAT(hint(shared_load("", 4, 32, 1)),
              AllOf(HasSubstr("32-way bank conflict"), HasSubstr("one word")));
  EXPECT_THAT(hint(shared_load("", 16, 8, 4)), HasSubstr("pad the row by 4 words"));
  EXPECT_THAT(hint(shared_load("", 16, 4, 4)), IsEmpty());
  EXPECT_THAT(hint(atomic(2, 30)), HasSubstr("up to 30 lanes"));
  EXPECT_THAT(hint(atomic(32, 1)), IsEmpty());
}

TEST(Profile, WorstLineFirst) {
  Launch launch;
  launch.kernel = "kg::copy";
  launch.sites = {global_load("/src/a.cu:1", 2, 8, 8), shared_load("/src/a.cu:2", 4, 9, 1),
                  global_load("/src/a.cu:3", 2, 64, 8)};
  const std::string text = profile_text({launch}, {.bytes = 640});
  EXPECT_THAT(text, HasSubstr("kernel kg::copy: grid (1,1,1)"));
  const std::string lines = text.substr(text.find("kernel kg::copy"));
  EXPECT_LT(lines.find("a.cu:3"), lines.find("a.cu:2")); // 14 passes to gain, and 8
  EXPECT_LT(lines.find("a.cu:2"), lines.find("a.cu:1"));
}

TEST(Profile, SaysHowManyAccessesALineHasAndAddsThemUp) {
  Launch launch;
  launch.kernel = "copy";
  launch.sites = {global_load("a.cu:1", 2, 8, 8), shared_load("a.cu:2", 4, 8, 4),
                  global_load("a.cu:3", 2, 64, 8)};
  for (Site& site : launch.sites) site.accesses = 2;
  const std::string text = kernels_text({launch, launch});
  EXPECT_THAT(text, ContainsRegex("a.cu:3 +global 4 B load +2 +4 .* 32.00 "));
  EXPECT_THAT(text, ContainsRegex("total +global +4 +8 .* 18.00 +-\n"));
  EXPECT_THAT(text, ContainsRegex("total +shared +2 +2 .* - +2.00\n"));
}

} // namespace
} // namespace kg::cost
