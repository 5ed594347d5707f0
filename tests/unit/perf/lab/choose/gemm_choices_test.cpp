// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which measured product gemm's `automatic` goes by.
#include "ops/gemm/choices.h"

#include <gtest/gtest.h>

namespace kg::gemm::test {
namespace {

constexpr Choice kMeasured[] = {
    {"gpu-a", Dtype::f32, {.m = 64, .n = 64, .k = 64}, "nn", Variant::naive},
    {"gpu-a", Dtype::f32, {.m = 512, .n = 64, .k = 64}, "nn", Variant::tiled},
    {"gpu-a", Dtype::f32, {.m = 64, .n = 64, .k = 64}, "tt_tf32", Variant::mma},
    {"gpu-a", Dtype::f16, {.b = 16, .m = 64, .n = 64, .k = 64}, "nt", Variant::mma},
};

// automatic: nothing is near enough.
Variant nearest_variant(std::string_view device, Dtype dtype, Math math, const Extents& extents) {
  const Choice* found = nearest(kMeasured, device, dtype, math, extents);
  return found ? found->variant : Variant::automatic;
}

TEST(GemmChoices, TheMostAlikeProductDecides) {
  const auto f32 = [](std::int64_t m, std::int64_t k) {
    return nearest_variant("gpu-a", Dtype::f32, Math::f32, {.m = m, .n = 64, .k = k});
  };
  EXPECT_EQ(f32(64, 64), Variant::naive);
  EXPECT_EQ(f32(180, 64), Variant::naive); // 2^1.49 from 64, 2^1.51 from 512
  EXPECT_EQ(f32(182, 64), Variant::tiled);
  EXPECT_EQ(f32(4096, 64), Variant::tiled); // 2^3 away
  EXPECT_EQ(f32(4097, 64), Variant::automatic);
  EXPECT_EQ(f32(4096, 65), Variant::automatic);
  EXPECT_EQ(f32(8, 64), Variant::naive);
  EXPECT_EQ(f32(7, 64), Variant::automatic);
}

TEST(GemmChoices, OtherDevicesTypesAndMathsDoNotCount) {
  const Extents cube{.m = 64, .n = 64, .k = 64};
  EXPECT_EQ(nearest_variant("gpu-b", Dtype::f32, Math::f32, cube), Variant::automatic);
  EXPECT_EQ(nearest_variant("gpu-a", Dtype::bf16, Math::f32, cube), Variant::automatic);
  EXPECT_EQ(nearest_variant("gpu-a", Dtype::f32, Math::tf32, cube), Variant::mma);
}

TEST(GemmChoices, BatchesCountAsAnExtent) {
  EXPECT_EQ(nearest_variant("gpu-a", Dtype::f16, Math::f32, {.b = 2, .m = 64, .n = 64, .k = 64}),
            Variant::mma);
  EXPECT_EQ(nearest_variant("gpu-a", Dtype::f16, Math::f32, {.b = 1, .m = 64, .n = 64, .k = 64}),
            Variant::automatic);
}

} // namespace
} // namespace kg::gemm::test
