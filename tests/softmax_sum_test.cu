// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax_sum against the oracle and, in f32, the libraries' softmax and product; the tolerance and
// its derivation in tests/oracle/oracle_softmax_sum.h.
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/softmax_sum_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/softmax_sum/softmax_sum.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(SoftmaxSum, FloatTypes, DtypeNames);

constexpr std::int64_t kTerms = 7; // not a multiple of the terms that are loaded together
constexpr std::int64_t kOdd = 5003;

// Weights of powers of two, all or one of four terms among the others, whose weights are 0, and
// integers: every sum is exact, in the type, too.
TYPED_TEST(SoftmaxSum, ExactFill) {
  using T = TypeParam;
  const double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t most = (std::int64_t{1} << (float_format(this->kDtype).precision - 2)) - 1;
  const auto scaled_by_4 = [](std::vector<double> values) {
    for (double& value : values) value *= 4;
    return values;
  };
  const std::vector<double> x =
      scaled_by_4(integers(this->kDtype, kTerms * kOdd, most / 4, Tensor::a).values);
  const std::vector<std::vector<double>> alphas = {
      {-infinity, 3, -infinity, 3, 3, -infinity, 3},                          // 1/4 each
      {-infinity, -infinity, -infinity, -infinity, -infinity, 2, -infinity}}; // 1
  for (const std::vector<double>& alpha : alphas) {
    const std::vector<double> weights = softmax_weights(alpha);
    std::vector<double> expected(kOdd, 0);
    for (std::int64_t i = 0; i < kTerms * kOdd; ++i)
      expected[static_cast<std::size_t>(i % kOdd)] +=
          weights[static_cast<std::size_t>(i / kOdd)] * x[static_cast<std::size_t>(i)];
    const Inputs<T> in{elements<T>(x), elements<T>(alpha)};
    const Expectation expectation = exactly(this->kDtype, {kOdd}, expected);
    EXPECT_TRUE(not_vacuous(expectation));
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(this->run(variant, in)), expectation),
                          this->context(variant, "integers", in)));
  }
}

TYPED_TEST(SoftmaxSum, RandomAgainstOracle) { this->check("normal", this->normals(kTerms, kOdd)); }

TYPED_TEST(SoftmaxSum, RandomAgainstVendors) {
  using T = TypeParam;
  if constexpr (!std::is_same_v<T, float>) {
    report_no_vendor("softmax_sum", this->kDtype);
  } else {
    const Inputs<T> in = this->normals(kTerms, kOdd);
    const SoftmaxSumOracle right = this->oracle(in);
    const Expectation expectation{this->kDtype, {kOdd}, right.value, right.tolerance};
    const auto x = DeviceBuffer<T>::from_host(in.x, this->stream_);
    const auto alpha = DeviceBuffer<T>::from_host(in.alpha, this->stream_);
    for (const Variant variant : kVariants) {
      const Observed ours = observe(this->run(variant, in)); // before the vendor
      for (const std::string_view vendor : vendor::softmax_sum_variants()) {
        const DeviceBuffer<T> y(kOdd);
        vendor::softmax_sum(vendor, x.data(), alpha.data(), y.data(), kTerms, kOdd, this->stream_);
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours, observe(y.to_host(this->stream_)), expectation),
                    this->context(variant, "normal beside " + std::string(vendor), in)));
      }
    }
  }
}

// Zeros, infinities, NaNs, the ends of the ranges beside normals; and each as one of alpha.
TYPED_TEST(SoftmaxSum, SpecialValues) {
  using T = TypeParam;
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const BitPairs pairs = special_pairs(this->kDtype);
  std::vector<T> x = elements_of_bits<T>(pairs.a);
  const std::vector<T> second = elements_of_bits<T>(pairs.b);
  x.insert(x.end(), second.begin(), second.end());
  this->check("special", {x, elements<T>(std::vector<double>{2, 2})}); // halves: no sum overflows
  const Inputs<T> in = this->normals(3, 41);
  this->check("one weight of 0", {in.x, elements<T>(std::vector<double>{1, -infinity, 0.5})});
  for (const std::vector<double>& alpha :
       {std::vector<double>{1, nan, 0.5}, {1, infinity, 0.5}, {-infinity, -infinity, -infinity}})
    this->check("weights of NaN", {in.x, elements<T>(alpha)}, {}, Degenerate::constant);
}

// Every pattern of a 16-bit type, and as many of f32 spread over all kinds, as the one term that
// has a weight.
TYPED_TEST(SoftmaxSum, AllPatterns) {
  using T = TypeParam;
  const auto bits = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  this->check("all_bits", {elements_of_bits<T>(bits), elements<T>(std::vector<double>{-3})});
}

// Around the terms that are loaded together, a pack, a block and a tile.
TYPED_TEST(SoftmaxSum, Sizes) {
  const std::int64_t tile = this->kTile;
  for (const std::int64_t terms : {1, 3, 4, 5, 8, 64})
    for (const std::int64_t n : {0, 1, 3, 9, 33}) this->check("normal", this->normals(terms, n));
  for (const std::int64_t n : {std::int64_t{255}, std::int64_t{257}, tile - 1, tile, tile + 1})
    this->check("normal", this->normals(2, n));
}

TYPED_TEST(SoftmaxSum, BeyondOneGrid) {
  const std::int64_t n = std::int64_t{device_properties().sm_count} * 4 * this->kTile + 1003;
  this->check("normal", this->normals(2, n));
}

// Indices beyond 32 bits: the second of two terms, whose weight is 1, ends there.
TYPED_TEST(SoftmaxSum, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kN = (std::int64_t{1} << 30) + 4099;
  const std::string reason = too_huge_reason(3 * kN * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto value = [](double x) { return elements<T>(std::vector<double>{x})[0]; };
  const double infinity = std::numeric_limits<double>::infinity();
  const auto alpha =
      DeviceBuffer<T>::from_host(elements<T>(std::vector<double>{-infinity, 0}), this->stream_);
  const DeviceBuffer<T> x(2 * kN);
  DeviceBuffer<T> y(kN);
  fill_bytes(x.data(), 0, x.bytes(), this->stream_);
  Marks<T> before, after;
  double next = 3;
  for (const std::int64_t index : {std::int64_t{0}, (std::int64_t{1} << 30) - 4099, kN - 1}) {
    before[kN + index] = value(next);
    after[index] = value(next++);
  }
  put(before, x, this->stream_);
  for (const Variant variant : kVariants) {
    y.poison(this->stream_);
    softmax_sum::run<T>(x.data(), alpha.data(), y.data(), 2, kN, variant, this->stream_);
    EXPECT_TRUE(holds(y, value(0), after, this->stream_)) << softmax_sum::name(variant);
  }
}

TYPED_TEST(SoftmaxSum, Misaligned) {
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{5}, std::int64_t{40}, this->kTile + 8}) {
    const auto in = this->normals(5, n);
    for (const std::int64_t k : {1, 3, 4, 8}) {
      this->check("normal", in, {k, k, k});
      this->check("normal", in, {k, 0, 0});
      this->check("normal", in, {0, k, k});
    }
  }
}

TYPED_TEST(SoftmaxSum, SameBitsEveryTime) {
  const auto in = this->normals(kTerms, kOdd);
  for (const Variant variant : kVariants) {
    static_assert(softmax_sum::deterministic(Variant::automatic));
    EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] { return this->run(variant, in); }));
  }
}

// Both variants agree; a constant added to alpha changes nothing where the sums are exact.
TYPED_TEST(SoftmaxSum, Relations) {
  using T = TypeParam;
  const auto in = this->normals(kTerms, kOdd);
  EXPECT_TRUE(same_bits("naive and vectorized", this->run(Variant::naive, in),
                        this->run(Variant::vectorized, in)));
  std::vector<double> alpha, moved;
  for (std::int64_t k = 0; k < kTerms; ++k) {
    alpha.push_back(static_cast<double>(k % 3));
    moved.push_back(alpha.back() + 16);
  }
  for (const Variant variant : kVariants)
    EXPECT_TRUE(same_bits("alpha + 16", this->run(variant, {in.x, elements<T>(moved)}),
                          this->run(variant, {in.x, elements<T>(alpha)})));
}

// On a stream whose earlier work still writes x.
TYPED_TEST(SoftmaxSum, WaitsForItsStream) {
  using T = TypeParam;
  const auto in = this->normals(kTerms, 501);
  const auto alpha = DeviceBuffer<T>::from_host(in.alpha, this->stream_);
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(501);
    const LateInput<T> late(in.x, this->stream_);
    softmax_sum::run<T>(late.data(), alpha.data(), y.data(), kTerms, 501, variant, this->stream_);
    EXPECT_TRUE(
        same_bits("behind a slow kernel", y.to_host(this->stream_), this->run(variant, in)));
  }
}

TYPED_TEST(SoftmaxSum, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto x = DeviceBuffer<T>::from_host(std::vector<T>(64), this->stream_);
  const DeviceBuffer<T> y(32);
  LaunchRecorder recorder;
  const Variant ran =
      softmax_sum::run<T>(x.data(), x.data(), y.data(), 2, 32, Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("vectorized"), std::string::npos);
}

TYPED_TEST(SoftmaxSum, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> memory(128), other(128), results(8);
  const T* const x = memory.data();
  const T* const a = other.data();
  T* const y = results.data();
  LaunchRecorder recorder;
  for (const Variant variant : kVariants) {
    const auto run = [&](const T* from, const T* alpha, T* to, std::int64_t terms, std::int64_t n) {
      softmax_sum::run<T>(from, alpha, to, terms, n, variant, this->stream_);
    };
    EXPECT_THROW(run(x, a, y, 0, 8), Error);
    EXPECT_THROW(run(x, a, y, softmax_sum::kMaxTerms + 1, 1), Error);
    EXPECT_THROW(run(x, a, y, 2, -1), Error);
    EXPECT_THROW(run(nullptr, a, y, 2, 8), Error);
    EXPECT_THROW(run(x, nullptr, y, 2, 8), Error);
    EXPECT_THROW(run(x, a, nullptr, 2, 8), Error);
    EXPECT_THROW(run(y, a, y, 1, 8), Error) << "in place";
    EXPECT_THROW(run(x, y, y, 2, 8), Error) << "alpha within y";
    EXPECT_NO_THROW(run(nullptr, nullptr, nullptr, 2, 0));
  }
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(SoftmaxSum, WorkIsEachElementOnce) {
  const Work work = softmax_sum::work(this->kDtype, 8, 100);
  EXPECT_EQ(work.bytes, 908.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 1600.0);
}

} // namespace
} // namespace kg::test
