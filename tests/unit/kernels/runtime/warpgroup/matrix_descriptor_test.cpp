// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/matrix_descriptor.h"

#include "tests/unit/kernels/runtime/executor_support.h"
#include "tests/unit/kernels/runtime/warpgroup/canonical_layout.h"

#include <gmock/gmock.h>
#include <set>

namespace kg::warpgroup {
namespace {

using executor::error_of;
using testing::HasSubstr;

void expect_canonical(const Layout& layout, unsigned rows) {
  SCOPED_TRACE(testing::Message() << "swizzle " << layout.swizzle << ", K-major " << layout.by_depth
                                  << ", " << layout.element_bytes << " bytes");
  constexpr std::size_t kFirst = 16384;
  const unsigned depth = 32 / layout.element_bytes, in_unit = 16 / layout.element_bytes;
  const host::MatrixDescriptor matrix =
      host::decode_matrix(layout.descriptor(kFirst), Location::here());
  ASSERT_EQ(matrix.first, kFirst);
  const auto units =
      host::units_of(matrix, {rows, depth, layout.element_bytes, layout.by_depth}, matrix.first);
  ASSERT_EQ(units.size(), rows * 2);
  std::set<std::size_t> seen;
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned k = 0; k < depth; ++k) {
      const std::size_t unit = layout.by_depth ? row * 2 + k / in_unit : row / in_unit * depth + k;
      const std::size_t within = layout.by_depth ? k % in_unit : row % in_unit;
      const std::size_t at = units[unit] + within * layout.element_bytes - kFirst;
      ASSERT_EQ(at, layout.offset(row, k)) << "row " << row << ", k " << k;
      seen.insert(at);
    }
  }
  EXPECT_EQ(seen.size(), rows * depth); // no element lies where another one does
}

TEST(MatrixDescriptor, LiesAsTheCanonicalLayoutsSay) {
  for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
    for (const unsigned rows : {8u, 64u, 96u, 256u}) {
      expect_canonical(packed(swizzle, false, 2, rows), rows);
      for (const unsigned bytes : {1u, 2u, 4u})
        expect_canonical(packed(swizzle, true, bytes, rows), rows);
    }
  }
  // Tiles that lie apart, and a brick for each 8 rows.
  expect_canonical({128, true, 2, 16, 4096}, 64);
  expect_canonical({0, true, 2, 128, 256}, 64);
  expect_canonical({0, false, 2, 128, 256}, 64);
  expect_canonical({128, false, 2, 8192, 1024}, 256);
}

// Worked out by hand.
TEST(MatrixDescriptor, KnownOffsets) {
  const auto at = [](std::uint64_t bits, bool by_depth, std::size_t unit) {
    const auto matrix = host::decode_matrix(bits, Location::here());
    return host::units_of(matrix, {64, 16, 2, by_depth}, matrix.first)[unit] - matrix.first;
  };
  const Layout rows_of_128{128, true, 2, 16, 1024};
  EXPECT_EQ(at(rows_of_128.descriptor(0), true, 2 * 1), 128u + 16);      // row 1, k 0
  EXPECT_EQ(at(rows_of_128.descriptor(0), true, 2 * 1 + 1), 128u + 0);   // row 1, k 8
  EXPECT_EQ(at(rows_of_128.descriptor(0), true, 2 * 7), 7u * 128 + 112); // row 7, k 0
  EXPECT_EQ(at(rows_of_128.descriptor(0), true, 2 * 8), 1024u);          // row 8, k 0
  // The second 16 of k: 32 bytes on, within the pattern.
  EXPECT_EQ(at(rows_of_128.descriptor(32), true, 0), 0u);
  EXPECT_EQ(at(rows_of_128.descriptor(32), true, 2 * 2) + 32, 2u * 128); // row 2: 32 ^ 32
  // A tile that begins in the second row of a pattern: the swizzle follows the address.
  EXPECT_EQ(at(rows_of_128.descriptor(128), true, 0), 16u);
  EXPECT_EQ(at(rows_of_128.descriptor(128), true, 2 * 1) + 128, 2u * 128 + 32);
  const Layout columns{128, false, 2, 2048, 1024};
  EXPECT_EQ(at(columns.descriptor(0), false, 16 * 1), 16u);          // rows 8 to 15, k 0
  EXPECT_EQ(at(columns.descriptor(0), false, 16 * 1 + 1), 128u + 0); // k 1
  EXPECT_EQ(at(columns.descriptor(0), false, 8), 1024u);             // rows 0 to 7, k 8
}

TEST(MatrixDescriptor, RefusesWhatMeansNothing) {
  const Layout layout{128, true, 2, 16, 1024};
  const auto refusal = [](std::uint64_t bits) {
    return error_of([&] { host::decode_matrix(bits, Location::here()); });
  };
  EXPECT_EQ(refusal(layout.descriptor(1024)), "");
  EXPECT_EQ(refusal(layout.descriptor(1024 + 96)), "");
  EXPECT_EQ(refusal(layout.descriptor(1024 + 128)), "");
  EXPECT_THAT(refusal(layout.descriptor(0) | 1ull << 49), HasSubstr("base offset 1"));
  EXPECT_THAT(refusal(layout.descriptor(0) | 1ull << 14), HasSubstr("bits that mean nothing"));
}

} // namespace
} // namespace kg::warpgroup
