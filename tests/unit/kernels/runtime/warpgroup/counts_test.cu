// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the counters count of bulk copies and of wgmma: figures that can be told on paper, the same
// in each order of threads.
#include "runtime/host/count/counts.h"
#include "runtime/host/tensor_map.h"
#include "tests/unit/kernels/runtime/bulk/forms.h"
#include "tests/unit/kernels/runtime/bulk/reduce_tiles.h"
#include "tests/unit/kernels/runtime/bulk/store_tiles.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"
#include "tests/unit/kernels/runtime/warpgroup/multiply_tiles.h"

namespace kg::warpgroup {
namespace {

using bulk::Form;
using bulk::form_name;
using executor::under_every_order;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class HopperCounts : public bulk::Forms {
 protected:
  static count::Launch multiplied(int steps) {
    const unsigned depth = static_cast<unsigned>(steps) * kTileDepth;
    Stream stream;
    DeviceBuffer<unsigned short> a(kTileRows * depth), b(kTileColumns * depth);
    DeviceBuffer<float> out(2 * kTileRows * kTileColumns + 1);
    const auto map_of = [&](unsigned short* memory, unsigned rows) {
      host::TiledTensor t;
      t.type = host::TensorType::bf16;
      t.rank = 2;
      t.base = memory;
      t.extent = {depth, rows};
      t.stride = {depth * 2};
      t.box = {kTileDepth, rows};
      t.element_stride = {1, 1};
      t.swizzle = host::Swizzle::bytes128;
      return host::encode(t);
    };
    count::take_launches();
    launch(multiply_tiles,
           {.grid = 1,
            .block = kTilesThreads,
            .shared_bytes = 2 * (kTileRows + kTileColumns) * kTileDepth * 2 + kTilesAlignment,
            .stream = &stream},
           map_of(a.data(), kTileRows), map_of(b.data(), kTileColumns), out.data(), steps, false,
           TilesMutant::none);
    stream.synchronize();
    return count::take_launches().at(0);
  }
};
KG_IN_BOTH_FORMS(HopperCounts);

// Two warpgroups, 64 of k in four steps of 16, and a stage of A's 64 and B's 32 rows of 128 bytes.
TEST_P(HopperCounts, ProductsAndTheBytesOfTheirTiles) {
  under_every_order([] {
    const count::Launch launch = multiplied(5);
    EXPECT_THAT(launch.wgmma, ElementsAre(Pair("m64n32k16<bf16>", 2u * 5 * 4)));
    constexpr std::uint64_t kStage = (64 + 32) * 128;
    EXPECT_EQ(launch.bulk_loaded, 5 * kStage);
    EXPECT_EQ(launch.bulk_stored, 0u);
    EXPECT_EQ(launch.bulk_in_flight, 2 * kStage) << "a ring of two stages";
    EXPECT_EQ(multiplied(1).bulk_in_flight, kStage);
  });
}

TEST(BulkStoreCounts, BytesOfBulkStores) {
  under_every_order([] {
    Stream stream;
    DeviceBuffer<unsigned short> out(bulk::kMatrices * 64);
    DeviceBuffer<unsigned> elected(1);
    count::take_launches();
    launch(bulk::store_tiles, {.grid = 1, .block = 32, .stream = &stream}, out.data(),
           elected.data(), false, bulk::StoreMutant::none);
    stream.synchronize();
    const count::Launch launch = count::take_launches().at(0);
    EXPECT_EQ(launch.bulk_stored, bulk::kMatrices * 64 * 2);
    EXPECT_EQ(launch.bulk_loaded + launch.bulk_in_flight, 0u);
    EXPECT_THAT(launch.wgmma, IsEmpty());
  });
}

// A bulk reduction is a store by its bytes, and atomic by its accesses to global memory.
TEST(BulkStoreCounts, BytesOfBulkReductions) {
  under_every_order([] {
    Stream stream;
    auto sums = DeviceBuffer<float>::from_host(std::vector<float>(bulk::kReduced), stream);
    count::take_launches();
    launch(bulk::reduce_tiles, {.grid = 3, .block = bulk::kReduced, .stream = &stream}, sums.data(),
           nullptr, bulk::ReduceMutant::none);
    stream.synchronize();
    const count::Launch launch = count::take_launches().at(0);
    constexpr std::uint64_t kBytes = 3 * 2 * bulk::kReduced * sizeof(float);
    EXPECT_EQ(launch.bulk_stored, kBytes);
    std::uint64_t updated = 0;
    for (const count::Site& site : launch.sites)
      if (site.access == count::Access::atomic) updated += site.lanes * site.width;
    EXPECT_EQ(updated, kBytes);
  });
}

} // namespace
} // namespace kg::warpgroup
