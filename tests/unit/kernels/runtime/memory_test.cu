// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device memory of the host backend: poison, guard bands, copies, counters, moves.
#include "instructions/discard.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <type_traits>

namespace kg::executor {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

__global__ void store(unsigned char* data, long long index, unsigned char value) {
  data[index] = value;
}

std::string guard_report(std::size_t bytes, long long index, unsigned char value) {
  DeviceBuffer<unsigned char> buffer(bytes);
  launch(store, {.grid = 1, .block = 1}, buffer.data(), index, value);
  return error_of([&] { buffer.check_guards(); });
}

TEST(DeviceMemory, IsAlignedAndPoisoned) {
  Stream stream;
  for (std::size_t size : {1, 3, 255, 256, 257, 100000}) {
    const DeviceBuffer<float> buffer(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0u);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(buffer.bytes(), size * 4);
    for (float value : buffer.to_host(stream)) ASSERT_TRUE(std::isnan(value));
  }
  EXPECT_THAT(DeviceBuffer<int>(100).to_host(stream), Each(-1));
}

TEST(DeviceMemory, CanBePoisonedAgain) {
  Stream stream;
  auto buffer = DeviceBuffer<int>::from_host(std::vector<int>{1, 2, 3}, stream);
  EXPECT_THAT(buffer.to_host(stream), ElementsAre(1, 2, 3));
  buffer.poison(stream);
  EXPECT_THAT(buffer.to_host(stream), Each(-1));
  EXPECT_NO_THROW(buffer.check_guards()) << "poison went beyond the buffer";
}

__global__ void discard(unsigned char* line) { ptx::discard_l2(line); }

// A kernel that reads what it discarded finds poison here, where a GPU gives anything.
TEST(DeviceMemory, DiscardedLinesArePoison) {
  Stream stream;
  const std::vector<unsigned char> before(3 * ptx::kDiscardBytes, 7);
  auto buffer = DeviceBuffer<unsigned char>::from_host(before, stream);
  launch(discard, {.grid = 1, .block = 1}, buffer.data() + ptx::kDiscardBytes);
  const std::vector<unsigned char> after = buffer.to_host(stream);
  for (std::size_t i = 0; i < after.size(); ++i)
    EXPECT_EQ(after[i], i / ptx::kDiscardBytes == 1 ? kPoisonByte : 7) << i;
}

TEST(DeviceMemory, MayBeEmpty) {
  Stream stream;
  DeviceBuffer<double> empty(0);
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_NE(empty.data(), nullptr);
  EXPECT_TRUE(empty.to_host(stream).empty());
  empty.copy_from({}, stream);
  empty.poison(stream);
  EXPECT_NO_THROW(empty.check_guards());
  EXPECT_THAT(guard_report(0, 0, 1), HasSubstr("byte 1 behind a device buffer of 0 bytes"));
  EXPECT_NO_THROW(DeviceBuffer<int>().check_guards());
}

// The guards begin right at the buffer: the rounding up to the alignment is guarded, too.
TEST(GuardBands, FindTheFirstChangedByte) {
  EXPECT_EQ(guard_report(100, 0, 1), "");
  EXPECT_EQ(guard_report(100, 99, 1), "");
  EXPECT_THAT(guard_report(100, 100, 1), HasSubstr("byte 1 behind a device buffer of 100 bytes"));
  EXPECT_THAT(guard_report(100, 255, 1), HasSubstr("byte 156 behind"));
  EXPECT_THAT(guard_report(256, 256 + 4095, 1), HasSubstr("byte 4096 behind"));
  EXPECT_THAT(guard_report(100, -1, 1), HasSubstr("byte 1 before a device buffer of 100 bytes"));
  EXPECT_THAT(guard_report(100, -4096, 1), HasSubstr("byte 4096 before"));
  EXPECT_EQ(guard_report(100, 100, kGuardByte), "") << "the guard's own value cannot be told";
  EXPECT_THAT(guard_report(100, 100, kPoisonByte), HasSubstr("out-of-bounds write"));
}

TEST(DeviceMemory, CopiesBetweenHostAndDevice) {
  Stream stream;
  auto a = DeviceBuffer<short>::from_host(std::vector<short>{1, 2, 3, 4, 5}, stream);
  DeviceBuffer<short> b(5);
  copy_on_device(b.data() + 1, a.data(), 3 * sizeof(short), stream);
  EXPECT_THAT(b.to_host(stream), ElementsAre(-1, 1, 2, 3, -1));
  copy_on_device(a.data() + 1, a.data(), 4 * sizeof(short), stream); // overlaps
  EXPECT_THAT(a.to_host(stream), ElementsAre(1, 1, 2, 3, 4));
  short two[2];
  copy_to_host(two, a.data() + 3, sizeof two, stream);
  EXPECT_THAT(two, ElementsAre(3, 4));
  fill_bytes(a.data() + 1, 0, 2 * sizeof(short), stream);
  EXPECT_THAT(a.to_host(stream), ElementsAre(1, 0, 0, 3, 4));
  EXPECT_THAT(error_of([&] { a.copy_from(std::vector<short>(4), stream); }),
              HasSubstr("4 values for a buffer of 5"));
}

TEST(DeviceMemory, CountsWhatIsHeldAndThePeak) {
  const std::size_t before = allocated_bytes();
  reset_peak_allocated_bytes();
  EXPECT_EQ(peak_allocated_bytes(), before);
  {
    const Allocation first(1000);
    const std::size_t held = allocated_bytes() - before;
    EXPECT_EQ(held, 2 * kGuardBytes + 1024);
    {
      const Allocation second(5000);
      EXPECT_EQ(allocated_bytes() - before, held + 2 * kGuardBytes + 5120);
    }
    EXPECT_EQ(allocated_bytes() - before, held);
    EXPECT_EQ(peak_allocated_bytes() - before, held + 2 * kGuardBytes + 5120);
    reset_peak_allocated_bytes();
    EXPECT_EQ(peak_allocated_bytes() - before, held);
  }
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(DeviceMemory, RefusesSizesThatAreNone) {
  const std::size_t before = allocated_bytes();
  EXPECT_THAT(error_of([] { Allocation(static_cast<std::size_t>(-8)); }),
              HasSubstr("an extent was negative"));
  EXPECT_THAT(error_of([] { DeviceBuffer<double>(static_cast<std::size_t>(-8)); }),
              HasSubstr("is not a size"));
  // 2^61 + 1 doubles are 8 bytes more than the address space.
  EXPECT_THAT(error_of([] { DeviceBuffer<double>((std::size_t{1} << 61) + 1); }),
              HasSubstr("is not a size"));
  EXPECT_THAT(error_of([] { Allocation(std::size_t{1} << 60); }), HasSubstr("out of memory"));
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(DeviceMemory, MovesOwnership) {
  static_assert(!std::is_copy_constructible_v<Allocation>);
  static_assert(!std::is_copy_assignable_v<Allocation>);
  Stream stream;
  const std::size_t before = allocated_bytes();
  {
    auto a = DeviceBuffer<int>::from_host(std::vector<int>{1, 2}, stream);
    const int* data = a.data();
    DeviceBuffer<int> b(std::move(a));
    EXPECT_EQ(b.data(), data);
    DeviceBuffer<int> c(50);
    const std::size_t both = allocated_bytes();
    c = std::move(b);
    EXPECT_EQ(c.data(), data);
    EXPECT_EQ(c.size(), 2u);
    EXPECT_THAT(c.to_host(stream), ElementsAre(1, 2));
    EXPECT_LT(allocated_bytes(), both) << "what the target held was not freed";
    // NOLINTBEGIN(bugprone-use-after-move): what a move leaves is under test
    EXPECT_EQ(a.data(), nullptr);
    EXPECT_EQ(a.size(), 0u);
    EXPECT_EQ(b.size(), 0u);
    // NOLINTEND(bugprone-use-after-move)
    DeviceBuffer<int>& itself = c;
    c = std::move(itself);
    EXPECT_THAT(c.to_host(stream), ElementsAre(1, 2));
  }
  EXPECT_EQ(allocated_bytes(), before);
}

} // namespace
} // namespace kg::executor
