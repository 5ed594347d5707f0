// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes through the banks of shared memory, on kernels whose costs are known on paper; the
// comments are the paper.
#include "runtime/host/count/sectors.h"
#include "tests/unit/kernels/runtime/host/count/counting.h"

#include <gmock/gmock.h>

namespace kg::test {
namespace {

using count::Access;
using count::Launch;
using count::Memory;
using count::Site;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Column reads of a tile of 32 words a row hit one bank 32 times; of 33 words a row, 32 banks.
TEST_P(Counters, TilesWithAndWithoutPadding) {
  const auto x = buffer<float>(1024);
  const auto y = buffer<float>(1024);
  const LaunchConfig config{.grid = 1, .block = dim3(32, 32)};
  const Launch unpadded = counted(transpose_unpadded, config, x.data(), y.data());
  const Launch padded = counted(transpose_padded, config, x.data(), y.data());
  EXPECT_EQ(total(unpadded, Memory::shared, Access::load).requests, 32u);
  EXPECT_EQ(total(unpadded, Memory::shared, Access::load).least_wavefronts, 32u);
  EXPECT_EQ(total(unpadded, Memory::shared, Access::load).wavefronts, 32u * 32);
  EXPECT_EQ(total(unpadded, Memory::shared, Access::store).wavefronts, 32u);
  EXPECT_EQ(total(padded, Memory::shared, Access::load).wavefronts, 32u);
  EXPECT_EQ(total(padded, Memory::shared, Access::store).wavefronts, 32u);
}

count::Request request(std::uintptr_t (*address)(std::uintptr_t lane)) {
  count::Request made{~0u, 0, {}};
  for (std::uintptr_t lane = 0; lane < count::kLanes; ++lane) made.address[lane] = address(lane);
  return made;
}

// At a stride of 33 words each lane has a bank of its own, and a line; at one of 32 all share a
// bank.
TEST(Passes, OfL1AreThoseOfFourLines) {
  std::uintptr_t sorted[count::kLanes];
  const count::Request apart = request([](std::uintptr_t lane) { return 132 * lane; });
  EXPECT_EQ(count::l1_passes(apart, count::sorted_addresses(apart, sorted), 4), 8u);
  const count::Request column = request([](std::uintptr_t lane) { return 128 * lane; });
  EXPECT_EQ(count::l1_passes(column, count::sorted_addresses(column, sorted), 4), 32u);
}

TEST(Passes, OfWideAccessesAreHalfWherePairsOfLanesWantTheSame) {
  const auto passes = [](std::uintptr_t (*address)(std::uintptr_t), unsigned width) {
    return count::wavefronts(request(address), width).count;
  };
  EXPECT_EQ(passes([](std::uintptr_t lane) { return 16 * lane; }, 16), 4u);
  EXPECT_EQ(passes([](std::uintptr_t) { return std::uintptr_t{16}; }, 16), 2u);
  EXPECT_EQ(passes([](std::uintptr_t lane) { return 16 * (lane / 2); }, 16), 2u);
  EXPECT_EQ(passes([](std::uintptr_t lane) { return 16 * ((lane & 1) + lane / 4 * 2); }, 16), 2u);
  EXPECT_EQ(passes([](std::uintptr_t lane) { return 16 * (lane & ~4u); }, 16), 4u);
  EXPECT_EQ(passes([](std::uintptr_t) { return std::uintptr_t{8}; }, 8), 1u);
  EXPECT_EQ(passes([](std::uintptr_t) { return std::uintptr_t{4}; }, 4), 1u);
}

// 8 bytes: half-warps of 16 x 2 words fill the banks once, and so does a word pair of all lanes.
// Every other one: words 4 i and 4 i + 1, which meet in a bank after 8 lanes, so two passes per
// half.
TEST_P(Counters, SharedDoubles) {
  const auto y = buffer<double>(32);
  const auto load = [&](int stride) {
    return total(counted(shared_doubles, {.grid = 1, .block = 32}, y.data(), stride),
                 Memory::shared, Access::load);
  };
  EXPECT_EQ(load(1).width, 8u);
  EXPECT_EQ(load(1).wavefronts, 2u);
  EXPECT_EQ(load(1).least_wavefronts, 2u);
  EXPECT_EQ(load(2).wavefronts, 4u);
  EXPECT_EQ(load(0).wavefronts, 1u);
  EXPECT_EQ(load(0).least_wavefronts, 1u);
}

// 16 bytes: quarters of 8 x 4 words fill the banks once. Every other one: words 8 i to 8 i + 3,
// which meet after 4 lanes, so two passes per quarter.
TEST_P(Counters, SharedQuads) {
  const auto y = buffer<float4>(32);
  const auto load = [&](int stride) {
    return total(counted(shared_quads, {.grid = 1, .block = 32}, y.data(), stride), Memory::shared,
                 Access::load);
  };
  EXPECT_EQ(load(1).width, 16u);
  EXPECT_EQ(load(1).wavefronts, 4u);
  EXPECT_EQ(load(1).least_wavefronts, 4u);
  EXPECT_EQ(load(2).wavefronts, 8u);
}

// 16 lanes each of a warp read 16 words of either block: a pass of each one's banks. 32 words apart
// these are one bank's.
TEST_P(Counters, SharedMemoryOfSeveralBlocks) {
  const auto y = buffer<float>(64);
  const auto load = [&](int stride) {
    return total(counted(read_in_cluster,
                         {.grid = 2, .block = 32, .shared_bytes = 16 * 32 * 4, .cluster = 2},
                         y.data(), stride),
                 Memory::shared, Access::load);
  };
  EXPECT_EQ(load(1).requests, 2u);
  EXPECT_EQ(load(1).wavefronts, 2u * 2);
  EXPECT_EQ(load(1).least_wavefronts, 2u * 2);
  EXPECT_EQ(load(32).wavefronts, 2u * 2 * 16);
  EXPECT_EQ(load(32).least_wavefronts, 2u * 2);
}

// 8 rows of 4 x 16 bytes. Rows 64 bytes apart: column reads meet in a bank every second row, 4
// passes per quarter-warp. 80 bytes apart: rows begin 20 words apart, and 8 of them fill the banks
// once; but then two neighbouring rows, which a quarter-warp writes, overlap in 4 banks.
TEST_P(Counters, AsynchronousCopies) {
  const auto x = buffer<float4>(32);
  const auto y = buffer<float4>(32);
  const struct {
    int pitch;
    unsigned written, read; // passes
  } kCases[] = {{4, 4, 16}, {5, 8, 4}};
  for (const auto& [pitch, written, read] : kCases) {
    const Launch launch =
        counted(copy_async, {.grid = 1, .block = 32, .shared_bytes = 8 * 5 * sizeof(float4)},
                x.data(), y.data(), pitch);
    const Site source = total(launch, Memory::global, Access::load);
    EXPECT_EQ(source.width, 16u);
    EXPECT_EQ(source.requests, 1u);
    EXPECT_EQ(source.sectors, 16u);
    EXPECT_EQ(total(launch, Memory::shared, Access::store).wavefronts, written);
    EXPECT_EQ(total(launch, Memory::shared, Access::store).direct_wavefronts, 0u);
    EXPECT_EQ(total(launch, Memory::shared, Access::load).wavefronts, read);
    EXPECT_EQ(total(launch, Memory::shared, Access::load).least_wavefronts, 4u);
  }
}

// The hardware counts the passes that write a copy's zeros, and not those of what it brings.
TEST_P(Counters, ZerosOfAsynchronousCopies) {
  const auto x = buffer<float4>(32);
  const auto y = buffer<float4>(32);
  for (const unsigned lanes : {32u, 8u, 0u}) {
    const Launch launch =
        counted(fill_async, {.grid = 1, .block = 32, .shared_bytes = 32 * sizeof(float4)}, x.data(),
                y.data(), static_cast<int>(lanes));
    const Site store = total(launch, Memory::shared, Access::store);
    EXPECT_EQ(store.requests, 1u);
    EXPECT_EQ(store.wavefronts, 4u);
    EXPECT_EQ(store.direct_wavefronts, 4 - lanes / 8);
  }
}

// 8 rows of 16 bytes are one pass where they lie in different quarters of the banks: next to each
// other, or 144 bytes apart. 32 bytes apart two share a quarter; 128 apart all do. Two warps, six
// matrices each.
TEST_P(Counters, MatrixInstructions) {
  const auto y = buffer<float>(64);
  const struct {
    int pitch;
    unsigned passes; // per matrix
  } kCases[] = {{8, 1}, {72, 1}, {16, 2}, {64, 8}};
  for (const auto& [pitch, passes] : kCases) {
    const Launch launch = counted(
        multiply_matrices, {.grid = 1, .block = 64, .shared_bytes = 32 * 72 * 2}, y.data(), pitch);
    const Site load = total(launch, Memory::shared, Access::load);
    EXPECT_EQ(load.width, 16u);
    EXPECT_EQ(load.requests, 4u);
    EXPECT_EQ(load.lanes, 2u * (32 + 16));
    EXPECT_EQ(load.wavefronts, 2 * 6 * passes);
    EXPECT_EQ(load.least_wavefronts, 2u * 6);
    EXPECT_THAT(load.line, HasSubstr("kernels.cu:"));
    EXPECT_THAT(launch.collectives, ElementsAre(Pair("ldmatrix", 2), Pair("ldmatrix_trans", 2),
                                                Pair("mma_m16n8k16<bf16>", 2)));
  }
}

} // namespace
} // namespace kg::test
