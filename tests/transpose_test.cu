// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// transpose moves bits, so every comparison is bitwise, NaN payloads included.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/hygiene.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "tests/support/vacuity.h"
#include "vendor/transpose/transpose.h"

#include "transpose/transpose.h"

namespace kg::test {
namespace {

using transpose::kVariants;
using transpose::Variant;

// Of x.
struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// Elements from row to row beyond their length, and before the first row.
struct Layout {
  std::int64_t x_gap = 0;
  std::int64_t y_gap = 0;
  std::int64_t x_offset = 0;
  std::int64_t y_offset = 0;
};

template <typename T>
class Transpose : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("transpose", kDtype, kVariants, moving_evidence(kDtype));
  }

  static VariantId id(Variant variant) {
    return {"transpose", std::string(name(kDtype)), std::string(transpose::name(variant))};
  }

  static CaseContext context(Variant variant, std::string fill, Size size, Layout layout = {}) {
    return {CaseId("transpose." + std::string(name(kDtype)) + ".rows" + std::to_string(size.rows) +
                   "_cols" + std::to_string(size.cols)),
            std::string(transpose::name(variant)),
            std::move(fill),
            {size.cols, size.rows},
            {size.rows + layout.y_gap, 1}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Variant variant, const std::vector<T>& x, Size size, Layout layout = {}) {
    Strided x_view = matrix(size.rows, size.cols, size.cols + layout.x_gap);
    Strided y_view = matrix(size.cols, size.rows, size.rows + layout.y_gap);
    x_view.offset = layout.x_offset;
    y_view.offset = layout.y_offset;
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, x_view);
    const auto device_x = device_input(stored_x, x_view, stream_);
    const DeviceBuffer<T> device_y(y_view.storage_size() + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    LaunchRecorder recorder;
    const Variant ran =
        transpose::run(kg::matrix<const T>(device_x.data() + layout.x_offset, size.rows, size.cols,
                                           size.cols + layout.x_gap),
                       kg::matrix<T>(device_y.data() + layout.y_offset, size.cols, size.rows,
                                     size.rows + layout.y_gap),
                       variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), x.empty() ? 0u : 1u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find("transpose::" + std::string(transpose::name(variant))),
                std::string::npos)
          << launch.kernel_name;
    return hygiene.output(device_y, y_view, stream_);
  }

  // Every variant on bit patterns of all kinds, no two of them equal (the first is 0).
  void check(Size size, Layout layout = {}) {
    const std::vector<std::uint64_t> bits = unique_bits(kDtype, size.rows * size.cols);
    const std::vector<std::uint64_t> expected = transpose_oracle(bits, size.rows, size.cols);
    const std::vector<std::int64_t> shape = {size.cols, size.rows};
    EXPECT_TRUE(not_vacuous_bits(kDtype, shape, expected,
                                 bits.size() == 1 ? Degenerate::zero : Degenerate::no));
    const auto x = elements_of_bits<T>(bits);
    for (const Variant variant : kVariants) {
      const Observed y = observe(run(variant, x, size, layout));
      EXPECT_TRUE(
          verdict(compare_bits(y, shape, expected), context(variant, "unique_bits", size, layout)));
    }
  }

  Stream stream_;
};

TYPED_TEST_SUITE(Transpose, MovedTypes, DtypeNames);

TYPED_TEST(Transpose, Sizes) {
  // Around a tile of 32 by 32 and the 8 rows that its block takes at once.
  for (const std::int64_t rows : {1, 2, 7, 8, 9, 31, 32, 33, 64, 97})
    for (const std::int64_t cols : {1, 3, 8, 31, 32, 33, 63, 65, 251}) this->check({rows, cols});
  for (const Size size : {Size{1, 4099}, Size{4099, 1}, Size{1025, 257}, Size{300, 1000}})
    this->check(size);
}

// Elements of 1 and 2 bytes that move several to a word, and what forbids it.
TYPED_TEST(Transpose, TilesOfWords) {
  using T = TypeParam;
  constexpr std::int64_t kInWord = sizeof(T) < 4 ? 4 / static_cast<std::int64_t>(sizeof(T)) : 1;
  for (const std::int64_t rows : {32 * kInWord, 33 * kInWord, 70 * kInWord})
    for (const std::int64_t cols : {8 * kInWord, 9 * kInWord, 40 * kInWord})
      this->check({rows, cols}, {kInWord, 3 * kInWord});
  const Size size{32 * kInWord, 8 * kInWord};
  for (const Layout layout : {Layout{1, 0, 0, 0}, Layout{0, 1, 0, 0}, Layout{0, 0, 1, 0},
                              Layout{0, 0, 0, 1}, Layout{2, 2, 2, 2}})
    this->check(size, layout);
  for (const Size near : {Size{size.rows - 1, size.cols}, Size{size.rows, size.cols + 1},
                          Size{size.rows - kInWord, size.cols}})
    this->check(near);
}

TYPED_TEST(Transpose, EmptyMatrices) {
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{0, 0}})
    for (const Variant variant : kVariants) EXPECT_TRUE(this->run(variant, {}, size).empty());
}

TYPED_TEST(Transpose, LayoutsAndAlignment) {
  for (const Size size : {Size{33, 47}, Size{70, 64}, Size{5, 129}, Size{1, 40}})
    for (const Layout layout :
         {Layout{1, 0, 0, 0}, Layout{0, 1, 0, 0}, Layout{3, 5, 1, 3}, Layout{32, 64, 2, 0},
          Layout{100, 31, 0, 7}, Layout{0, 0, 4, 8}, Layout{0, 2, 7, 12}, Layout{2, 0, 12, 4}})
      this->check(size, layout);
}

// More rows of tiles than a grid's y extent can count.
TYPED_TEST(Transpose, BeyondOneGrid) {
  this->check({std::int64_t{device_properties().max_grid_yz} * 32 + 45, 1});
}

// Indices beyond 32 bits on both sides.
TYPED_TEST(Transpose, MoreThan2To31Elements) {
  using T = TypeParam;
  const Size size{46349, 46351};
  const auto count = static_cast<std::size_t>(size.rows * size.cols);
  static_assert(std::int64_t{46349} * 46351 > std::int64_t{1} << 31);
  const std::string reason = too_huge_reason(2 * count * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C;
  const T everywhere = from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & poison_bits(this->kDtype));
  const DeviceBuffer<T> x(count);
  fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
  Marks<T> before, after;
  std::uint64_t bits = 1;
  for (const std::int64_t row : {std::int64_t{0}, size.rows / 2, size.rows - 2, size.rows - 1})
    for (const std::int64_t col : {std::int64_t{0}, std::int64_t{33}, size.cols - 1}) {
      before[row * size.cols + col] = from_raw_bits<T>(bits);
      after[col * size.rows + row] = from_raw_bits<T>(bits);
      ++bits;
    }
  put(before, x, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(count);
    transpose::run(kg::matrix<const T>(x.data(), size.rows, size.cols),
                   kg::matrix<T>(y.data(), size.cols, size.rows), variant, this->stream_);
    EXPECT_TRUE(holds(y, everywhere, after, this->stream_)) << transpose::name(variant);
    EXPECT_NO_THROW(y.check_guards());
  }
  EXPECT_TRUE(holds(x, everywhere, before, this->stream_)) << "the kernel changed its input";
}

TYPED_TEST(Transpose, TwiceIsTheOriginal) {
  const Size size{300, 131};
  const auto x = elements_of_bits<TypeParam>(unique_bits(this->kDtype, size.rows * size.cols));
  for (const Variant variant : kVariants) {
    const auto back = this->run(variant, this->run(variant, x, size), {size.cols, size.rows});
    EXPECT_EQ(fnv1a64(back), fnv1a64(x)) << transpose::name(variant);
  }
}

// Numbers: a library may move elements through its arithmetic, which keeps no NaN payload.
TYPED_TEST(Transpose, RandomAgainstVendors) {
  using T = TypeParam;
  const auto vendors = vendor::transpose_variants(this->kDtype);
  if (vendors.empty()) report_no_vendor("transpose", this->kDtype);
  for (const Size size : {Size{200, 333}, Size{65, 64}}) {
    for (const Layout layout : {Layout{}, Layout{3, 7, 0, 0}}) {
      const auto values = random_numbers(this->kDtype, size.rows * size.cols, Tensor::a).values;
      const auto expected_values = transpose_oracle(values, size.rows, size.cols);
      const Expectation expected = exactly(this->kDtype, {size.cols, size.rows}, expected_values);
      EXPECT_TRUE(not_vacuous(expected));
      const auto x = elements<T>(values);
      const Strided x_view = matrix(size.rows, size.cols, size.cols + layout.x_gap);
      const Strided y_view = matrix(size.cols, size.rows, size.rows + layout.y_gap);
      for (const Variant variant : kVariants) {
        const Observed ours = observe(
            this->run(variant, x, size, layout)); // before the vendor writes the same values
        EXPECT_TRUE(
            verdict(compare(ours, expected), this->context(variant, "random", size, layout)));
        for (const std::string_view vendor : vendors) {
          const auto device_x = DeviceBuffer<T>::from_host(scatter(x, x_view), this->stream_);
          const DeviceBuffer<T> device_y(static_cast<std::size_t>(y_view.storage_size()));
          vendor::transpose(vendor, this->kDtype, device_x.data(), size.rows, size.cols,
                            x_view.strides[0], device_y.data(), y_view.strides[0], this->stream_);
          const Observed theirs = observe(gather(device_y.to_host(this->stream_), y_view));
          EXPECT_TRUE(verdict(
              compare_with_vendor(ours, theirs, expected),
              this->context(variant, "random beside " + std::string(vendor), size, layout)));
        }
      }
    }
  }
}

TYPED_TEST(Transpose, SameBitsEveryTime) {
  const Size size{131, 70};
  const auto x = elements_of_bits<TypeParam>(unique_bits(this->kDtype, size.rows * size.cols));
  for (const Variant variant : kVariants) {
    static_assert(transpose::deterministic(Variant::automatic));
    EXPECT_TRUE(
        same_bits_every_time(this->id(variant), [&] { return this->run(variant, x, size); }));
  }
}

// Columns of y are rows of x.
TYPED_TEST(Transpose, PermutedRowsArePermutedColumns) {
  const Size size{75, 41};
  const auto x = elements_of_bits<TypeParam>(unique_bits(this->kDtype, size.rows * size.cols));
  const std::vector<std::int64_t> order = permutation(size.rows);
  for (const Variant variant : kVariants)
    EXPECT_TRUE(same_bits("(P x)^T = x^T P^T", this->run(variant, permuted_rows(x, order), size),
                          permuted_columns(this->run(variant, x, size), order)));
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Transpose, WaitsForItsStream) {
  using T = TypeParam;
  const Size size{70, 45};
  const auto x = elements_of_bits<T>(unique_bits(this->kDtype, size.rows * size.cols));
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(x.size());
    const LateInput<T> late(x, this->stream_);
    transpose::run(kg::matrix<const T>(late.data(), size.rows, size.cols),
                   kg::matrix<T>(y.data(), size.cols, size.rows), variant, this->stream_);
    EXPECT_TRUE(
        same_bits("behind a slow kernel", y.to_host(this->stream_), this->run(variant, x, size)));
  }
}

TYPED_TEST(Transpose, AutomaticReportsWhatRan) {
  const auto x = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(6), this->stream_);
  const DeviceBuffer<TypeParam> y(6);
  LaunchRecorder recorder;
  const Variant ran = transpose::run(kg::matrix<const TypeParam>(x.data(), 2, 3),
                                     kg::matrix(y.data(), 3, 2), Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::tiled);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("transpose::tiled"), std::string::npos);
}

TYPED_TEST(Transpose, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> x(64);
  const DeviceBuffer<T> y(64);
  const auto run = [&](MatrixView<const T> from, MatrixView<T> to) {
    transpose::run(from, to, Variant::automatic, this->stream_);
  };
  LaunchRecorder recorder;
  EXPECT_THROW(run({x.data(), {-1, 4}, {4, 1}}, {y.data(), {4, -1}, {1, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 1}}, {y.data(), {4, 8}, {8, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 1}}, {y.data(), {7, 4}, {4, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 1}}, {y.data(), {8, 3}, {4, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {7, 1}}, {y.data(), {8, 4}, {4, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 1}}, {y.data(), {8, 4}, {3, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 2}}, {y.data(), {8, 4}, {4, 1}}), Error);
  EXPECT_THROW(run({nullptr, {4, 8}, {8, 1}}, {y.data(), {8, 4}, {4, 1}}), Error);
  EXPECT_THROW(run({x.data(), {4, 8}, {8, 1}}, {nullptr, {8, 4}, {4, 1}}), Error);
  const MatrixView<const void> from{x.data(), {1, 2}, {2, 1}};
  const MatrixView<void> to{y.data(), {2, 1}, {1, 1}};
  EXPECT_THROW(transpose::run(from, to, 3, Variant::automatic, this->stream_), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Transpose, WorkIsOneReadAndOneWrite) {
  const Work work = transpose::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 2000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 0.0);
}

} // namespace
} // namespace kg::test
