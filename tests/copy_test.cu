// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// copy moves bits, so every comparison is bitwise, NaN payloads included.
#include "runtime/device.h"
#include "tests/copy_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/copy/copy.h"

#include "primitives/row_move.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Copy, MovedTypes, DtypeNames);

TYPED_TEST(Copy, ContiguousSizes) {
  // Around a pack, a warp, a block, and the tile of a block that is 8, 64 and 256 threads wide.
  for (const std::int64_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257})
    this->check({1, n});
  for (const std::int64_t packs : {32, 256, 1024, 2048})
    for (const std::int64_t more : {-1, 0, 1}) this->check({1, packs * this->kPack + more});
}

TYPED_TEST(Copy, RowsWithGaps) {
  const std::int64_t pack = this->kPack;
  for (const Size size : {Size{2, 1}, Size{3, 17}, Size{33, 7}, Size{65, 40}, Size{9, 1031}})
    for (const Layout layout : {Layout{1, 0}, Layout{0, 1}, Layout{3, 3}, Layout{pack, 2 * pack},
                                Layout{5, 2, 1, 3}, Layout{2 * pack - 1, pack - 1, 3, 3}})
      this->check(size, layout);
  this->check({40, 8 * pack}, {8 * pack, 0});
  this->check({9, 32 * pack}, {0, 1}); // only the first row fits a tile
}

TYPED_TEST(Copy, EmptyMatrices) {
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{0, 0}})
    for (const Variant variant : kVariants) EXPECT_TRUE(this->run(variant, {}, size).empty());
}

// Every pattern of the types that have few.
TYPED_TEST(Copy, AllPatterns) {
  if constexpr (sizeof(TypeParam) <= 2)
    this->check({1, std::int64_t{1} << (8 * sizeof(TypeParam))});
  else
    this->check({1, 1 << 12});
}

// Every way in which source and destination can lie to each other, in a row of a few packs and in
// one that is shorter than a pack.
TYPED_TEST(Copy, Misaligned) {
  const std::int64_t pack = this->kPack;
  for (std::int64_t x = 0; x < pack; ++x)
    for (const std::int64_t y : {std::int64_t{0}, std::int64_t{1}, pack - 1, pack + x})
      for (const std::int64_t n : {std::max<std::int64_t>(pack - 3, 1), 5 * pack + 1})
        this->check(Variant::vectorized, {1, n}, {0, 0, x, y});
  for (const Layout layout : {Layout{0, 0, 1, 0}, Layout{0, 0, 0, 3}, Layout{0, 0, 1, 1}}) {
    this->check({1, 1100 * pack + 5}, layout);
    this->check({7, 50 * pack + 2}, layout);
  }
}

// Tiles and rows that no block of the first grid takes.
TYPED_TEST(Copy, BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kRowBlocksPerSm;
  const std::int64_t tile = kRowThreads * kRowPacks * this->kPack;
  this->check(Variant::vectorized, {1, resident * tile + tile + 3}, {});
  this->check(Variant::vectorized, {1, resident * tile + tile + 3}, {0, 0, 1, 0});
  this->check(Variant::vectorized, {resident * 32 + 33, 1}, {1, 2});
}

// Indices beyond 32 bits, in one row and in two that are far apart.
TYPED_TEST(Copy, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kN = (std::int64_t{1} << 31) + 4100;
  const std::string reason = too_huge_reason(2 * kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C;
  const T everywhere = from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & poison_bits(this->kDtype));
  const DeviceBuffer<T> x(kN);
  fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
  Marks<T> marks;
  std::uint64_t bits = 1;
  for (const std::int64_t i : {std::int64_t{0}, kN / 2 - 1, kN / 2, kN - 4101, kN - 4100, kN - 1})
    marks[i] = from_raw_bits<T>(bits++);
  put(marks, x, this->stream_);
  for (const Variant variant : kVariants)
    for (const std::int64_t rows : {1, 2}) {
      const DeviceBuffer<T> y(kN);
      copy::run(kg::matrix<const T>(x.data(), rows, kN / rows),
                kg::matrix<T>(y.data(), rows, kN / rows), variant, this->stream_);
      EXPECT_TRUE(holds(y, everywhere, marks, this->stream_)) << copy::name(variant);
      EXPECT_NO_THROW(y.check_guards());
    }
  EXPECT_TRUE(holds(x, everywhere, marks, this->stream_)) << "the kernel changed its input";
}

// Numbers: a library may move elements through its arithmetic, which keeps no NaN payload.
TYPED_TEST(Copy, RandomAgainstVendors) {
  using T = TypeParam;
  for (const Size size : {Size{1, 4099}, Size{65, 64}})
    for (const Layout layout : {Layout{}, Layout{3, 7}}) {
      const auto vendors =
          vendor::copy_variants(this->kDtype, layout.x_gap == 0 && layout.y_gap == 0);
      if (vendors.empty()) report_no_vendor("copy", this->kDtype);
      const auto values = random_numbers(this->kDtype, size.rows * size.cols, Tensor::a).values;
      const Expectation expected = exactly(this->kDtype, {size.rows, size.cols}, values);
      EXPECT_TRUE(not_vacuous(expected));
      const auto x = elements<T>(values);
      const Strided x_view = rows_of(size, layout.x_gap, 0);
      const Strided y_view = rows_of(size, layout.y_gap, 0);
      for (const Variant variant : kVariants) {
        const Observed ours = observe(
            this->run(variant, x, size, layout)); // before the vendor writes the same values
        EXPECT_TRUE(
            verdict(compare(ours, expected), this->context(variant, "random", size, layout)));
        for (const std::string_view vendor : vendors) {
          const auto device_x = DeviceBuffer<T>::from_host(scatter(x, x_view), this->stream_);
          const DeviceBuffer<T> device_y(static_cast<std::size_t>(y_view.storage_size()));
          vendor::copy(vendor, this->kDtype, device_x.data(), size.rows, size.cols,
                       x_view.strides[0], device_y.data(), y_view.strides[0], this->stream_);
          const Observed theirs = observe(gather(device_y.to_host(this->stream_), y_view));
          EXPECT_TRUE(verdict(
              compare_with_vendor(ours, theirs, expected),
              this->context(variant, "random beside " + std::string(vendor), size, layout)));
        }
      }
    }
}

TYPED_TEST(Copy, SameBitsEveryTime) {
  const Size size{31, 70};
  const auto x = elements_of_bits<TypeParam>(unique_bits(this->kDtype, size.rows * size.cols));
  for (const Variant variant : kVariants) {
    static_assert(copy::deterministic(Variant::automatic));
    EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
      return this->run(variant, x, size, {1, 3, 0, 1});
    }));
  }
}

// A copy of permuted rows is the permuted copy.
TYPED_TEST(Copy, PermutedRows) {
  const Size size{75, 41};
  const auto x = elements_of_bits<TypeParam>(unique_bits(this->kDtype, size.rows * size.cols));
  const std::vector<std::int64_t> order = permutation(size.rows);
  for (const Variant variant : kVariants)
    EXPECT_TRUE(same_bits("copy(P x) = P copy(x)",
                          this->run(variant, permuted_rows(x, order), size, {1, 2}),
                          permuted_rows(this->run(variant, x, size, {0, 3}), order)));
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Copy, WaitsForItsStream) {
  using T = TypeParam;
  const Size size{1, 3001};
  const auto x = elements_of_bits<T>(unique_bits(this->kDtype, size.cols));
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(x.size());
    const LateInput<T> late(x, this->stream_);
    copy::run(kg::matrix<const T>(late.data(), 1, size.cols), kg::matrix<T>(y.data(), 1, size.cols),
              variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_), x));
  }
}

TYPED_TEST(Copy, AutomaticReportsWhatRan) {
  const auto x = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(6), this->stream_);
  const DeviceBuffer<TypeParam> y(6);
  LaunchRecorder recorder;
  const Variant ran = copy::run(kg::matrix<const TypeParam>(x.data(), 2, 3),
                                kg::matrix(y.data(), 2, 3), Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("copy::vectorized"), std::string::npos);
}

TYPED_TEST(Copy, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> x(64);
  const DeviceBuffer<T> y(64);
  const auto run = [&](MatrixView<const T> from, MatrixView<T> to) {
    copy::run(from, to, Variant::automatic, this->stream_);
  };
  LaunchRecorder recorder;
  EXPECT_THROW(run({x.data(), {-1, 4}, {4, 1}}, {y.data(), {-1, 4}, {4, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 1}}, {y.data(), {8, 4}, {4, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {7, 1}}, {y.data(), {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 1}}, {y.data(), {4, 8}, {7, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 2}}, {y.data(), {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({nullptr, {4, 8}, {8, 1}}, {y.data(), {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 1}}, {nullptr, {4, 8}, {8, 1}}), Error);
  const MatrixView<const void> from{x.data(), {1, 2}, {2, 1}};
  const MatrixView<void> to{y.data(), {1, 2}, {2, 1}};
  EXPECT_THROW(copy::run(from, to, 3, Variant::automatic, this->stream_), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Copy, WorkIsOneReadAndOneWrite) {
  const Work work = copy::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 2000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 0.0);
}

} // namespace
} // namespace kg::test
