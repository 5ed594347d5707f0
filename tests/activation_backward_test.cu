// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// activation_backward against the oracle and every vendor; tolerances and their derivation in
// tests/oracle/tolerance_unary_backward.h. relu has one right value throughout.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/activation_backward_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/activation_backward/activation_backward.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(ActivationBackward, FloatTypes, DtypeNames);

// A multiple of nothing: a few tiles of packs and three elements, about.
constexpr std::int64_t kOdd = 10243;

// Where every legal computation gives the same slope: at 0 a power of two, far away 0 or 1. dy has
// full significands.
TYPED_TEST(ActivationBackward, ExactFill) {
  using T = TypeParam;
  const double infinity = std::numeric_limits<double>::infinity();
  const Random random(seed(), 23);
  std::vector<double> x;
  std::vector<double> dy;
  for (std::int64_t i = 0; i < kOdd; ++i) { // in turn to the right, at 0 and to the left
    const auto index = static_cast<std::uint64_t>(i);
    const bool far = random.integer(index, 0, 1) == 1;
    const double choices[] = {far ? infinity : 300, far ? -0.0 : 0, far ? -infinity : -300};
    x.push_back(choices[i % 3]);
    dy.push_back(
        round_to(this->kDtype, random.sign(index) * (1 + 63 * random.uniform(index + kOdd))));
  }
  for (const Function function : kFunctions) {
    const bool rises = function != Function::sigmoid && function != Function::tanh;
    const double at_zero = function == Function::relu      ? 0
                           : function == Function::sigmoid ? 0.25
                           : function == Function::tanh    ? 1
                                                           : 0.5;
    std::vector<double> expected;
    for (std::size_t i = 0; i < x.size(); ++i)
      expected.push_back(dy[i] * (x[i] == 0 ? at_zero : x[i] > 0 && rises ? 1 : 0));
    const Expectation expectation{this->kDtype, {kOdd}, expected, {}}; // a zero's sign is free
    EXPECT_TRUE(not_vacuous(expectation));
    for (const Variant variant : kVariants) {
      const std::vector<T> dx = this->run(function, variant, elements<T>(x), elements<T>(dy));
      EXPECT_TRUE(verdict(compare(observe(dx), expectation),
                          this->context(function, variant, "limits", x.size())));
    }
  }
}

TYPED_TEST(ActivationBackward, RandomAgainstOracle) {
  for (const Function function : kFunctions)
    this->check(function, "normal", this->normals(kOdd, Tensor::a), this->normals(kOdd, Tensor::b));
}

// From where all slopes are 0, through the tails in which exponentials become subnormal, to the
// same on the right; and the neighbourhood of 0, down to the subnormals.
TYPED_TEST(ActivationBackward, TailsAndNeighbourhoodOfZero) {
  using T = TypeParam;
  std::vector<double> x;
  for (int i = -2200; i <= 2200; ++i) x.push_back(round_to(this->kDtype, 0.05 * i + 1e-3));
  const FloatFormat format = float_format(this->kDtype);
  for (int exponent = format.min_exponent - format.precision + 1; exponent < 2; ++exponent)
    for (const double significand : {1.0, -1.25, 1.75, -1.0})
      x.push_back(round_to(this->kDtype, std::ldexp(significand, exponent)));
  const auto n = static_cast<std::int64_t>(x.size());
  const double factor = this->kDtype == Dtype::f16 ? 256 : 0x1p20; // takes tails above subnormals
  const auto dy = outliers(this->kDtype, n, 2, factor, Tensor::b).values;
  for (const Function function : kFunctions)
    this->check(function, "tails", elements<T>(x), elements<T>(dy), {}, Degenerate::sparse);
}

TYPED_TEST(ActivationBackward, RandomAgainstVendors) {
  using T = TypeParam;
  const std::vector<T> x = this->normals(kOdd, Tensor::a);
  const std::vector<T> dy = this->normals(kOdd, Tensor::b);
  const auto device_x = DeviceBuffer<T>::from_host(x, this->stream_);
  const auto device_dy = DeviceBuffer<T>::from_host(dy, this->stream_);
  for (const Function function : kFunctions) {
    const auto right = this->reference(function, x, dy);
    Expectation expectation = right.expectation();
    expectation.zero = SignedZero::ignored; // libraries' relu gives zeros of either sign
    std::vector<double> y = unary_oracle(oracle_op(function), observe(x).values);
    for (double& value : y) value = round_to(this->kDtype, value);
    const auto device_y = DeviceBuffer<T>::from_host(elements<T>(y), this->stream_);
    const auto theirs = vendor_function(function);
    const auto vendors = vendor::activation_backward_variants(theirs, this->kDtype);
    if (vendors.empty()) report_no_vendor("activation_backward", this->kDtype, name(function));
    for (const Variant variant : kVariants) {
      const Observed ours = observe(this->run(function, variant, x, dy)); // before the vendor
      EXPECT_TRUE(
          verdict(compare(ours, expectation), this->context(function, variant, "normal", kOdd)));
      for (const std::string_view vendor : vendors) {
        const DeviceBuffer<T> device_dx(x.size());
        vendor::activation_backward(vendor, theirs, this->kDtype, device_x.data(), device_y.data(),
                                    device_dy.data(), device_dx.data(), kOdd, this->stream_);
        const Observed result = observe(device_dx.to_host(this->stream_));
        EXPECT_TRUE(verdict(
            compare_with_vendor(ours, result, expectation, right.library_tolerance),
            this->context(function, variant, "normal beside " + std::string(vendor), kOdd)));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges, each against each.
TYPED_TEST(ActivationBackward, SpecialValues) {
  const BitPairs pairs = special_pairs(this->kDtype);
  for (const Function function : kFunctions)
    this->check(function, "special", elements_of_bits<TypeParam>(pairs.a),
                elements_of_bits<TypeParam>(pairs.b), {}, Degenerate::sparse);
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, as x.
TYPED_TEST(ActivationBackward, AllPatterns) {
  using T = TypeParam;
  const auto bits = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  const auto dy = this->normals(static_cast<std::int64_t>(bits.size()), Tensor::b);
  for (const Function function : kFunctions) {
    // Slopes that vanish on both sides: where exponents are many, most patterns have none.
    const bool sparse =
        this->kDtype != Dtype::f16 && (function == Function::sigmoid || function == Function::tanh);
    this->check(function, "all_bits", elements_of_bits<T>(bits), dy, {},
                sparse ? Degenerate::sparse : Degenerate::no);
  }
}

// Around a pack, a warp, a block and a tile.
TYPED_TEST(ActivationBackward, Sizes) {
  const std::int64_t tile = this->kTile;
  for (const std::int64_t n : std::vector<std::int64_t>{
           0,  1,   2,   3,   7,    8,    9,    15,       16,   17,       31,          32,
           33, 255, 256, 257, 1023, 1024, 1025, tile - 1, tile, tile + 1, 2 * tile + 1})
    this->check(Function::silu, "normal", this->normals(n, Tensor::a), this->normals(n, Tensor::b),
                {}, degenerate_of(n));
}

TYPED_TEST(ActivationBackward, BeyondOneGrid) {
  const DeviceProperties& device = device_properties();
  const std::int64_t n = std::int64_t{device.sm_count} * 4 * this->kTile + kOdd;
  this->check(Function::silu, "normal", this->normals(n, Tensor::a), this->normals(n, Tensor::b));
}

// Indices beyond 32 bits, dx = dy: what relu lets through where x = dy.
TYPED_TEST(ActivationBackward, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kN = kHalf + 4099;
  const std::string reason = too_huge_reason(kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned char kByte = 0xBC; // a negative number of each type
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> x(kN);
    fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
    Marks<T> marks;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1})
      marks[index] = value(next++);
    put(marks, x, this->stream_);
    activation_backward::run<T>(Function::relu, x.data(), x.data(), x.data(), kN, variant,
                                this->stream_);
    EXPECT_TRUE(holds(x, value(0), marks, this->stream_)) << activation_backward::name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST(ActivationBackward, Misaligned) {
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{5}, std::int64_t{41}, this->kTile + 13}) {
    const auto x = this->normals(n, Tensor::a);
    const auto dy = this->normals(n, Tensor::b);
    const Degenerate degenerate = degenerate_of(n);
    const auto check = [&](Offsets offsets) {
      this->check(Function::silu, "normal", x, dy, offsets, degenerate);
    };
    for (const std::int64_t k : {1, 2, 3, 4, 5, 7, 8, 12}) {
      check({k, k, k});
      check({k, k + 1, k});
      check({k, k, 0});
    }
    check({1, 1 + this->kPack, 1 + 2 * this->kPack});
    check({0, 1, 2});
  }
}

// dx = x and dx = dy.
TYPED_TEST(ActivationBackward, InPlace) {
  using T = TypeParam;
  const std::vector<T> x = this->normals(kOdd, Tensor::a);
  const std::vector<T> dy = this->normals(kOdd, Tensor::b);
  for (const Function function : kFunctions) {
    const auto right = this->reference(function, x, dy);
    for (const Variant variant : kVariants)
      for (const std::int64_t shift : {0, 1})
        for (const bool over_x : {true, false}) {
          const auto device_x =
              DeviceBuffer<T>::from_host(scatter(x, contiguous({kOdd}, shift)), this->stream_);
          const auto device_dy =
              DeviceBuffer<T>::from_host(scatter(dy, contiguous({kOdd}, shift)), this->stream_);
          const DeviceBuffer<T>& changed = over_x ? device_x : device_dy;
          activation_backward::run<T>(function, device_x.data() + shift, device_dy.data() + shift,
                                      changed.data() + shift, kOdd, variant, this->stream_);
          const auto dx = gather(changed.to_host(this->stream_), contiguous({kOdd}, shift));
          EXPECT_TRUE(verdict(compare(observe(dx), right.expectation()),
                              this->context(function, variant,
                                            over_x ? "normal, dx = x" : "normal, dx = dy", kOdd)));
        }
  }
}

TYPED_TEST(ActivationBackward, SameBitsEveryTime) {
  const auto x = this->normals(kOdd, Tensor::a);
  const auto dy = this->normals(kOdd, Tensor::b);
  for (const Function function : kFunctions)
    for (const Variant variant : kVariants) {
      static_assert(activation_backward::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        return this->run(function, variant, x, dy);
      })) << activation::name(function);
    }
}

// Permuted, negated and scaled operands: the operation is linear in dy.
TYPED_TEST(ActivationBackward, Relations) {
  using T = TypeParam;
  constexpr std::int64_t kN = 4999;
  const std::vector<double> x = normal(this->kDtype, kN, Tensor::a).values;
  const std::vector<double> dy = integers(this->kDtype, kN, 100, Tensor::b).values;
  const auto negated = [](std::vector<double> values) {
    for (double& value : values) value = -value;
    return values;
  };
  const std::vector<std::int64_t> order = permutation(kN);
  for (const Variant variant : kVariants)
    for (const Function function : kFunctions) {
      SCOPED_TRACE(activation::name(function));
      const auto of = [&](const std::vector<double>& first, const std::vector<double>& second) {
        return this->run(function, variant, elements<T>(first), elements<T>(second));
      };
      const std::vector<T> dx = of(x, dy);
      EXPECT_TRUE(same_bits("permuted operands permute dx",
                            of(permuted_rows(x, order), permuted_rows(dy, order)),
                            permuted_rows(dx, order)));
      if (function == Function::sigmoid || function == Function::tanh) {
        EXPECT_TRUE(same_bits("the slope is even", of(negated(x), dy), dx));
      }
      const std::vector<double> twice = scaled(observe(dx).values, 1);
      EXPECT_EQ(observe(of(x, scaled(dy, 1))).values, twice);
    }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(ActivationBackward, WaitsForItsStream) {
  using T = TypeParam;
  constexpr std::int64_t kN = 3001;
  const std::vector<T> x = this->normals(kN, Tensor::a);
  const std::vector<T> dy = this->normals(kN, Tensor::b);
  const auto device_dy = DeviceBuffer<T>::from_host(dy, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> dx(x.size());
    const LateInput<T> late(x, this->stream_);
    activation_backward::run<T>(Function::gelu, late.data(), device_dy.data(), dx.data(), kN,
                                variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", dx.to_host(this->stream_),
                          this->run(Function::gelu, variant, x, dy)));
  }
}

TYPED_TEST(ActivationBackward, AutomaticReportsWhatRan) {
  const auto data = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(64), this->stream_);
  LaunchRecorder recorder;
  const Variant ran = activation_backward::run<TypeParam>(
      Function::tanh, data.data(), data.data(), data.data(), 64, Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(ActivationBackward, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(8);
  T* const p = data.data();
  LaunchRecorder recorder;
  const auto run = [&](const T* x, const T* dy, T* dx, std::int64_t n, Variant variant) {
    activation_backward::run<T>(Function::relu, x, dy, dx, n, variant, this->stream_);
  };
  for (const Variant variant : kVariants) {
    EXPECT_THROW(run(p, p, p, -1, variant), Error);
    EXPECT_THROW(run(nullptr, p, p, 8, variant), Error);
    EXPECT_THROW(run(p, nullptr, p, 8, variant), Error);
    EXPECT_THROW(run(p, p, nullptr, 8, variant), Error);
    EXPECT_NO_THROW(run(nullptr, nullptr, nullptr, 0, variant));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(ActivationBackward, WorkIsTwoReadsAndOneWrite) {
  const Work work = activation_backward::work(this->kDtype, 1000);
  EXPECT_EQ(work.bytes, 3000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 1000.0);
}

} // namespace
} // namespace kg::test
