// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps of im2col mode: what they keep, and what is refused. move_columns_test.cu has the
// bytes that they lead to.
#include "runtime/host/tensor_map.h"

#include <gmock/gmock.h>

namespace kg::host {
namespace {

using testing::HasSubstr;

alignas(64) unsigned char images[64];

Im2colTensor small(unsigned rank) {
  Im2colTensor t;
  t.image.type = TensorType::f16;
  t.image.rank = rank;
  t.image.base = images;
  t.image.extent = {64, 9, 8, 7, 6};
  t.image.extent[rank - 1] = 2;
  t.image.stride = {128, 128 * 9, 128 * 72, 128 * 504};
  t.image.box = {64, 1, 1, 1, 1};
  t.image.swizzle = Swizzle::bytes128;
  t.pixels = 128;
  return t;
}

template <class Change>
std::string refusal(unsigned rank, const Change& change) {
  Im2colTensor t = small(rank);
  change(t);
  try {
    encode(t);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Im2colMap, KeepsWhatItIsMadeOf) {
  Im2colTensor t = small(5);
  t.lower = {-16, -1, 15};
  t.upper = {-3, 2, 15};
  t.pixels = 1024;
  t.image.box[0] = 32;
  t.image.element_stride = {1, 2, 3, 8, 1};
  t.image.swizzle = Swizzle::bytes64;
  t.image.fills_with_nan = true;
  const Im2colTensor back = decode_im2col(encode(t));
  EXPECT_EQ(back.lower, t.lower);
  EXPECT_EQ(back.upper, t.upper);
  EXPECT_EQ(back.pixels, t.pixels);
  EXPECT_EQ(back.image.rank, t.image.rank);
  EXPECT_EQ(back.image.box, t.image.box);
  EXPECT_EQ(back.image.extent, t.image.extent);
  EXPECT_EQ(back.image.stride, t.image.stride);
  EXPECT_EQ(back.image.element_stride, t.image.element_stride);
  EXPECT_EQ(back.image.swizzle, t.image.swizzle);
  EXPECT_EQ(back.image.fills_with_nan, t.image.fills_with_nan);
  EXPECT_EQ(back.image.base, t.image.base);
  EXPECT_THROW(decode(encode(t)), Error);              // a copy in tiled mode
  EXPECT_THROW(decode_im2col(encode(t.image)), Error); // a tiled map
  EXPECT_THROW(decode_im2col(TensorMap{}), Error);
}

TEST(Im2colMap, RefusesWhatADriverRefuses) {
  for (const unsigned rank : {3u, 4u, 5u}) EXPECT_EQ(refusal(rank, [](auto&) {}), "");
  EXPECT_THAT(refusal(4, [](auto& t) { t.image.rank = 2; }), HasSubstr("rank 2; it is 3 to 5"));
  EXPECT_THAT(refusal(4, [](auto& t) { t.image.rank = 6; }), HasSubstr("rank 6; it is 3 to 5"));
  EXPECT_THAT(refusal(4,
                      [](auto& t) {
                        t.image.swizzle = Swizzle::none;
                        t.image.box[0] = 264;
                      }),
              HasSubstr("264 channels a pixel; they are 1 to 256"));
  EXPECT_THAT(refusal(4, [](auto& t) { t.pixels = 1025; }),
              HasSubstr("1025 pixels a column; they are 1 to 1024"));
  EXPECT_THAT(refusal(4, [](auto& t) { t.pixels = 0; }), HasSubstr("0 pixels a column"));
  EXPECT_THAT(refusal(4, [](auto& t) { t.image.box[0] = 72; }),
              HasSubstr("144 bytes, more than the 128 of the swizzle"));
  EXPECT_THAT(refusal(4, [](auto& t) { t.image.base = images + 8; }), HasSubstr("the base lies 8"));
  EXPECT_THAT(refusal(4, [](auto& t) { t.image.element_stride[2] = 9; }),
              HasSubstr("element stride 9 of dimension 2; it is 1 to 8"));
  EXPECT_THAT(refusal(4, [](auto& t) { t.image.element_stride[3] = 2; }),
              HasSubstr("element stride 2 of dimension 3, the images"));
  EXPECT_THAT(refusal(4, [](auto& t) { t.upper[1] = -8; }),
              HasSubstr("the bounding box reaches from 0 to -1 along dimension 2"));
}

TEST(Im2colMap, CornersHaveFewerBitsWithMoreDimensions) {
  struct Range {
    unsigned rank;
    int end;
  };
  for (const auto [rank, end] : {Range{3, 32768}, Range{4, 128}, Range{5, 16}}) {
    EXPECT_EQ(refusal(rank, [end = end](auto& t) { t.lower[0] = -end; }), "");
    EXPECT_EQ(refusal(rank, [end = end](auto& t) { t.upper[0] = end - 1; }), "");
    EXPECT_THAT(refusal(rank, [end = end](auto& t) { t.lower[0] = -end - 1; }),
                HasSubstr("it is -" + std::to_string(end)));
    EXPECT_THAT(refusal(rank, [end = end](auto& t) { t.upper[t.axes() - 1] = end; }),
                HasSubstr("corner " + std::to_string(end)));
  }
}

} // namespace
} // namespace kg::host
