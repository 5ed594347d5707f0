// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps: what is refused, and where each byte of a box goes, against tables written out
// element by element.
#include "runtime/host/tensor_map.h"

#include "tests/unit/kernels/runtime/bulk/box_oracle.h"

#include <gmock/gmock.h>

namespace kg::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kSpan = 64 * 1024; // bytes of shared memory in these tests

alignas(1024) unsigned char global_bytes[64 * 1024];
alignas(1024) unsigned char shared_bytes[kSpan];

TiledTensor small(unsigned rank) { return bulk::small_tensor(global_bytes, rank); }

std::string refusal(const TiledTensor& tensor) {
  try {
    encode(tensor);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TensorMap, KeepsWhatItIsMadeOf) {
  TiledTensor t = small(5);
  t.element_stride = {1, 2, 1, 3, 8};
  t.swizzle = Swizzle::bytes64;
  t.box = {32, 4, 2, 2, 256};
  const TiledTensor back = decode(encode(t));
  EXPECT_EQ(sizeof(TensorMap), 128u);
  EXPECT_EQ(back.rank, t.rank);
  EXPECT_EQ(back.type, t.type);
  EXPECT_EQ(back.base, t.base);
  EXPECT_EQ(back.extent, t.extent);
  EXPECT_EQ(back.stride, t.stride);
  EXPECT_EQ(back.box, t.box);
  EXPECT_EQ(back.element_stride, t.element_stride);
  EXPECT_EQ(back.swizzle, t.swizzle);
  EXPECT_THROW(decode(TensorMap{}), Error);
}

TEST(TensorMap, RefusesWhatADriverRefuses) {
  const auto with = [](const auto& change) {
    TiledTensor t = small(3);
    change(t);
    return refusal(t);
  };
  EXPECT_EQ(with([](auto&) {}), "");
  EXPECT_THAT(with([](auto& t) { t.rank = 6; }), HasSubstr("rank 6; it is 1 to 5"));
  EXPECT_THAT(with([](auto& t) { t.rank = 0; }), HasSubstr("rank 0"));
  EXPECT_THAT(with([](auto& t) { t.base = global_bytes + 8; }),
              HasSubstr("the base lies 8 bytes behind a multiple of 16"));
  EXPECT_THAT(with([](auto& t) { t.extent[2] = 0; }), HasSubstr("extent 0 of dimension 2"));
  EXPECT_THAT(with([](auto& t) { t.extent[0] = (std::uint64_t{1} << 32) + 1; }),
              HasSubstr("it is 1 to 2^32"));
  EXPECT_THAT(with([](auto& t) { t.stride[1] = 100; }),
              HasSubstr("stride 100 of dimension 2; it is a multiple of 16 bytes"));
  EXPECT_THAT(with([](auto& t) { t.stride[0] = std::uint64_t{1} << 40; }), HasSubstr("below 2^40"));
  EXPECT_THAT(with([](auto& t) { t.box[1] = 257; }),
              HasSubstr("box 257 along dimension 1; it is 1 to 256"));
  EXPECT_THAT(with([](auto& t) { t.box[0] = 12; }),
              HasSubstr("a row of the box has 24 bytes; it must have a multiple of 16"));
  EXPECT_THAT(with([](auto& t) { t.element_stride[1] = 9; }), HasSubstr("element stride 9"));
  EXPECT_THAT(with([](auto& t) {
                t.box[0] = 24;
                t.swizzle = Swizzle::bytes32;
              }),
              HasSubstr("48 bytes, more than the 32 of the swizzle"));
  EXPECT_THAT(with([](auto& t) { t.fills_with_nan = true; }), HasSubstr("floating-point"));
}

std::vector<unsigned short> moved_box(const TiledTensor& t, const bulk::Coordinates& first) {
  std::memset(shared_bytes, 0xAB, kSpan);
  std::size_t bytes = 0;
  for (const BoxPiece& piece :
       pieces_of_box(t, first, reinterpret_cast<std::uintptr_t>(shared_bytes))) {
    auto* const to = reinterpret_cast<unsigned char*>(piece.shared);
    if (piece.global)
      std::memcpy(to, piece.global, piece.bytes);
    else
      std::memset(to, outside_byte(t), piece.bytes);
    bytes += piece.bytes;
  }
  EXPECT_EQ(bytes, t.box_bytes());
  std::vector<unsigned short> box(kSpan / 2);
  std::memcpy(box.data(), shared_bytes, kSpan);
  return box;
}

class Boxes : public testing::TestWithParam<std::tuple<unsigned, Swizzle>> {};

TEST_P(Boxes, OfEachRankAndSwizzle) {
  for (std::size_t i = 0; i + 1 < sizeof global_bytes; i += 2) {
    const auto value = static_cast<unsigned short>(i / 2 + 1);
    std::memcpy(global_bytes + i, &value, 2);
  }
  const auto [rank, swizzle] = GetParam();
  const TiledTensor t = bulk::small_tensor(global_bytes, rank, swizzle);
  for (const bulk::Coordinates& first : bulk::kOrigins) {
    EXPECT_EQ(moved_box(t, first), bulk::loaded_box(t, first, global_bytes, kSpan / 2)) << first[0];
    TiledTensor strided = t;
    strided.element_stride = {3, 2, 2, 1, 2}; // the first is ignored
    EXPECT_EQ(moved_box(strided, first), bulk::loaded_box(strided, first, global_bytes, kSpan / 2))
        << first[0];
  }
}

INSTANTIATE_TEST_SUITE_P(All, Boxes,
                         testing::Combine(testing::Values(1u, 2u, 3u, 4u, 5u),
                                          testing::Values(Swizzle::none, Swizzle::bytes32,
                                                          Swizzle::bytes64, Swizzle::bytes128)));

} // namespace
} // namespace kg::host
