// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// broadcast against the oracle and every vendor. Each result has one right value, so every
// comparison is exact; only a NaN's payload is free.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/broadcast_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

#include "broadcast/plan.h"

namespace kg::test {

__global__ void divide(Divisor by, const std::int64_t* dividends, std::int64_t* quotients) {
  quotients[threadIdx.x] = by.quotient(dividends[threadIdx.x]);
}

namespace {

TYPED_TEST_SUITE(Broadcast, FloatTypes, DtypeNames);

// Sums that fill the significand and are exact whichever elements meet.
TYPED_TEST(Broadcast, ExactFill) {
  for (const Shapes& shapes : patterns()) {
    const std::int64_t most = std::max(element_count(shapes.a), element_count(shapes.b));
    FillPair fill = exact_elementwise(this->kDtype, BinaryOp::add, most);
    fill.a.resize(static_cast<std::size_t>(element_count(shapes.a)));
    fill.b.resize(static_cast<std::size_t>(element_count(shapes.b)));
    this->check(Op::add, fill.name, shapes, elements<TypeParam>(fill.a),
                elements<TypeParam>(fill.b));
  }
}

TYPED_TEST(Broadcast, RandomAgainstOracle) {
  for (const Shapes& shapes : patterns())
    for (const Op op : {Op::sub, Op::mul, Op::div}) this->check_normals(op, shapes);
}

TYPED_TEST(Broadcast, RandomAgainstVendors) {
  using T = TypeParam;
  for (const Shapes& shapes : patterns())
    for (const Op op : kOps) {
      const auto theirs = static_cast<vendor::Binary>(op);
      const vendor::BroadcastShapes padded = vendor_shapes(shapes);
      const auto vendors = vendor::broadcast_variants(theirs, this->kDtype, padded);
      if (vendors.empty()) {
        report_no_vendor("broadcast", this->kDtype,
                         std::string(name(op)) + " " + text(shapes.a) + " " + text(shapes.b));
        continue;
      }
      const std::vector<T> a = this->normals(shapes.a, Tensor::a);
      const std::vector<T> b = this->normals(shapes.b, Tensor::b);
      const std::vector<double> expected = this->oracle(op, shapes, a, b);
      const Expectation expectation = exactly(this->kDtype, shape_of_result(shapes), expected);
      for (const Variant variant : kVariants) {
        // Before the vendor writes the same values.
        const Observed ours = observe(this->run(op, variant, shapes, a, b));
        for (const std::string_view vendor : vendors) {
          const auto device_a = DeviceBuffer<T>::from_host(a, this->stream_);
          const auto device_b = DeviceBuffer<T>::from_host(b, this->stream_);
          const DeviceBuffer<T> device_out(expected.size());
          vendor::broadcast(vendor, theirs, this->kDtype, padded, device_a.data(), device_b.data(),
                            device_out.data(), this->stream_);
          const Observed theirs_seen = observe(device_out.to_host(this->stream_));
          EXPECT_TRUE(
              verdict(compare_with_vendor(ours, theirs_seen, expectation),
                      this->context(op, variant, "normal beside " + std::string(vendor), shapes)));
        }
      }
    }
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges, each against each: an outer
// product.
TYPED_TEST(Broadcast, SpecialValues) {
  std::vector<std::uint64_t> bits;
  for (const SpecialValue& special : special_values(this->kDtype)) bits.push_back(special.bits);
  const auto values = elements_of_bits<TypeParam>(bits);
  const auto count = static_cast<std::int64_t>(bits.size());
  for (const Op op : kOps) this->check(op, "special", {{count, 1}, {count}}, values, values);
}

// Rows around a pack and a warp, in each way of repeating.
TYPED_TEST(Broadcast, RowLengths) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 127, 257}) {
    this->check_normals(Op::sub, {{5, n}, {n}});
    this->check_normals(Op::sub, {{5, 1}, {5, n}});
    this->check_normals(Op::sub, {{3, n, 1}, {3, 1, n}});
  }
}

// Around a tile: 256 threads with two packs each.
TYPED_TEST(Broadcast, Sizes) {
  const std::int64_t tile = 512 * this->kPack;
  for (const std::int64_t n : {tile - 1, tile, tile + 1, 2 * tile + this->kPack + 1})
    this->check_normals(Op::sub, {{n}, {1}});
  this->check_normals(Op::sub, {{2 * tile / 61 + 1, 61}, {61}});
}

TYPED_TEST(Broadcast, Empty) {
  for (const Shapes& shapes :
       {Shapes{{0}, {1}}, Shapes{{4, 0}, {1, 0}}, Shapes{{}, {3, 0, 2}}, Shapes{{0, 1}, {7}}})
    this->check_normals(Op::add, shapes);
}

TYPED_TEST(Broadcast, BeyondOneGrid) {
  const DeviceProperties& device = device_properties();
  const std::int64_t columns = 1021;
  const std::int64_t n =
      std::int64_t{device.sm_count} * device.max_threads_per_sm * 2 * this->kPack;
  this->check_normals(Op::add, {{n / columns + 3, columns}, {columns}});
}

// Indices beyond 32 bits, in place: rows of a prime length times 2.
TYPED_TEST(Broadcast, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kColumns = 4099;
  constexpr std::int64_t kRows = kHalf / kColumns + 5;
  constexpr std::int64_t kN = kRows * kColumns;
  const std::string reason = too_huge_reason(kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C; // a normal number of each type
  const T everywhere = from_raw_bits<T>(0x3C3C3C3Cu & poison_bits(this->kDtype));
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  const auto two = DeviceBuffer<T>::from_host(std::vector<T>(kColumns, value(2)), this->stream_);
  const Extents shape = {kRows, kColumns};
  const Extents row = {kColumns};
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(kN);
    fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
    Marks<T> before, after;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
      before[index] = value(next);
      after[index] = value(2 * next);
      ++next;
    }
    put(before, x, this->stream_);
    broadcast::run<T>(Op::mul, x.data(), shape, two.data(), row, x.data(), variant, this->stream_);
    EXPECT_TRUE(holds(x, value(2 * to_double(everywhere)), after, this->stream_))
        << broadcast::name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST(Broadcast, Misaligned) {
  for (const Shapes& shapes :
       {Shapes{{9, 64}, {64}}, Shapes{{64, 1}, {64, 33}}, Shapes{{2}, {2}}, Shapes{{3}, {}}})
    for (const Offsets offsets : {Offsets{1, 0, 0}, Offsets{0, 1, 0}, Offsets{0, 0, 1},
                                  Offsets{1, 1, 1}, Offsets{3, 2, 7}, Offsets{4, 8, 4}})
      this->check_normals(Op::sub, shapes, offsets);
}

// out = a, out = b, and all three the same.
TYPED_TEST(Broadcast, InPlace) {
  using T = TypeParam;
  const Extents full = {37, 131};
  const Extents row = {131};
  const std::vector<T> large = this->normals(full, Tensor::a);
  const std::vector<T> small = this->normals(row, Tensor::b);
  for (const Variant variant : kVariants)
    for (const std::string out : {"a", "b", "both"}) {
      const Shapes shapes = out == "a"   ? Shapes{full, row}
                            : out == "b" ? Shapes{row, full}
                                         : Shapes{full, full};
      const auto changed = DeviceBuffer<T>::from_host(large, this->stream_);
      const auto other = DeviceBuffer<T>::from_host(small, this->stream_);
      const auto& first = out == "b" ? other : changed;
      const auto& second = out == "a" ? other : changed;
      broadcast::run<T>(Op::sub, first.data(), shapes.a, second.data(), shapes.b, changed.data(),
                        variant, this->stream_);
      const std::vector<double> expected =
          this->oracle(Op::sub, shapes, out == "b" ? small : large, out == "a" ? small : large);
      EXPECT_TRUE(verdict(
          compare(observe(changed.to_host(this->stream_)), exactly(this->kDtype, full, expected)),
          this->context(Op::sub, variant, "normal, out = " + out, shapes)));
    }
}

TYPED_TEST(Broadcast, SameBitsEveryTime) {
  const Shapes shapes = {{33, 67}, {67}};
  const auto a = this->normals(shapes.a, Tensor::a);
  const auto b = this->normals(shapes.b, Tensor::b);
  for (const Variant variant : kVariants) {
    static_assert(broadcast::deterministic(Variant::automatic));
    EXPECT_TRUE(same_bits_every_time(this->id(variant),
                                     [&] { return this->run(Op::div, variant, shapes, a, b); }));
  }
}

// Operands repeated in memory beforehand, and a result permuted along with its operands' rows.
TYPED_TEST(Broadcast, Relations) {
  using T = TypeParam;
  for (const Shapes& shapes : patterns()) {
    const Extents shape = shape_of_result(shapes);
    const auto a = this->normals(shapes.a, Tensor::a);
    const auto b = this->normals(shapes.b, Tensor::b);
    const auto full_a = elements<T>(repeated_oracle(observe(a).values, shapes.a, shape));
    const auto full_b = elements<T>(repeated_oracle(observe(b).values, shapes.b, shape));
    for (const Variant variant : kVariants)
      EXPECT_TRUE(same_bits("a op b = repeated a op repeated b",
                            this->run(Op::div, variant, shapes, a, b),
                            this->run(Op::div, variant, {shape, shape}, full_a, full_b)))
          << text(shapes.a) << " " << text(shapes.b);
  }
  const Shapes rows = {{53, 41}, {53, 1}};
  const std::vector<std::int64_t> order = permutation(53);
  const auto a = this->normals(rows.a, Tensor::a);
  const auto b = this->normals(rows.b, Tensor::b);
  for (const Variant variant : kVariants)
    EXPECT_TRUE(same_bits(
        "P a op P b = P (a op b)",
        this->run(Op::sub, variant, rows, permuted_rows(a, order), permuted_rows(b, order)),
        permuted_rows(this->run(Op::sub, variant, rows, a, b), order)));
}

// On a stream whose earlier work still writes b.
TYPED_TEST(Broadcast, WaitsForItsStream) {
  using T = TypeParam;
  const Shapes shapes = {{33, 67}, {67}};
  const auto a = this->normals(shapes.a, Tensor::a);
  const auto b = this->normals(shapes.b, Tensor::b);
  const auto device_a = DeviceBuffer<T>::from_host(a, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> out(a.size());
    const LateInput<T> late(b, this->stream_);
    broadcast::run<T>(Op::add, device_a.data(), shapes.a, late.data(), shapes.b, out.data(),
                      variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", out.to_host(this->stream_),
                          this->run(Op::add, variant, shapes, a, b)));
  }
}

TYPED_TEST(Broadcast, AutomaticReportsWhatRan) {
  const auto data = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(64), this->stream_);
  const Extents shape = {64};
  LaunchRecorder recorder;
  const Variant ran = broadcast::run<TypeParam>(Op::add, data.data(), shape, data.data(), shape,
                                                data.data(), Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(Broadcast, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(32), other(32);
  T* const p = data.data();
  T* const q = other.data();
  const Extents full = {4, 8}, row = {8}, wrong = {5}, negative = {-1}, deep(6, 1), none = {0};
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    const auto run = [&](const T* a, const Extents& of_a, const T* b, const Extents& of_b, T* out) {
      broadcast::run<T>(Op::add, a, of_a, b, of_b, out, variant, this->stream_);
    };
    EXPECT_THROW(run(p, full, q, wrong, p), Error);
    EXPECT_THROW(run(p, row, q, negative, p), Error);
    EXPECT_THROW(run(p, deep, q, row, p), Error);
    EXPECT_THROW(run(nullptr, full, q, row, p), Error);
    EXPECT_THROW(run(p, full, nullptr, row, p), Error);
    EXPECT_THROW(run(p, full, q, row, nullptr), Error);
    EXPECT_THROW(run(q, row, p + 1, row, p), Error) << "in place in part";
    EXPECT_THROW(run(q, full, p, row, p), Error) << "out is a repeated operand";
    EXPECT_THROW(run(q, full, p + 24, row, p), Error) << "out has a repeated operand in it";
    EXPECT_NO_THROW(run(nullptr, none, nullptr, none, nullptr));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Broadcast, WorkReadsEachOperandOnce) {
  const Work work = broadcast::work(this->kDtype, Extents{10, 7}, Extents{7});
  EXPECT_EQ(work.bytes, (70.0 + 7 + 70) * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 70.0);
}

// The plans of the patterns that must be fast.
TYPED_TEST(Broadcast, MergesAxes) {
  const auto plan = [](const Extents& a, const Extents& b) { return broadcast::make_plan(a, b); };
  EXPECT_EQ(plan({2, 3, 4}, {2, 3, 4}).outer_axes, 0) << "equal shapes are one row";
  EXPECT_EQ(plan({2, 3, 4}, {}).outer_axes, 0) << "so is a scalar beside any shape";
  EXPECT_EQ(plan({2, 3, 4, 5}, {4, 5}).outer_axes, 1) << "bias over two axes";
  EXPECT_EQ(plan({2, 3, 4, 5}, {4, 5}).inner.extent.value, 20);
  EXPECT_EQ(plan({2, 3, 4, 5}, {1, 3, 1, 1}).outer_axes, 2) << "channels";
  EXPECT_EQ(plan({2, 3, 4, 5}, {2, 3, 1, 1}).outer_axes, 1) << "channels of each image";
  EXPECT_EQ(plan({1, 7, 1, 9, 1}, {1, 7, 1, 9, 1}).inner.extent.value, 63) << "ones do not count";
}

// Divisors around powers of two, dividends around their multiples.
TYPED_TEST(Broadcast, DivisorDivides) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> divisors = {1, 3, 641, 4099, 1000003, kMost};
  for (int bit = 1; bit < 63; bit += 5)
    for (const std::int64_t near : {-1, 0, 1})
      divisors.push_back(std::max<std::int64_t>((std::int64_t{1} << bit) + near, 1));
  for (const std::int64_t divisor : divisors) {
    const std::int64_t large = kMost / divisor * divisor;
    std::vector<std::int64_t> dividends = {0, 1, 12345678901234567, kMost, large, large - 1};
    for (const std::int64_t multiple : {divisor, large / 2 / divisor * divisor})
      for (const std::int64_t near : {-1, 0}) dividends.push_back(multiple + near);
    const auto from = DeviceBuffer<std::int64_t>::from_host(dividends, this->stream_);
    const DeviceBuffer<std::int64_t> to(dividends.size());
    launch(divide,
           {.grid = 1, .block = static_cast<unsigned>(dividends.size()), .stream = &this->stream_},
           Divisor(divisor), from.data(), to.data());
    const std::vector<std::int64_t> quotients = to.to_host(this->stream_);
    for (std::size_t i = 0; i < dividends.size(); ++i)
      EXPECT_EQ(quotients[i], dividends[i] / divisor) << dividends[i] << " / " << divisor;
  }
}

} // namespace
} // namespace kg::test
