// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gather moves bits, so every comparison is bitwise, NaN payloads included.
#include <algorithm>
#include <limits>
#include <numeric>

#include "runtime/device.h"
#include "tests/gather_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/gather/gather.h"

#include "primitives/row_move.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Gather, MovedTypes, DtypeNames);

// Rows of every width of word, and around the length from which they are shifted.
TYPED_TEST(Gather, Sizes) {
  constexpr std::int64_t kLong = gather::kLongRow / static_cast<std::int64_t>(sizeof(TypeParam));
  for (const std::int64_t inner :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}, std::int64_t{8},
        std::int64_t{16}, kLong - 1, kLong, kLong + 1, kLong + 2, 2 * kLong + 3})
    for (const Problem& p : {Problem{1, 7, inner, 5}, Problem{3, 4, inner, 9}})
      this->check(p, random_index(p));
  this->check({1, 1, 1, 1}, {0});
  this->check({1, 3, 1, 1}, {2});
}

// Around a block's tile of single elements and of packs.
TYPED_TEST(Gather, Tiles) {
  for (const std::int64_t inner : {std::int64_t{1}, this->kPack})
    for (const std::int64_t count : {255, 256, 257, 1023, 1024, 1025}) {
      const Problem p{1, 300, inner, count};
      this->check(p, random_index(p));
    }
}

TYPED_TEST(Gather, Misaligned) {
  const std::int64_t pack = this->kPack;
  for (const Offsets offsets :
       {Offsets{1, 0, 0}, Offsets{0, 1, 0}, Offsets{0, 0, 1}, Offsets{1, 3, 1}, Offsets{2, 0, 3}})
    for (const std::int64_t inner : {pack, 9 * pack, 9 * pack + 1}) {
      const Problem p{2, 5, inner, 6};
      this->check(p, random_index(p), offsets);
    }
}

TYPED_TEST(Gather, AllRowsInTurnOrReversedOrOneOnly) {
  const Problem p{2, 20, 3, 20};
  std::vector<std::int64_t> index(20);
  std::iota(index.begin(), index.end(), 0);
  this->check(p, index);
  std::reverse(index.begin(), index.end());
  this->check(p, index);
  this->check(p, std::vector<std::int64_t>(20, 19));
}

// Every pattern of the types that have few.
TYPED_TEST(Gather, AllPatterns) {
  constexpr std::int64_t kPatterns = 1 << (sizeof(TypeParam) == 1 ? 8 : 16);
  if (sizeof(TypeParam) <= 2) this->check({1, kPatterns, 1, kPatterns}, permutation(kPatterns));
}

TYPED_TEST(Gather, Empty) {
  const std::vector<TypeParam> none;
  const std::vector<TypeParam> some(6);
  for (const Variant variant : kVariants) {
    EXPECT_TRUE(this->run(variant, none, std::vector{0, 1}, {0, 3, 2, 2}).empty());
    EXPECT_TRUE(this->run(variant, none, std::vector{0, 1}, {1, 3, 0, 2}).empty());
    EXPECT_TRUE(this->run(variant, some, std::vector<int>(), {1, 3, 2, 0}).empty());
    EXPECT_TRUE(this->run(variant, none, std::vector<int>(), {1, 0, 2, 0}).empty());
  }
}

// Tiles and rows that no block of the first grid takes; rows of one type, since they fill a MiB.
TYPED_TEST(Gather, BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kRowBlocksPerSm;
  const Problem single{1, 100, 1, resident * 1024 + 1100};
  this->check(Variant::vectorized, single, random_index(single));
  if (sizeof(TypeParam) != 4) return;
  const Problem rows{1, 10, gather::kLongRow / 4 + 1, resident * 16 + 17};
  this->check(Variant::vectorized, rows, random_index(rows));
}

// Indices beyond 32 bits, in the table and in y.
TYPED_TEST(Gather, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kLongest = (std::int64_t{1} << 30) + 16;
  const std::string reason = too_huge_reason(4 * kLongest * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const T everywhere = from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & poison_bits(this->kDtype));
  const DeviceBuffer<T> table(2 * kLongest);
  const DeviceBuffer<T> y(2 * kLongest);
  const auto index =
      DeviceBuffer<std::int64_t>::from_host(std::vector<std::int64_t>{1, 0}, this->stream_);
  for (const std::int64_t inner : {kLongest, kLongest - 15}) // whole packs; shifted or words
    for (const Variant variant : kVariants) {
      Marks<T> from;
      Marks<T> to;
      for (const std::int64_t i : {std::int64_t{0}, inner - 1, inner, 2 * inner - 1}) {
        from[i] = from_raw_bits<T>(static_cast<std::uint64_t>(from.size() + 1));
        to[(i + inner) % (2 * inner)] = from[i];
      }
      fill_bytes(table.data(), 0x3C, table.bytes(), this->stream_);
      fill_bytes(y.data(), 0x3C, y.bytes(), this->stream_);
      fill_bytes(y.data(), 0, static_cast<std::size_t>(2 * inner) * sizeof(T), this->stream_);
      put(from, table, this->stream_);
      gather::run(table.data(), index.data(), y.data(), {1, 2, inner, 2}, sizeof(T), variant,
                  this->stream_);
      EXPECT_TRUE(holds(y, everywhere, to, this->stream_)) << gather::name(variant);
      EXPECT_NO_THROW(y.check_guards());
    }
}

// A wrong index is never read through, whichever kernel meets it; in the rows of 512 packs a thread
// meets right ones behind it. The lower halves of the longest ones are right.
TYPED_TEST(Gather, IndexOutOfRangeTraps) {
  if (backend == Backend::cuda) GTEST_SKIP() << "a trap takes the process's context with it";
  using T = TypeParam;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kWide = std::int64_t{1} << 32;
  for (const Variant variant : kVariants)
    for (const std::int64_t inner : {std::int64_t{1}, 512 * this->kPack, 40 * this->kPack + 1}) {
      const auto table = DeviceBuffer<T>::from_host(
          std::vector<T>(static_cast<std::size_t>(4 * inner)), this->stream_);
      const DeviceBuffer<T> y(static_cast<std::size_t>(3 * inner));
      for (const std::int64_t wrong :
           {std::int64_t{-1}, std::int64_t{4}, kMost, kWide + 1, 1 - kWide}) {
        const auto index = DeviceBuffer<std::int64_t>::from_host(
            std::vector<std::int64_t>{wrong, 3, 0}, this->stream_);
        std::string text;
        try {
          gather::run(table.data(), index.data(), y.data(), {1, 4, inner, 3}, sizeof(T), variant,
                      this->stream_);
          this->stream_.synchronize();
        } catch (const Error& error) {
          text = error.what();
        }
        EXPECT_NE(text.find("__trap() was called"), std::string::npos)
            << gather::name(variant) << ", rows of " << inner << ", index " << wrong << ": "
            << text;
      }
    }
}

TYPED_TEST(Gather, RandomBesideVendors) {
  using T = TypeParam;
  const auto vendors = vendor::gather_variants(this->kDtype);
  if (vendors.empty()) report_no_vendor("gather", this->kDtype);
  for (const Problem& p : {Problem{1, 600, 1, 500}, Problem{3, 40, 33, 50}}) {
    const auto values = random_numbers(this->kDtype, table_size(p), Tensor::a).values;
    const auto index = random_index(p);
    const auto picked = this->oracle(values, index, p);
    const Expectation expected = exactly(this->kDtype, {p.outer * p.count, p.inner}, picked);
    EXPECT_TRUE(not_vacuous(expected));
    const auto table = elements<T>(values);
    for (const Variant variant : kVariants) {
      const Observed ours = observe(this->run(variant, table, index, p));
      EXPECT_TRUE(verdict(compare(ours, expected), this->context(variant, "random", p)));
      for (const std::string_view vendor : vendors) {
        const auto device_table = DeviceBuffer<T>::from_host(table, this->stream_);
        const auto device_index = DeviceBuffer<std::int64_t>::from_host(index, this->stream_);
        const DeviceBuffer<T> y(static_cast<std::size_t>(y_size(p)));
        vendor::gather(vendor, this->kDtype, device_table.data(), device_index.data(), 8, y.data(),
                       {p.outer, p.extent, p.inner, p.count}, this->stream_);
        EXPECT_TRUE(verdict(compare_with_vendor(ours, observe(y.to_host(this->stream_)), expected),
                            this->context(variant, "random beside " + std::string(vendor), p)));
      }
    }
  }
}

TYPED_TEST(Gather, SameBitsEveryTime) {
  const Problem p{2, 30, 41, 35};
  const auto table = elements_of_bits<TypeParam>(unique_bits(this->kDtype, table_size(p)));
  for (const Variant variant : kVariants) {
    static_assert(gather::deterministic(Variant::automatic));
    EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
      return this->run(variant, table, random_index(p), p, {1, 0, 0});
    }));
  }
}

// Rows that are picked again through the inverse permutation are back in their places.
TYPED_TEST(Gather, InversePermutation) {
  const Problem p{1, 77, 5, 77};
  const auto table = elements_of_bits<TypeParam>(unique_bits(this->kDtype, table_size(p)));
  const std::vector<std::int64_t> order = permutation(p.count);
  std::vector<std::int64_t> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  for (const Variant variant : kVariants)
    EXPECT_TRUE(same_bits("gather by an order and by its inverse",
                          this->run(variant, this->run(variant, table, order, p), inverse, p),
                          table));
}

// On a stream whose earlier work still writes the table, or the index.
TYPED_TEST(Gather, WaitsForItsStream) {
  using T = TypeParam;
  const Problem p{1, 50, 7, 60};
  const auto table = elements_of_bits<T>(unique_bits(this->kDtype, table_size(p)));
  const auto index = random_index(p);
  const auto expected = this->oracle(table, index, p);
  const auto ready_table = DeviceBuffer<T>::from_host(table, this->stream_);
  const auto ready_index = DeviceBuffer<std::int64_t>::from_host(index, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(expected.size());
    const LateInput<T> late_table(table, this->stream_);
    gather::run(late_table.data(), ready_index.data(), y.data(), p, sizeof(T), variant,
                this->stream_);
    EXPECT_TRUE(same_bits("behind a slow table", y.to_host(this->stream_), expected));
    const LateInput<std::int32_t> late_index(std::vector<std::int32_t>(index.begin(), index.end()),
                                             this->stream_);
    gather::run(ready_table.data(), late_index.data(), y.data(), p, sizeof(T), variant,
                this->stream_);
    EXPECT_TRUE(same_bits("behind a slow index", y.to_host(this->stream_), expected));
  }
}

TYPED_TEST(Gather, AutomaticReportsWhatRan) {
  const auto table = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(6), this->stream_);
  const auto index =
      DeviceBuffer<std::int32_t>::from_host(std::vector<std::int32_t>{2, 0}, this->stream_);
  const DeviceBuffer<TypeParam> y(4);
  EXPECT_EQ(gather::run(table.data(), index.data(), y.data(), {1, 3, 2, 2}, sizeof(TypeParam),
                        Variant::automatic, this->stream_),
            Variant::vectorized);
}

TYPED_TEST(Gather, RefusesWrongArguments) {
  const DeviceBuffer<TypeParam> table(64);
  const DeviceBuffer<TypeParam> y(64);
  const auto index =
      DeviceBuffer<std::int32_t>::from_host(std::vector<std::int32_t>{2, 0}, this->stream_);
  const std::int32_t* const none = nullptr;
  const auto run = [&](const void* from, const std::int32_t* by, void* to, const Problem& p,
                       std::size_t bytes) {
    EXPECT_THROW(gather::run(from, by, to, p, bytes, Variant::automatic, this->stream_), Error);
  };
  constexpr std::size_t kBytes = sizeof(TypeParam);
  LaunchRecorder recorder;
  for (const Problem& p : {Problem{-1, 3, 2, 2}, Problem{1, -3, 2, 2}, Problem{1, 3, -2, 2},
                           Problem{1, 3, 2, -2}, Problem{1, 0, 2, 2}})
    run(table.data(), index.data(), y.data(), p, kBytes);
  run(nullptr, index.data(), y.data(), {1, 3, 2, 2}, kBytes);
  run(table.data(), none, y.data(), {1, 3, 2, 2}, kBytes);
  run(table.data(), index.data(), nullptr, {1, 3, 2, 2}, kBytes);
  run(table.data(), index.data(), table.data() + 5, {1, 3, 2, 2}, kBytes);
  run(table.data(), index.data(), index.data() + 1, {1, 3, 2, 2}, kBytes);
  run(table.data(), index.data(), y.data(), {1, 3, 2, 2}, 3);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Gather, WorkIsOneReadAndOneWriteAndTheIndex) {
  const Work work = gather::work(this->kDtype, {3, 1000, 10, 20}, 8);
  EXPECT_EQ(work.bytes, 1200.0 * sizeof(TypeParam) + 160.0);
  EXPECT_EQ(work.flops, 0.0);
}

} // namespace
} // namespace kg::test
