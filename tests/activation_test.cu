// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// activation against the oracle and every vendor; tolerances and their derivation in
// tests/oracle/tolerance_unary.h. relu has one right value throughout.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/activation_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Activation, FloatTypes, DtypeNames);

// A multiple of nothing: a few tiles of packs and three elements, about.
constexpr std::int64_t kOdd = 10243;

// Where every legal computation gives the same number: zeros, and arguments so large that the
// result is the limit or the argument itself. As many of them as there are results: large positive
// arguments have full significands.
TYPED_TEST(Activation, ExactFill) {
  using T = TypeParam;
  const double infinity = std::numeric_limits<double>::infinity();
  const Random random(seed(), 19);
  std::vector<double> x;
  for (std::int64_t i = 0; i < kOdd; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const double large = round_to(this->kDtype, 128 + 4096 * random.uniform(index));
    const double choices[] = {large, large, -large, 0, -0.0, infinity, -infinity};
    x.push_back(choices[random.integer(index, 0, 6)]);
  }
  for (const Function function : kFunctions) {
    std::vector<double> expected;
    for (const double value : x) {
      const bool positive = value > 0;
      double y = positive ? value : value == 0 ? value : function == Function::relu ? 0.0 : -0.0;
      if (function == Function::sigmoid) y = value == 0 ? 0.5 : positive ? 1 : 0;
      if (function == Function::tanh && value != 0) y = positive ? 1 : -1;
      expected.push_back(y);
    }
    const Expectation expectation = exactly(this->kDtype, {kOdd}, expected);
    EXPECT_TRUE(not_vacuous(expectation));
    for (const Variant variant : kVariants) {
      const std::vector<T> y = this->run(function, variant, elements<T>(x));
      EXPECT_TRUE(verdict(compare(observe(y), expectation),
                          this->context(function, variant, "limits", x.size())));
    }
  }
}

TYPED_TEST(Activation, RandomAgainstOracle) {
  for (const Function function : kFunctions) this->check(function, "normal", this->normals(kOdd));
}

// From where all functions are at their limits on the left, through the tails in which exponentials
// become subnormal, to the same on the right; and the neighbourhood of 0, down to the subnormals.
TYPED_TEST(Activation, TailsAndNeighbourhoodOfZero) {
  std::vector<double> x;
  for (int i = -2200; i <= 600; ++i) x.push_back(round_to(this->kDtype, 0.05 * i + 1e-3));
  const FloatFormat format = float_format(this->kDtype);
  for (int exponent = format.min_exponent - format.precision + 1; exponent < 2; ++exponent)
    for (const double significand : {1.0, -1.25, 1.75, -1.0})
      x.push_back(round_to(this->kDtype, std::ldexp(significand, exponent)));
  for (const Function function : kFunctions) // all but tanh have zeros on the left
    this->check(function, "tails", elements<TypeParam>(x), {},
                function == Function::tanh ? Degenerate::no : Degenerate::sparse);
}

TYPED_TEST(Activation, RandomAgainstVendors) {
  using T = TypeParam;
  const std::vector<T> x = this->normals(kOdd);
  const auto device_x = DeviceBuffer<T>::from_host(x, this->stream_);
  for (const Function function : kFunctions) {
    const auto right = this->reference(function, x);
    const Expectation expectation = right.expectation();
    const std::vector<double> vendor_tolerance =
        library_tolerances(oracle_op(function), this->kDtype, observe(x).values, right.value);
    const auto vendors = vendor::activation_variants(vendor_function(function), this->kDtype);
    if (vendors.empty()) report_no_vendor("activation", this->kDtype, name(function));
    for (const Variant variant : kVariants) {
      const Observed ours = observe(this->run(function, variant, x)); // before the vendor
      EXPECT_TRUE(
          verdict(compare(ours, expectation), this->context(function, variant, "normal", kOdd)));
      for (const std::string_view vendor : vendors) {
        const DeviceBuffer<T> device_y(x.size());
        vendor::activation(vendor, vendor_function(function), this->kDtype, device_x.data(),
                           device_y.data(), kOdd, this->stream_);
        const Observed theirs = observe(device_y.to_host(this->stream_));
        EXPECT_TRUE(verdict(
            compare_with_vendor(ours, theirs, expectation, vendor_tolerance),
            this->context(function, variant, "normal beside " + std::string(vendor), kOdd)));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the subnormal and normal ranges.
TYPED_TEST(Activation, SpecialValues) {
  std::vector<std::uint64_t> bits;
  for (int repeat = 0; repeat < 3; ++repeat) // in packs, at their ends and behind them
    for (const SpecialValue& special : special_values(this->kDtype)) bits.push_back(special.bits);
  bits.push_back(bits[0]);
  for (const Function function : kFunctions)
    this->check(function, "special", elements_of_bits<TypeParam>(bits));
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds.
TYPED_TEST(Activation, AllPatterns) {
  using T = TypeParam;
  const auto bits = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  for (const Function function : kFunctions)
    this->check(function, "all_bits", elements_of_bits<T>(bits));
}

// Around a pack, a warp, a block and a tile.
TYPED_TEST(Activation, Sizes) {
  const std::int64_t tile = this->kTile;
  for (const std::int64_t n : std::vector<std::int64_t>{
           0,  1,   2,   3,   7,    8,    9,    15,       16,   17,       31,          32,
           33, 255, 256, 257, 1023, 1024, 1025, tile - 1, tile, tile + 1, 2 * tile + 1})
    this->check(Function::silu, "normal", this->normals(n), {}, degenerate_of(n));
}

TYPED_TEST(Activation, BeyondOneGrid) {
  const DeviceProperties& device = device_properties();
  const std::int64_t n = std::int64_t{device.sm_count} * 4 * this->kTile + kOdd;
  this->check(Function::relu, "normal", this->normals(n));
}

// Indices beyond 32 bits, in place.
TYPED_TEST(Activation, MoreThan2To31Elements) {
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
    activation::run<T>(Function::relu, x.data(), x.data(), kN, variant, this->stream_);
    EXPECT_TRUE(holds(x, value(0), marks, this->stream_)) << activation::name(variant);
    EXPECT_NO_THROW(x.check_guards());
  }
}

TYPED_TEST(Activation, Misaligned) {
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{5}, std::int64_t{41}, this->kTile + 13}) {
    const auto x = this->normals(n);
    const Degenerate degenerate = degenerate_of(n);
    for (const std::int64_t k : {1, 2, 3, 4, 5, 7, 8, 12}) {
      this->check(Function::silu, "normal", x, {k, k}, degenerate);
      this->check(Function::silu, "normal", x, {k, k + 1}, degenerate);
    }
    this->check(Function::silu, "normal", x, {0, 1}, degenerate);
    this->check(Function::silu, "normal", x, {1, 1 + this->kPack}, degenerate);
  }
}

TYPED_TEST(Activation, InPlace) {
  using T = TypeParam;
  const std::vector<T> x = this->normals(kOdd);
  for (const Function function : kFunctions) {
    const auto right = this->reference(function, x);
    for (const Variant variant : kVariants) {
      for (const std::int64_t shift : {0, 1}) {
        const auto device =
            DeviceBuffer<T>::from_host(scatter(x, contiguous({kOdd}, shift)), this->stream_);
        T* const both = device.data() + shift;
        activation::run<T>(function, both, both, kOdd, variant, this->stream_);
        const auto y = gather(device.to_host(this->stream_), contiguous({kOdd}, shift));
        EXPECT_TRUE(verdict(compare(observe(y), right.expectation()),
                            this->context(function, variant, "normal, y = x", kOdd)));
      }
    }
  }
}

TYPED_TEST(Activation, SameBitsEveryTime) {
  const auto x = this->normals(kOdd);
  for (const Function function : kFunctions)
    for (const Variant variant : kVariants) {
      static_assert(activation::deterministic(Variant::automatic));
      EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
        return this->run(function, variant, x);
      })) << activation::name(function);
    }
}

// Permuted and negated arguments.
TYPED_TEST(Activation, Relations) {
  using T = TypeParam;
  constexpr std::int64_t kN = 4999;
  const std::vector<double> x = normal(this->kDtype, kN, Tensor::a).values;
  const std::vector<double> negative = [&] {
    std::vector<double> values = x;
    for (double& value : values) value = -value;
    return values;
  }();
  const std::vector<std::int64_t> order = permutation(kN);
  for (const Variant variant : kVariants) {
    const auto of = [&](Function function, const std::vector<double>& values) {
      return this->run(function, variant, elements<T>(values));
    };
    for (const Function function : kFunctions)
      EXPECT_TRUE(same_bits("f(P x) = P f(x)", of(function, permuted_rows(x, order)),
                            permuted_rows(of(function, x), order)))
          << activation::name(function);
    std::vector<double> opposite = observe(of(Function::tanh, x)).values;
    for (double& value : opposite) value = -value;
    EXPECT_TRUE(
        same_bits("tanh(-x) = -tanh(x)", of(Function::tanh, negative), elements<T>(opposite)));
    // max(x, 0) - max(-x, 0) = x, and the gates of x and -x add up to 1.
    for (const Function function :
         {Function::relu, Function::silu, Function::gelu, Function::gelu_tanh}) {
      const std::vector<double> right = observe(of(function, x)).values;
      const std::vector<double> left = observe(of(function, negative)).values;
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(right[i] - left[i], x[i], 4 * ulp(this->kDtype, x[i]))
            << activation::name(function) << " of " << x[i];
    }
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Activation, WaitsForItsStream) {
  using T = TypeParam;
  constexpr std::int64_t kN = 3001;
  const std::vector<T> x = this->normals(kN);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(x.size());
    const LateInput<T> late(x, this->stream_);
    activation::run<T>(Function::gelu, late.data(), y.data(), kN, variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_),
                          this->run(Function::gelu, variant, x)));
  }
}

TYPED_TEST(Activation, AutomaticReportsWhatRan) {
  const auto data = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(64), this->stream_);
  LaunchRecorder recorder;
  const Variant ran = activation::run<TypeParam>(Function::tanh, data.data(), data.data(), 64,
                                                 Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(Activation, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(8);
  T* const p = data.data();
  LaunchRecorder recorder;
  const auto run = [&](const T* x, T* y, std::int64_t n, Variant variant) {
    activation::run<T>(Function::relu, x, y, n, variant, this->stream_);
  };
  for (const Variant variant : kVariants) {
    EXPECT_THROW(run(p, p, -1, variant), Error);
    EXPECT_THROW(run(nullptr, p, 8, variant), Error);
    EXPECT_THROW(run(p, nullptr, 8, variant), Error);
    EXPECT_NO_THROW(run(nullptr, nullptr, 0, variant));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Activation, WorkIsOneReadAndOneWrite) {
  const Work work = activation::work(this->kDtype, 1000);
  EXPECT_EQ(work.bytes, 2000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 1000.0);
}

} // namespace
} // namespace kg::test
