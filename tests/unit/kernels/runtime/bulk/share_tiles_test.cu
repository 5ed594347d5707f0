// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies into all blocks of a cluster, from the source and from what nvcc made of it.
#include "tests/unit/kernels/runtime/bulk/share_tiles.h"

#include "tests/unit/kernels/runtime/bulk/forms.h"

namespace kg::bulk {
namespace {

using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr unsigned kTiles = 5;
constexpr std::size_t kInput = std::size_t{kTiles} * kShareElements;

class ShareTiles : public Forms {
 protected:
  // The messages of all orders of threads; results that are wrong without one fail the test.
  static std::string said_of(ShareMutant mutant) {
    std::string all;
    under_every_order([&] {
      std::vector<std::uint16_t> values(kInput);
      for (std::size_t i = 0; i < kInput; ++i) values[i] = static_cast<std::uint16_t>(i + 1);
      Stream stream;
      const auto in = DeviceBuffer<std::uint16_t>::from_host(values, stream);
      DeviceBuffer<std::uint16_t> out(kSharers * kInput);
      host::TiledTensor t;
      t.type = host::TensorType::u16;
      t.rank = 2;
      t.base = in.data();
      t.extent = {kShareColumns, kTiles * kShareRows};
      t.stride = {kShareColumns * sizeof(std::uint16_t)};
      t.box = {kShareColumns, kShareRows / 2};
      t.swizzle = host::Swizzle::bytes128;
      const std::string message = error_of([&] {
        launch(share_tiles,
               {.grid = kSharers,
                .block = kShareThreads,
                .shared_bytes = kShareBytes,
                .stream = &stream,
                .cluster = {kSharers, 1, 1}},
               encode(t), kTiles, out.data(), mutant);
        stream.synchronize();
      });
      all += message + "\n";
      if (mutant != ShareMutant::none || !message.empty()) return;
      const std::vector<std::uint16_t> result = out.to_host(stream);
      for (std::size_t i = 0; i < result.size(); ++i)
        ASSERT_EQ(result[i], static_cast<std::uint16_t>(2 * values[i % kInput])) << i;
    });
    return all;
  }
};
KG_IN_BOTH_FORMS(ShareTiles);

TEST_P(ShareTiles, EachBlockHasAllTiles) {
  EXPECT_THAT(said_of(ShareMutant::none), testing::MatchesRegex("\n+"));
}

TEST_P(ShareTiles, MasksOfOtherBlocksAreRefused) {
  EXPECT_THAT(said_of(ShareMutant::mask_of_three),
              AllOf(HasSubstr("the mask 0x7 must name at least one of the 2 blocks"),
                    HasSubstr("share_tiles.cu:")));
  EXPECT_THAT(said_of(ShareMutant::mask_of_none), HasSubstr("the mask 0x0 must name"));
}

TEST_P(ShareTiles, BytesThatDoNotMatchAreNamed) {
  EXPECT_THAT(said_of(ShareMutant::half_the_bytes_expected),
              AnyOf(HasSubstr("bytes more have come than"), HasSubstr("bulk copy of 1024 bytes")));
  EXPECT_THAT(said_of(ShareMutant::mask_of_one), HasSubstr("1024 bytes, of 2048 expected at"));
}

TEST_P(ShareTiles, ABlockMustRunUntilAllCopiesIntoItHaveLanded) {
  EXPECT_THAT(said_of(ShareMutant::last_tile_not_awaited),
              HasSubstr("has ended while a bulk copy of 1024 bytes into its shared memory"));
}

#if KG_CHECKED

TEST_P(ShareTiles, TheStageOfTheOtherBlockMustBeFree) {
  EXPECT_THAT(said_of(ShareMutant::stage_of_the_other_not_awaited),
              AllOf(HasSubstr("[race]"), HasSubstr("share_tiles.cu:")));
}

TEST_P(ShareTiles, TheMbarrierOfTheOtherBlockMustBeInitialised) {
  EXPECT_THAT(
      said_of(ShareMutant::begins_before_the_other),
      AnyOf(HasSubstr("is not running"), HasSubstr("is not an mbarrier"), HasSubstr("[race]")));
}

#endif

} // namespace
} // namespace kg::bulk
