// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// axpy against the oracle and every vendor. Its rounding is declared, so each result has one right
// value and every comparison with the oracle is exact; only a NaN's payload is free. Vendors may
// round the product by itself.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/axpy_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/oracle.h"
#include "tests/support/repeats.h"
#include "tests/support/vendor.h"
#include "vendor/axpy/axpy.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Axpy, FloatTypes, DtypeNames);

// A multiple of nothing: a few tiles of packs and three elements, about.
constexpr std::int64_t kOdd = 10243;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Integers whose product and sum fill the significand and are exact with any rounding: narrower
// arithmetic shows, the choice between fused and not does not.
TYPED_TEST(Axpy, ExactFill) {
  struct Ranges {
    float alpha;
    std::int64_t x, y;
  };
  const Ranges ranges = this->kDtype == Dtype::f32   ? Ranges{1365, 2047, 1 << 23}
                        : this->kDtype == Dtype::f16 ? Ranges{5, 127, 1 << 10}
                                                     : Ranges{5, 15, 1 << 7};
  const Fill x = integers(this->kDtype, kOdd, ranges.x, Tensor::a);
  const Fill y = integers(this->kDtype, kOdd, ranges.y, Tensor::b);
  for (const float alpha : {ranges.alpha, -ranges.alpha})
    this->check(alpha, "integers", elements<TypeParam>(x.values), elements<TypeParam>(y.values));
}

TYPED_TEST(Axpy, RandomAgainstOracle) {
  const auto x = this->normals(kOdd, Tensor::a);
  const auto y = this->normals(kOdd, Tensor::b);
  for (const float alpha : std::vector<float>{this->kAlpha, -3e-3F, 1e10F})
    this->check(alpha, "normal", x, y);
}

// y is -alpha x as nearly as T can have it: what is left are the bits of the product that a
// multiplication of its own would have rounded away.
TYPED_TEST(Axpy, IsFused) {
  const float alpha = this->kAlpha;
  const std::vector<double> x = normal(this->kDtype, kOdd, Tensor::a).values;
  std::vector<double> y;
  std::vector<double> unfused;
  for (const double value : x) {
    const double product = static_cast<double>(alpha) * value;
    y.push_back(round_to(this->kDtype, -product));
    const double rounded = round_to(Dtype::f32, product) + y.back();
    unfused.push_back(round_to(this->kDtype, round_to(Dtype::f32, rounded)));
  }
  const auto fill_x = elements<TypeParam>(x);
  const auto fill_y = elements<TypeParam>(y);
  const std::vector<double> expected = this->oracle(alpha, fill_x, fill_y);
  int differs = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (unfused[i] != expected[i]) ++differs;
  EXPECT_GT(differs, kOdd / 1000) << "the data does not tell fused from not";
  this->check(alpha, "cancelling", fill_x, fill_y);
}

// alpha = 1 and -1 are the sum and the difference, correctly rounded; by another oracle.
TYPED_TEST(Axpy, OneIsASum) {
  const auto x = this->normals(kOdd, Tensor::a);
  const auto y = this->normals(kOdd, Tensor::b);
  for (const float alpha : {1.0F, -1.0F}) {
    const std::vector<double> expected =
        elementwise_oracle(alpha > 0 ? BinaryOp::add : BinaryOp::sub, this->kDtype,
                           observe(y).values, observe(x).values);
    this->compare_each(alpha, "normal", x, y, exactly(this->kDtype, {kOdd}, expected));
  }
}

// Zero times what is finite is zero, and y comes through; NaN and infinities of x do, too.
TYPED_TEST(Axpy, ZeroReadsX) {
  using T = TypeParam;
  std::vector<double> x = normal(this->kDtype, kOdd, Tensor::a).values;
  const std::vector<T> y = this->normals(kOdd, Tensor::b);
  std::vector<double> expected = observe(y).values;
  for (std::size_t i = 0; i < x.size(); i += 7) {
    x[i] = i % 2 == 0 ? kInfinity : kNaN;
    expected[i] = kNaN;
  }
  for (const float alpha : {0.0F, -0.0F})
    this->compare_each(alpha, "normal with NaN and infinity", elements<T>(x), y,
                       exactly(this->kDtype, {kOdd}, expected));
}

TYPED_TEST(Axpy, RandomAgainstVendors) {
  using T = TypeParam;
  const std::vector<T> x = this->normals(kOdd, Tensor::a);
  const std::vector<T> y = this->normals(kOdd, Tensor::b);
  const auto vendors = vendor::axpy_variants(this->kDtype);
  if (vendors.empty()) report_no_vendor("axpy", this->kDtype);
  for (const float alpha : std::vector<float>{this->kAlpha, 1.0F, 0.0F}) {
    const std::vector<double> expected = this->oracle(alpha, x, y);
    const Expectation expectation = exactly(this->kDtype, {kOdd}, expected);
    const std::vector<double> tolerance =
        unfused_axpy_tolerance(this->kDtype, alpha, observe(x).values, expected);
    for (const Variant variant : kVariants) {
      // Before the vendor writes the same values.
      const Observed ours = observe(this->run(alpha, variant, x, y));
      for (const std::string_view vendor : vendors) {
        const auto device_x = DeviceBuffer<T>::from_host(x, this->stream_);
        const auto device_y = DeviceBuffer<T>::from_host(y, this->stream_);
        const DeviceBuffer<T> device_out(x.size());
        vendor::axpy(vendor, this->kDtype, alpha, device_x.data(), device_y.data(),
                     device_out.data(), kOdd, this->stream_);
        const Observed theirs = observe(device_out.to_host(this->stream_));
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours, theirs, expectation, tolerance),
                    this->context(variant, "normal beside " + std::string(vendor), x.size())));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges: as x and y each against
// each, and as alpha.
TYPED_TEST(Axpy, SpecialValues) {
  const BitPairs pairs = special_pairs(this->kDtype);
  const auto x = elements_of_bits<TypeParam>(pairs.a);
  const auto y = elements_of_bits<TypeParam>(pairs.b);
  this->check(this->kAlpha, "special", x, y);
  for (const SpecialValue& special : special_values(Dtype::f32)) {
    const float alpha = from_raw_bits<float>(special.bits);
    const std::vector<double> expected = this->oracle(alpha, x, y);
    this->compare_each(alpha, "special, alpha " + special.name, x, y,
                       exactly(this->kDtype, {static_cast<std::int64_t>(x.size())}, expected));
  }
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, beside one of another
// kind.
TYPED_TEST(Axpy, AllPatterns) {
  using T = TypeParam;
  const auto x = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  const auto y = permuted_rows(x, permutation(static_cast<std::int64_t>(x.size())));
  this->check(this->kAlpha, "all_bits", elements_of_bits<T>(x), elements_of_bits<T>(y));
}

// Results in the subnormal range, which must not be flushed.
TYPED_TEST(Axpy, SubnormalResults) {
  const FloatFormat format = float_format(this->kDtype);
  const Random random(seed(), 19);
  constexpr int kShift = 12;
  std::vector<double> x;
  std::vector<double> y;
  for (std::int64_t i = 0; i < kOdd; ++i) {
    const auto index = static_cast<std::uint64_t>(2 * i);
    const auto exponent = static_cast<int>(
        random.integer(index, format.min_exponent - format.precision, format.min_exponent));
    const double size = 1.5 + random.uniform(index) / 2;
    x.push_back(round_to(this->kDtype, std::ldexp(random.sign(index) * size, exponent + kShift)));
    y.push_back(round_to(this->kDtype, std::ldexp(random.uniform(index + 1), exponent)));
  }
  this->check(static_cast<float>(std::ldexp(1.1, -kShift)), "subnormal", elements<TypeParam>(x),
              elements<TypeParam>(y));
}

TYPED_TEST(Axpy, Sizes) {
  // Around a pack, a warp, a block, and a tile.
  const std::int64_t tile = 512 * this->kPack;
  for (const std::int64_t n : std::vector<std::int64_t>{
           0,  1,   2,   3,   7,    8,    9,        15,   16,       17,           31,          32,
           33, 255, 256, 257, 1023, 1025, tile - 1, tile, tile + 1, 2 * tile + 1, 3 * tile - 1})
    this->check(this->kAlpha, "normal", this->normals(n, Tensor::a), this->normals(n, Tensor::b),
                {}, degenerate_of(n));
}

TYPED_TEST(Axpy, BeyondOneGrid) {
  const DeviceProperties& device = device_properties();
  const std::int64_t n =
      std::int64_t{device.sm_count} * device.max_threads_per_sm * 2 * this->kPack + kOdd;
  this->check(this->kAlpha, "normal", this->normals(n, Tensor::a), this->normals(n, Tensor::b));
}

// Indices beyond 32 bits, in place: x + x.
TYPED_TEST(Axpy, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kN = kHalf + 4099;
  const std::string reason = too_huge_reason(kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0x3C; // a normal number of each type
  const T everywhere = from_raw_bits<T>(0x3C3C3C3Cu & poison_bits(this->kDtype));
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
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
    axpy::run<T>(1, x.data(), x.data(), x.data(), kN, variant, this->stream_);
    EXPECT_TRUE(holds(x, value(2 * to_double(everywhere)), after, this->stream_))
        << axpy::name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST(Axpy, Misaligned) {
  const std::int64_t tile = 512 * this->kPack;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{5}, std::int64_t{41}, tile + 13}) {
    const auto x = this->normals(n, Tensor::a);
    const auto y = this->normals(n, Tensor::b);
    const Degenerate degenerate = degenerate_of(n);
    for (const std::int64_t k : {1, 3, 4, 7, 8, 12}) {
      this->check(this->kAlpha, "normal", x, y, {k, k, k}, degenerate);
      this->check(this->kAlpha, "normal", x, y, {k, k + 1, k}, degenerate);
      this->check(this->kAlpha, "normal", x, y, {k, k, 0}, degenerate);
    }
    this->check(this->kAlpha, "normal", x, y, {1, 1 + this->kPack, 1 + 2 * this->kPack},
                degenerate);
    this->check(this->kAlpha, "normal", x, y, {0, 1, 2}, degenerate);
  }
}

// out = y (the BLAS form), out = x, and out = x = y.
TYPED_TEST(Axpy, InPlace) {
  using T = TypeParam;
  const std::vector<T> x = this->normals(kOdd, Tensor::a);
  const std::vector<T> y = this->normals(kOdd, Tensor::b);
  for (const Variant variant : kVariants)
    for (const std::int64_t shift : {0, 1})
      for (const std::string out : {"x", "y", "both"}) {
        const bool both = out == "both";
        const Strided place = contiguous({kOdd}, shift);
        const auto device_x = DeviceBuffer<T>::from_host(scatter(x, place), this->stream_);
        const auto device_y = DeviceBuffer<T>::from_host(scatter(y, place), this->stream_);
        T* const first = device_x.data() + shift;
        T* const second = both ? first : device_y.data() + shift;
        T* const to = out == "y" ? second : first;
        axpy::run(this->kAlpha, first, second, to, kOdd, variant, this->stream_);
        const auto& changed = to == first ? device_x : device_y;
        const auto result = gather(changed.to_host(this->stream_), place);
        const std::vector<double> expected = this->oracle(this->kAlpha, x, both ? x : y);
        EXPECT_TRUE(verdict(compare(observe(result), exactly(this->kDtype, {kOdd}, expected)),
                            this->context(variant, "normal, out = " + out, kOdd)));
      }
}

TYPED_TEST(Axpy, SameBitsEveryTime) {
  const auto x = this->normals(kOdd, Tensor::a);
  const auto y = this->normals(kOdd, Tensor::b);
  for (const Variant variant : kVariants) {
    static_assert(axpy::deterministic(Variant::automatic));
    EXPECT_TRUE(same_bits_every_time(this->id(variant),
                                     [&] { return this->run(this->kAlpha, variant, x, y); }));
  }
}

// Permuted, negated and scaled arguments.
TYPED_TEST(Axpy, Relations) {
  using T = TypeParam;
  constexpr std::int64_t kN = 4999;
  const std::vector<double> x = normal(this->kDtype, kN, Tensor::a).values;
  const std::vector<double> y = normal(this->kDtype, kN, Tensor::b).values;
  const std::vector<std::int64_t> order = permutation(kN);
  const auto negated = [](std::vector<double> values) {
    for (double& value : values) value = -value;
    return values;
  };
  for (const Variant variant : kVariants) {
    const auto of = [&](float alpha, const std::vector<double>& u, const std::vector<double>& v) {
      return this->run(alpha, variant, elements<T>(u), elements<T>(v));
    };
    const std::vector<T> result = of(this->kAlpha, x, y);
    EXPECT_TRUE(same_bits("permuted",
                          of(this->kAlpha, permuted_rows(x, order), permuted_rows(y, order)),
                          permuted_rows(result, order)));
    EXPECT_TRUE(
        same_bits("(-alpha) (-x) + y = alpha x + y", of(-this->kAlpha, negated(x), y), result));
    EXPECT_TRUE(same_bits("(2 alpha) (x / 2) + y = alpha x + y",
                          of(2 * this->kAlpha, scaled(x, -1), y), result));
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Axpy, WaitsForItsStream) {
  using T = TypeParam;
  constexpr std::int64_t kN = 3001;
  const std::vector<T> x = this->normals(kN, Tensor::a);
  const std::vector<T> y = this->normals(kN, Tensor::b);
  const auto device_y = DeviceBuffer<T>::from_host(y, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> out(x.size());
    const LateInput<T> late(x, this->stream_);
    axpy::run<T>(this->kAlpha, late.data(), device_y.data(), out.data(), kN, variant,
                 this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", out.to_host(this->stream_),
                          this->run(this->kAlpha, variant, x, y)));
  }
}

TYPED_TEST(Axpy, AutomaticReportsWhatRan) {
  const auto data = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(64), this->stream_);
  LaunchRecorder recorder;
  const Variant ran =
      axpy::run(1, data.data(), data.data(), data.data(), 64, Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(Axpy, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(8), other(8);
  T* const p = data.data();
  T* const q = other.data();
  const T* const null = nullptr;
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    EXPECT_THROW(axpy::run(1, p, p, p, -1, variant, this->stream_), Error);
    EXPECT_THROW(axpy::run(1, null, p, p, 8, variant, this->stream_), Error);
    EXPECT_THROW(axpy::run(1, p, null, p, 8, variant, this->stream_), Error);
    EXPECT_THROW(axpy::run<T>(1, p, p, nullptr, 8, variant, this->stream_), Error);
    EXPECT_THROW(axpy::run<T>(1, p, q, p + 1, 4, variant, this->stream_), Error);
    EXPECT_THROW(axpy::run<T>(1, q, p, p + 3, 4, variant, this->stream_), Error);
    EXPECT_NO_THROW(axpy::run<T>(1, null, null, nullptr, 0, variant, this->stream_));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Axpy, WorkIsTwoReadsAndOneWrite) {
  const Work work = axpy::work(this->kDtype, 1000);
  EXPECT_EQ(work.bytes, 3000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 2000.0);
}

} // namespace
} // namespace kg::test
