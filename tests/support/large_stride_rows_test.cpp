// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/large_stride_rows.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

TEST(LargeStrideRows, no_32_bits_hold_the_distance_and_both_rows_come_back) {
  if (const auto reason = LargeStrideRows<float>::reason_to_skip(1); !reason.empty())
    GTEST_SKIP() << reason;
  Stream stream;
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  const LargeStrideRows<float> far = large_stride_rows(rows, stream);
  EXPECT_GT(far.stride(), std::int64_t{1} << 31);
  EXPECT_EQ(far.stride() % 64, 0) << "vectors stay aligned";
  EXPECT_EQ(far.get(stream), rows);
  const MatrixView<float> view = far.view();
  EXPECT_EQ(view.shape[0], 2);
  EXPECT_EQ(view.shape[1], 3);
  EXPECT_EQ(view.stride[0], far.stride());
  far.check_guards();
}

// Small blocks are also mapped if the heap cannot grow.
TEST(LargeStrideRows, rows_that_malloc_maps_lie_apart_too) {
  if (const auto reason = LargeStrideRows<std::uint8_t>::reason_to_skip(1); !reason.empty())
    GTEST_SKIP() << reason;
  EXPECT_GT(LargeStrideRows<std::uint8_t>(std::int64_t{34} << 20).stride(), std::int64_t{1} << 31);
}

// As after tests with large tensors: the heap keeps the memory that they freed.
TEST(LargeStrideRows, a_heap_with_free_memory_near_the_first_row_is_passed_over) {
  if (const auto reason = LargeStrideRows<std::uint8_t>::reason_to_skip(1); !reason.empty())
    GTEST_SKIP() << reason;
  std::deque<HeapBlock> freed; // malloc maps no 16 MiB blocks: main.cpp raised its threshold
  for (int i = 0; i < 100; ++i) freed.emplace_back(std::size_t{16} << 20);
  const HeapBlock keeps_the_heap_large(1 << 20);
  freed.clear();
  EXPECT_GT(LargeStrideRows<std::uint8_t>(3).stride(), std::int64_t{1} << 31);
}

} // namespace
} // namespace kg::test
