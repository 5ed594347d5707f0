// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps: what is refused, and where each byte of a box goes, against tables written out
// element by element.
#include "runtime/host/tensor_map.h"

#include <cstring>
#include <gmock/gmock.h>
#include <vector>

namespace kg::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kSpan = 64 * 1024; // bytes of shared memory in these tests

alignas(1024) unsigned char global_bytes[64 * 1024];
alignas(1024) unsigned char shared_bytes[kSpan];

// A tensor of u16 whose rows are longer than what it names, of this rank.
TiledTensor small(unsigned rank) {
  TiledTensor t;
  t.type = TensorType::u16;
  t.rank = rank;
  t.base = global_bytes;
  t.extent = {50, 7, 5, 3, 2};
  t.stride = {112, 112 * 8, 112 * 8 * 5, 112 * 8 * 5 * 3};
  t.box = {16, 4, 2, 2, 2};
  return t;
}

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

// The unit of 16 bytes at which unit `u` of the 8 of line `line`, 128 bytes long, lies.
unsigned unit_of(Swizzle swizzle, unsigned line, unsigned u) {
  static constexpr unsigned kOf128[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6},
                                            {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
                                            {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
                                            {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
  switch (swizzle) {
  case Swizzle::none: return u;
  case Swizzle::bytes32: return kOf128[line % 2][u];
  case Swizzle::bytes64: return kOf128[line % 4][u];
  case Swizzle::bytes128: return kOf128[line % 8][u];
  }
  return u;
}

// What shared memory holds when the box has come: element after element, dimension 0 first.
std::vector<unsigned short> expected_box(const TiledTensor& t,
                                         const std::array<std::int32_t, kMaxTensorRank>& first) {
  std::vector<unsigned short> box(kSpan / 2, 0xABAB);
  std::size_t n = 0;
  std::array<std::int64_t, 5> at{}, steps{1, 1, 1, 1, 1}, end{1, 1, 1, 1, 1};
  for (unsigned i = 0; i < t.rank; ++i) {
    if (i > 0) steps[i] = t.element_stride[i];
    end[i] = t.box[i];
  }
  for (at[4] = 0; at[4] < end[4]; at[4] += steps[4])
    for (at[3] = 0; at[3] < end[3]; at[3] += steps[3])
      for (at[2] = 0; at[2] < end[2]; at[2] += steps[2])
        for (at[1] = 0; at[1] < end[1]; at[1] += steps[1])
          for (at[0] = 0; at[0] < end[0]; ++at[0], ++n) {
            bool inside = true;
            std::int64_t byte = 0;
            for (unsigned i = 0; i < t.rank; ++i) {
              const std::int64_t index = first[i] + at[i];
              inside = inside && index >= 0 && index < static_cast<std::int64_t>(t.extent[i]);
              byte += index * (i == 0 ? 2 : static_cast<std::int64_t>(t.stride[i - 1]));
            }
            unsigned short value = 0;
            if (inside) std::memcpy(&value, global_bytes + byte, 2);
            const auto unit = static_cast<unsigned>(n / 8);
            box[unit / 8 * 64 + unit_of(t.swizzle, unit / 8, unit % 8) * 8 + n % 8] = value;
          }
  return box;
}

std::vector<unsigned short> moved_box(const TiledTensor& t,
                                      const std::array<std::int32_t, kMaxTensorRank>& first) {
  std::memset(shared_bytes, 0xAB, kSpan);
  std::size_t bytes = 0;
  for (const BoxPiece& piece :
       pieces_of_box(t, first, reinterpret_cast<std::uintptr_t>(shared_bytes))) {
    auto* const to = reinterpret_cast<unsigned char*>(piece.shared);
    if (piece.global)
      std::memcpy(to, piece.global, piece.bytes);
    else
      fill_outside(t, to, piece.bytes);
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
  TiledTensor t = small(rank);
  t.swizzle = swizzle;
  if (swizzle == Swizzle::bytes64) t.box[0] = 32;
  if (swizzle == Swizzle::bytes128) t.box[0] = 64;
  // Within, ragged at every edge, and wholly outside.
  for (const std::array<std::int32_t, 5> first : {std::array<std::int32_t, 5>{8, 1, 1, 0, 0},
                                                  {0, 0, 0, 0, 0},
                                                  {-3, -1, -1, -1, -1},
                                                  {45, 5, 4, 2, 1},
                                                  {-70, 0, 0, 0, 0},
                                                  {50, 7, 5, 3, 2},
                                                  {1 << 30, -(1 << 30), 0, 0, 0}}) {
    EXPECT_EQ(moved_box(t, first), expected_box(t, first)) << first[0];
    TiledTensor strided = t;
    strided.element_stride = {3, 2, 2, 1, 2}; // the first is ignored
    EXPECT_EQ(moved_box(strided, first), expected_box(strided, first)) << first[0];
  }
}

INSTANTIATE_TEST_SUITE_P(All, Boxes,
                         testing::Combine(testing::Values(1u, 2u, 3u, 4u, 5u),
                                          testing::Values(Swizzle::none, Swizzle::bytes32,
                                                          Swizzle::bytes64, Swizzle::bytes128)));

} // namespace
} // namespace kg::host
