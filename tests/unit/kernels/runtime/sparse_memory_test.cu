// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/sparse_memory.h"

#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/host/grid_window.h"
#include "runtime/launch.h"

namespace kg {
namespace {

constexpr std::size_t kHuge = std::size_t{1} << 33; // bytes

// Of memory that belongs to this process alone.
std::size_t private_bytes() {
  std::ifstream map("/proc/self/smaps_rollup");
  std::size_t total = 0;
  for (std::string word; map >> word;)
    if (word == "Private_Dirty:") {
      std::size_t kib = 0;
      map >> kib;
      total += kib << 10;
    }
  return total;
}

TEST(SparseMemory, reads_the_fill_and_keeps_what_is_written) {
  Stream stream;
  const DeviceBuffer<unsigned char> array(kHuge);
  EXPECT_EQ(array.data()[kHuge - 1], kPoisonByte);
  fill_bytes(array.data(), 0x3C, kHuge, stream);
  array.data()[kHuge / 2] = 7;
  EXPECT_EQ(array.data()[0], 0x3C);
  EXPECT_EQ(array.data()[kHuge / 2 - 1], 0x3C);
  EXPECT_EQ(array.data()[kHuge / 2], 7);
  EXPECT_EQ(array.data()[kHuge - 1], 0x3C);
  EXPECT_NO_THROW(array.check_guards());
  fill_bytes(array.data() + 1, 5, kHuge - 2, stream);
  EXPECT_EQ(array.data()[0], 0x3C);
  EXPECT_EQ(array.data()[kHuge / 2], 5);
  EXPECT_EQ(array.data()[kHuge - 2], 5);
  EXPECT_EQ(array.data()[kHuge - 1], 0x3C);
  array.data()[kHuge] = 1;
  EXPECT_THROW(array.check_guards(), Error);
}

TEST(SparseMemory, takes_memory_only_where_it_is_written) {
  const std::size_t before = private_bytes();
  ASSERT_GT(before, 0u);
  const DeviceBuffer<unsigned char> array(std::size_t{1} << 40);
  for (std::size_t i = 0; i < array.size(); i += std::size_t{1} << 34) array.data()[i] = 1;
  EXPECT_LT(private_bytes(), before + (std::size_t{64} << 20));
}

TEST(SparseMemory, tells_which_pages_were_written) {
  Stream stream;
  const DeviceBuffer<unsigned char> array(kHuge);
  fill_bytes(array.data(), 9, kHuge, stream);
  EXPECT_TRUE(host::written_pages(array.data(), kHuge).runs.empty());
  const unsigned char read = array.data()[kHuge / 4];
  EXPECT_EQ(read, 9);
  array.data()[kHuge / 2 + 5000] = 9; // a write, though of the same value
  array.data()[kHuge / 2 + 9000] = 9;
  const host::WrittenPages written = host::written_pages(array.data(), kHuge);
  EXPECT_EQ(written.fill, 9);
  ASSERT_EQ(written.runs.size(), 1u);
  EXPECT_EQ(static_cast<const void*>(written.runs[0].data()), array.data() + kHuge / 2 + 4096);
  EXPECT_EQ(written.runs[0].size(), 8192u);
  unsigned char other = 0;
  EXPECT_THROW(host::written_pages(&other, 1), Error);
}

TEST(SparseMemory, nobody_has_the_addresses_around_it) {
  const DeviceBuffer<float> array(kHuge / sizeof(float));
  EXPECT_DEATH(array.data()[-(std::int64_t{1} << 31)] = 1, "");
  EXPECT_DEATH(array.data()[array.size() + (std::size_t{1} << 32)] = 1, "");
}

__global__ void mark_block(unsigned char* blocks) {
  blocks[blockIdx.x + gridDim.x * (blockIdx.y + std::int64_t{gridDim.y} * blockIdx.z)] = 1;
}

TEST(GridWindow, runs_the_ends_and_what_is_shown) {
  Stream stream;
  const DeviceBuffer<unsigned char> ran(1000);
  fill_bytes(ran.data(), 0, ran.size(), stream);
  {
    host::GridWindow window;
    window.show(500'000, 1'000'000);
    window.show(999'999, 1'000'000);
    launch(mark_block, {.grid = 1000, .block = 1, .stream = &stream}, ran.data());
  }
  int count = 0;
  for (const unsigned char each : ran.to_host(stream)) count += each;
  for (const int block : {0, 499, 500, 501, 998, 999}) EXPECT_EQ(ran.data()[block], 1) << block;
  EXPECT_LE(count, 8);
  launch(mark_block, {.grid = 1000, .block = 1, .stream = &stream}, ran.data());
  for (const unsigned char each : ran.to_host(stream)) EXPECT_EQ(each, 1);
}

TEST(GridWindow, runs_the_shown_blocks_of_every_axis) {
  Stream stream;
  const DeviceBuffer<unsigned char> ran(30 * 40);
  fill_bytes(ran.data(), 0, ran.size(), stream);
  host::GridWindow window;
  window.show(1, 2);
  launch(mark_block, {.grid = dim3(30, 40), .block = 1, .stream = &stream}, ran.data());
  for (const int y : {0, 19, 20, 21, 39})
    for (const int x : {0, 14, 15, 16, 29}) EXPECT_EQ(ran.data()[y * 30 + x], 1) << x << " " << y;
  int count = 0;
  for (const unsigned char each : ran.to_host(stream)) count += each;
  EXPECT_LE(count, 7 * 7);
}

TEST(GridWindow, refuses_what_it_cannot_do) {
  host::GridWindow window;
  EXPECT_THROW(host::GridWindow(), Error);
  EXPECT_THROW(window.show(5, 5), Error);
  EXPECT_THROW(window.show(-1, 5), Error);
  const DeviceBuffer<unsigned char> ran(8);
  EXPECT_THROW(launch(mark_block, {.grid = 8, .block = 1, .cluster = {2, 1, 1}}, ran.data()),
               Error);
  EXPECT_THROW(launch(mark_block, {.grid = 8, .block = 1, .cooperative = true}, ran.data()), Error);
}

TEST(GridWindow, gives_the_device_as_many_multiprocessors_as_it_says) {
  const int usual = device_properties().sm_count;
  {
    const host::GridWindow window(1 << 20);
    EXPECT_EQ(device_properties().sm_count, 1 << 20);
  }
  EXPECT_EQ(device_properties().sm_count, usual);
}

} // namespace
} // namespace kg
