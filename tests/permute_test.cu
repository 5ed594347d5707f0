// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// permute moves bits, so every comparison is bitwise, NaN payloads included.
#include <numeric>

#include "runtime/device.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/permute_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/permute/permute.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Permute, MovedTypes, DtypeNames);

TYPED_TEST(Permute, AllOrders) {
  for (const Shape& shape : {Shape{5}, Shape{3, 7}, Shape{4, 1, 6}, Shape{3, 5, 2, 17}}) {
    Order order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    do this->check(shape, order);
    while (std::next_permutation(order.begin(), order.end()));
  }
}

TYPED_TEST(Permute, FiveAxes) {
  const Shape shape = {2, 3, 4, 5, 18};
  for (const Order& order :
       {Order{4, 3, 2, 1, 0}, Order{0, 2, 1, 4, 3}, Order{2, 0, 3, 1, 4}, Order{1, 4, 0, 2, 3},
        Order{3, 0, 4, 1, 2}, Order{0, 1, 2, 3, 4}, Order{4, 0, 2, 1, 3}})
    this->check(shape, order);
}

// Images between the layouts that libraries use, channels from one to more than a tile.
TYPED_TEST(Permute, ChannelsFirstAndLast) {
  for (const std::int64_t channels : {1, 2, 3, 4, 7, 16, 33, 64, 128}) {
    const std::string kernel = channels == 1 ? "rows<" : "tiled<";
    this->check({2, channels, 6, 23}, {0, 2, 3, 1}, {}, kernel);
    this->check({2, 6, 23, channels}, {0, 3, 1, 2}, {}, kernel);
  }
}

// Around a tile of 32 by 32 words, of K elements each along either side.
TYPED_TEST(Permute, Tiles) {
  for (const std::int64_t a : {2, 15, 16, 31, 32, 33, 65})
    for (const std::int64_t b : {17, 32, 63, 129}) {
      this->check({b, a}, {1, 0}, {}, "tiled<1");
      this->check({3, b, a}, {2, 0, 1}, {}, "tiled<");
    }
  this->check({300, 3}, {1, 0}, {}, "tiled<1");
  this->check({3, 1100}, {1, 0}, {}, "tiled<1");
  this->check({8, 9}, {1, 0}, {}, "naive<");
}

// Elements of 1 and 2 bytes that move several to a word, and what forbids it.
TYPED_TEST(Permute, TilesOfWords) {
  constexpr int kInWord = sizeof(TypeParam) < 4 ? 4 / static_cast<int>(sizeof(TypeParam)) : 1;
  const std::string words = "tiled<" + std::to_string(kInWord);
  const std::int64_t k = kInWord;
  for (const std::int64_t a : {8 * k, 9 * k, 33 * k})
    for (const std::int64_t b : {32 * k, 33 * k}) {
      this->check({b, a}, {1, 0}, {}, words);
      this->check({2, b, 3, a}, {3, 0, 2, 1}, {}, words);
    }
  if (k > 1) {
    this->check({32 * k + 1, 8 * k}, {1, 0}, {}, "tiled<1");
    this->check({32 * k, 8 * k + 1}, {1, 0}, {}, "tiled<1");
    this->check({32 * k, 8 * k}, {1, 0}, {1, 0}, "tiled<1");
    this->check({32 * k, 8 * k}, {1, 0}, {0, 1}, "tiled<1");
    this->check({31 * k, 8 * k}, {1, 0}, {}, "tiled<1");
    this->check({32 * k, 7 * k}, {1, 0}, {}, "tiled<1");
  }
}

// The last axis stays: packs where rows are long enough, elements that grow where they are short.
TYPED_TEST(Permute, WholeRows) {
  const std::int64_t pack = this->kPack;
  for (const std::int64_t cols :
       {pack, pack + 1, 3 * pack - 1, 5 * pack, 20 * pack + 2, 40 * pack + 3})
    this->check({3, 7, cols}, {1, 0, 2}, {}, cols % pack == 0 ? "rows<false" : "rows<true");
  for (const std::int64_t cols : {2, 3, 4, 8}) this->check({20, 33, cols}, {1, 0, 2});
  if (pack >= 4) this->check({20, 33, 2}, {1, 0, 2}, {}, "tiled<");
  this->check({20, 33, 2}, {1, 0, 2}, {1, 0});
  this->check({3, 7, 8 * pack}, {1, 0, 2}, {1, 0}, "rows<true");
  this->check({3, 7, 8 * pack}, {1, 0, 2}, {1, 1}, "rows<false");
  this->check({3, 7, 8 * pack + 1}, {1, 0, 2}, {2, 1}, "rows<true");
}

TYPED_TEST(Permute, EmptyTensors) {
  for (const Variant variant : kVariants) {
    EXPECT_TRUE(this->run(variant, {}, {0, 5}, {1, 0}).empty());
    EXPECT_TRUE(this->run(variant, {}, {3, 0, 4}, {2, 0, 1}).empty());
  }
}

// Rows that no block of the first grid takes.
TYPED_TEST(Permute, BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * 4;
  this->check({2, resident * 17, this->kPack}, {1, 0, 2}, {}, "rows<false");
}

// Places beyond 32 bits, turned and by rows.
TYPED_TEST(Permute, MoreThan2To31Elements) {
  using T = TypeParam;
  const Shape shape = {2, 32800, 32800};
  const auto count = static_cast<std::size_t>(element_count(shape));
  const std::string reason = too_huge_reason(2 * count * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C;
  const T everywhere = from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & poison_bits(this->kDtype));
  const DeviceBuffer<T> x(count);
  fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
  for (const Order& order : {Order{0, 2, 1}, Order{1, 0, 2}}) {
    const Shape y_shape = permuted_shape(shape, order);
    const Strided x_in_y{y_shape,
                         {contiguous(shape).strides[static_cast<std::size_t>(order[0])],
                          contiguous(shape).strides[static_cast<std::size_t>(order[1])],
                          contiguous(shape).strides[static_cast<std::size_t>(order[2])]}};
    Marks<T> before, after;
    std::uint64_t bits = 1;
    for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1} << 30, std::int64_t{1} << 31,
                                 static_cast<std::int64_t>(count) - 1}) {
      after[i] = from_raw_bits<T>(bits);
      before[x_in_y.place(i)] = from_raw_bits<T>(bits++);
    }
    put(before, x, this->stream_);
    for (const Variant variant : kVariants) {
      const DeviceBuffer<T> y(count);
      permute::run<T>(x.data(), y.data(), permutation_of(shape, order), variant, this->stream_);
      EXPECT_TRUE(holds(y, everywhere, after, this->stream_)) << permute::name(variant);
      EXPECT_NO_THROW(y.check_guards());
    }
    for (auto& [index, value] : before) value = everywhere;
    put(before, x, this->stream_);
  }
}

// Numbers: a library may move elements through its arithmetic, which keeps no NaN payload.
TYPED_TEST(Permute, RandomAgainstVendors) {
  using T = TypeParam;
  const auto vendors = vendor::permute_variants(this->kDtype);
  if (vendors.empty()) report_no_vendor("permute", this->kDtype);
  struct Problem {
    Shape shape;
    Order order;
  };
  for (const auto& [shape, order] :
       {Problem{{2, 24, 9, 11}, {0, 2, 3, 1}}, Problem{{2, 5, 7, 20}, {0, 2, 1, 3}},
        Problem{{40, 65}, {1, 0}}, Problem{{3, 2, 4, 5, 6}, {4, 1, 3, 0, 2}}}) {
    const auto values = random_numbers(this->kDtype, element_count(shape), Tensor::a).values;
    const auto expected_values = permute_oracle(values, shape, order);
    const Expectation expected =
        exactly(this->kDtype, permuted_shape(shape, order), expected_values);
    EXPECT_TRUE(not_vacuous(expected));
    const auto x = elements<T>(values);
    for (const Variant variant : kVariants) {
      const Observed ours =
          observe(this->run(variant, x, shape, order)); // before the vendor writes the same values
      EXPECT_TRUE(verdict(compare(ours, expected), this->context(variant, "random", shape, order)));
      for (const std::string_view vendor : vendors) {
        const auto device_x = DeviceBuffer<T>::from_host(x, this->stream_);
        const DeviceBuffer<T> device_y(x.size());
        vendor::permute(vendor, this->kDtype, shape, order, device_x.data(), device_y.data(),
                        this->stream_);
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours, observe(device_y.to_host(this->stream_)), expected),
                    this->context(variant, "random beside " + std::string(vendor), shape, order)));
      }
    }
  }
}

TYPED_TEST(Permute, SameBitsEveryTime) {
  const Shape shape = {2, 19, 5, 40};
  const auto x = elements_of_bits<TypeParam>(unique_bits(this->kDtype, element_count(shape)));
  for (const Variant variant : kVariants)
    for (const Order& order : {Order{0, 2, 3, 1}, Order{0, 2, 1, 3}}) {
      static_assert(permute::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant),
                                       [&] { return this->run(variant, x, shape, order); }));
    }
}

TYPED_TEST(Permute, ThereAndBackIsTheOriginal) {
  const Shape shape = {3, 20, 5, 34};
  const Order order = {3, 0, 2, 1};
  const Order back = {1, 3, 2, 0};
  const auto x = elements_of_bits<TypeParam>(unique_bits(this->kDtype, element_count(shape)));
  for (const Variant variant : kVariants)
    EXPECT_TRUE(same_bits(
        "inverse(permute(x)) = x",
        this->run(variant, this->run(variant, x, shape, order), permuted_shape(shape, order), back),
        x));
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Permute, WaitsForItsStream) {
  using T = TypeParam;
  const Shape shape = {70, 45};
  const auto x = elements_of_bits<T>(unique_bits(this->kDtype, element_count(shape)));
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(x.size());
    const LateInput<T> late(x, this->stream_);
    permute::run<T>(late.data(), y.data(), permutation_of(shape, {1, 0}), variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_),
                          this->run(variant, x, shape, {1, 0})));
  }
}

TYPED_TEST(Permute, AutomaticReportsWhatRan) {
  const auto x = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(60), this->stream_);
  const DeviceBuffer<TypeParam> y(60);
  LaunchRecorder recorder;
  const Variant ran = permute::run<TypeParam>(x.data(), y.data(), permutation_of({3, 20}, {1, 0}),
                                              Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::coalesced);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("permute::tiled"), std::string::npos);
}

TYPED_TEST(Permute, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> x(64);
  const DeviceBuffer<T> y(64);
  const auto run = [&](const T* from, T* to, const Permutation& permutation) {
    permute::run<T>(from, to, permutation, Variant::automatic, this->stream_);
  };
  LaunchRecorder recorder;
  EXPECT_THROW(run(x.data(), y.data(), {0, {}, {}}), Error);
  EXPECT_THROW(run(x.data(), y.data(), {6, {}, {}}), Error);
  EXPECT_THROW(run(x.data(), y.data(), {2, {-1, 4}, {1, 0}}), Error);
  EXPECT_THROW(run(x.data(), y.data(), {2, {4, 4}, {1, 1}}), Error);
  EXPECT_THROW(run(x.data(), y.data(), {2, {4, 4}, {0, 2}}), Error);
  EXPECT_THROW(run(x.data(), y.data(), {2, {4, 4}, {-1, 0}}), Error);
  EXPECT_THROW(run(nullptr, y.data(), {2, {4, 4}, {1, 0}}), Error);
  EXPECT_THROW(run(x.data(), nullptr, {2, {4, 4}, {1, 0}}), Error);
  EXPECT_THROW(permute::run(static_cast<const void*>(x.data()), static_cast<void*>(y.data()),
                            {2, {2, 2}, {1, 0}}, 16, Variant::automatic, this->stream_),
               Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Permute, WorkIsOneReadAndOneWrite) {
  const Work work = permute::work(this->kDtype, permutation_of({10, 4, 25}, {2, 1, 0}));
  EXPECT_EQ(work.bytes, 2000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 0.0);
}

} // namespace
} // namespace kg::test
