// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// pooling against the oracle and every vendor. Maxima are exact; averages are too where sums are,
// since the quotient is rounded once in f32, and its integers are far from the midpoints of f16 and
// bf16.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/pooling_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/pooling/pooling.h"

namespace kg::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TYPED_TEST_SUITE(PoolingTest, FloatTypes, DtypeNames);

// Integers as wide as the type, whose sums over these windows are exact in f32 and in nothing less.
TYPED_TEST(PoolingTest, ExactFill) {
  const std::int64_t widest = this->kDtype == Dtype::f32   ? 1 << 18
                              : this->kDtype == Dtype::f16 ? 2047
                                                           : 255;
  for (const Problem& problem : window_problems()) {
    const std::vector<double> x =
        integers(this->kDtype, problem.inputs(), widest, Tensor::a).values;
    for (const Kind kind : kKinds) {
      auto right = this->reference(kind, problem, x);
      for (double& value : right.value) value = round_to(this->kDtype, value);
      right.tolerance.clear();
      const Expectation expected = this->expectation(problem, right);
      EXPECT_TRUE(not_vacuous(expected)) << name(kind) << " " << text(problem);
      for (const Variant variant : kVariants) {
        const auto y =
            this->run(kind, variant, problem, elements<TypeParam>(x_in_layout(x, problem)));
        EXPECT_TRUE(verdict(compare(observe(y), expected),
                            this->context(kind, variant, "integers", problem)));
      }
    }
  }
}

TYPED_TEST(PoolingTest, RandomAgainstOracle) {
  for (const Problem& problem : window_problems())
    this->check("normal", problem, this->normals(problem));
}

// A maximum must not begin at 0.
TYPED_TEST(PoolingTest, NegativeData) {
  for (const Problem& problem : window_problems()) {
    std::vector<double> x = positive(this->kDtype, problem.inputs(), Tensor::a).values;
    for (double& value : x) value = -value;
    this->check("negative", problem, x);
  }
}

TYPED_TEST(PoolingTest, WindowsOfPaddingAlone) {
  for (const Problem& problem : padding_problems())
    this->check("normal", problem, this->normals(problem));
}

TYPED_TEST(PoolingTest, RandomAgainstVendors) {
  using T = TypeParam;
  bool any = false;
  for (const Problem& problem : window_problems()) {
    const std::vector<double> values = this->normals(problem);
    const std::vector<T> x = elements<T>(x_in_layout(values, problem));
    for (const Kind kind : kKinds) {
      const auto vendors = vendor::pooling_variants(kind, this->kDtype, problem);
      if (vendors.empty()) continue;
      any = true;
      const auto right = this->reference(kind, problem, values);
      const Expectation expected = this->expectation(problem, right);
      for (const Variant variant : kVariants) {
        const Observed ours = observe(
            this->run(kind, variant, problem, x)); // before the vendor writes the same values
        EXPECT_TRUE(
            verdict(compare(ours, expected), this->context(kind, variant, "normal", problem)));
        for (const std::string_view vendor : vendors) {
          const auto device_x = DeviceBuffer<T>::from_host(x, this->stream_);
          const DeviceBuffer<T> device_y(right.value.size());
          vendor::pooling(vendor, kind, this->kDtype, problem, device_x.data(), device_y.data(),
                          this->stream_);
          const Observed theirs = observe(device_y.to_host(this->stream_));
          EXPECT_TRUE(verdict(
              compare_with_vendor(ours, theirs, expected),
              this->context(kind, variant, "normal beside " + std::string(vendor), problem)));
        }
      }
    }
  }
  if (!any) report_no_vendor("pooling", this->kDtype);
}

// Around a pack of channels, a strip, a warp and a block of either axis.
TYPED_TEST(PoolingTest, Sizes) {
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  for (const std::int64_t channels : {1, 3, 4, 6, 8, 9, 12, 17})
    for (const Problem& problem :
         in_both_layouts({{1, channels, 3, 5, three, three},
                          {2, channels, 3, 3, {.kernel = 3}, {.kernel = 3}}}))
      this->check("normal", problem, this->normals(problem));
  for (const std::int64_t extent : {1, 3, 4, 5, 8, 9, 31, 33, 129})
    for (const Problem& problem : in_both_layouts(
             {{1, 8, 2, extent, {.kernel = 2}, three}, {1, 8, extent, 2, three, {.kernel = 2}}}))
      this->check("normal", problem, this->normals(problem));
}

// Planes around a warp, its four loads, and a block; one and many images. Positive data, so that
// the averages of large planes are not near 0.
TYPED_TEST(PoolingTest, GlobalSizes) {
  const auto global = [](std::int64_t batch, std::int64_t channels, std::int64_t height,
                         std::int64_t width) {
    return Problem{batch, channels, height, width, {.kernel = height}, {.kernel = width}};
  };
  const std::int64_t lanes = 32 * this->kPack;
  for (const Problem& problem :
       in_both_layouts({global(1, 9, 1, 31), global(9, 3, 1, 129), global(1, 8, 1, lanes - 1),
                        global(2, 8, 1, lanes + 8), global(1, 8, 5, lanes),
                        global(2, 40 * this->kPack, 2, 3), global(1, 8, 16, 17)})) {
    std::vector<double> x = this->normals(problem);
    for (double& value : x) value = std::fabs(value);
    this->check("positive normal", problem, x);
  }
}

// More images than a grid's y extent could count.
TYPED_TEST(PoolingTest, ManyImages) {
  const std::int64_t images = device_properties().max_grid_yz + 4;
  const Problem problem{images, 1, 1, 2, {}, {.kernel = 1, .stride = 2}, false, Layout::nhwc};
  const auto x = this->normals(problem);
  const auto right = this->reference(Kind::max, problem, x);
  for (const Variant variant : kVariants) {
    const auto y = this->run(Kind::max, variant, problem, elements<TypeParam>(x));
    EXPECT_TRUE(verdict(compare(observe(y), this->expectation(problem, right)),
                        this->context(Kind::max, variant, "normal", problem)));
  }
}

// Indices beyond 32 bits.
TYPED_TEST(PoolingTest, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  for (const Problem& problem : in_both_layouts({{1, 8, 16384, 16400, {}, {}}})) {
    const std::int64_t n = problem.inputs();
    const std::string reason = too_huge_reason(2 * static_cast<std::size_t>(n) * sizeof(T));
    if (!reason.empty()) GTEST_SKIP() << reason;
    constexpr unsigned char kByte = 0x3C; // a normal number of each type
    const T everywhere = from_raw_bits<T>(0x3C3C3C3Cu & poison_bits(this->kDtype));
    const DeviceBuffer<T> x(static_cast<std::size_t>(n));
    fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
    Marks<T> marks;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, n - 1})
      marks[index] = elements<T>(std::vector<double>{next++})[0];
    put(marks, x, this->stream_);
    for (const Variant variant : kVariants) {
      const DeviceBuffer<T> y(static_cast<std::size_t>(n));
      pooling::run<T>(Kind::max, problem, x.data(), y.data(), variant, this->stream_);
      EXPECT_TRUE(holds(y, everywhere, marks, this->stream_)) << pooling::name(variant);
      EXPECT_NO_THROW(y.check_guards());
    }
  }
}

TYPED_TEST(PoolingTest, Misaligned) {
  const std::int64_t pack = this->kPack; // nvcc 13 loses a member named in the list of a loop
  const pooling::Axis three{.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  for (const Problem& problem :
       in_both_layouts({{1, 16, 5, 7, three, three}, {2, 16, 4, 8, {.kernel = 4}, {.kernel = 8}}}))
    for (const Offsets offsets :
         {Offsets{1, 1}, Offsets{0, 3}, Offsets{4, 0}, Offsets{pack, 2 * pack}})
      this->check("normal", problem, this->normals(problem), Degenerate::no, offsets);
}

TYPED_TEST(PoolingTest, EmptyProblems) {
  for (const Problem& problem : in_both_layouts({{0, 5, 4, 4, {.kernel = 2}, {.kernel = 2}},
                                                 {5, 0, 4, 4, {.kernel = 2}, {.kernel = 2}}}))
    for (const Kind kind : kKinds)
      for (const Variant variant : kVariants)
        EXPECT_TRUE(this->run(kind, variant, problem, {}).empty());
}

// NaN and infinities in every place of a window, the ends of the range, and zeros of both signs
// (whose maximum may be either).
TYPED_TEST(PoolingTest, SpecialValues) {
  const double largest = max_finite(this->kDtype);
  const double least = min_subnormal(this->kDtype);
  for (const Problem& problem :
       in_both_layouts({{1, 16, 9, 13, {.kernel = 2}, {.kernel = 3, .stride = 2}},
                        {16, 8, 3, 3, {.kernel = 3}, {.kernel = 3}}})) {
    std::vector<double> x = this->normals(problem);
    const Random random(seed(), 23);
    const std::vector<double> special = {kNan,  kInfinity, -kInfinity, largest, -largest,
                                         least, -least,    0.0,        -0.0};
    for (std::size_t i = 0; i < x.size(); ++i)
      if (random.chance(i, 0.15))
        x[i] = special[static_cast<std::size_t>(
            random.integer(i, 0, static_cast<std::int64_t>(special.size()) - 1))];
    // Sums of the largest numbers overflow in f32 alone, and there at another place than in fp64.
    if (this->kDtype != Dtype::f16)
      for (double& value : x)
        value = std::fabs(value) == largest ? std::copysign(1e30, value) : value;
    for (double& value : x) value = round_to(this->kDtype, value);
    this->check("special", problem, x);
    for (const double everywhere : {kNan, -kInfinity, -largest, -0.0})
      if (!(everywhere == -largest && this->kDtype != Dtype::f16))
        this->check("constant", problem, std::vector<double>(x.size(), everywhere),
                    everywhere == 0 ? Degenerate::zero : Degenerate::constant);
  }
}

// Windows of one element hand on every pattern: NaN as some NaN, all else bit for bit.
TYPED_TEST(PoolingTest, AllPatternsPass) {
  using T = TypeParam;
  const Problem problem{1, 16, 64, 64, {}, {}, false, Layout::nhwc};
  const auto bits = sizeof(T) == 2 ? all_bits(this->kDtype) : unique_bits(this->kDtype, 1 << 16);
  const std::vector<T> x = elements_of_bits<T>(bits);
  const std::vector<double> values = observe(x).values;
  const Expectation expected = exactly(this->kDtype, {1, 64, 64, 16}, values);
  for (const Variant variant : kVariants)
    EXPECT_TRUE(verdict(compare(observe(this->run(Kind::max, variant, problem, x)), expected),
                        this->context(Kind::max, variant, "all_bits", problem)));
}

// Both layouts hold the same problem; planes are computed apart; scaling by a power of two is
// exact.
TYPED_TEST(PoolingTest, Relations) {
  using T = TypeParam;
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  Problem problem{2, 8, 9, 10, three, three};
  const std::vector<double> x = this->normals(problem);
  const std::int64_t plane = problem.out_height() * problem.out_width();
  for (const Kind kind : kKinds)
    for (const Variant variant : kVariants) {
      problem.layout = Layout::nhwc;
      const std::vector<T> channels_last =
          this->run(kind, variant, problem, elements<T>(x_in_layout(x, problem)));
      const Problem last = problem;
      problem.layout = Layout::nchw;
      const std::vector<T> y = this->run(kind, variant, problem, elements<T>(x));
      if (kind == Kind::max || variant == Variant::naive) { // the others add in another order
        EXPECT_TRUE(same_bits("both layouts", channels_last, y_in_layout(y, last)));
      }
      std::vector<double> changed = x;
      changed[static_cast<std::size_t>(5 * 90 + 37)] = kNan;
      EXPECT_TRUE(
          only_row_differs(y, this->run(kind, variant, problem, elements<T>(changed)), plane, 5))
          << pooling::name(variant);
      std::vector<double> expected = observe(y).values;
      EXPECT_TRUE(same_bits("pooling(4 x) = 4 pooling(x)",
                            this->run(kind, variant, problem, elements<T>(scaled(x, 2))),
                            elements<T>(scaled(expected, 2))));
    }
}

TYPED_TEST(PoolingTest, SameBitsEveryTime) {
  const pooling::Axis three{.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  for (const Problem& problem : in_both_layouts(
           {{2, 8, 9, 10, three, three}, {3, 24, 9, 10, {.kernel = 9}, {.kernel = 10}}})) {
    const auto x = elements<TypeParam>(this->normals(problem));
    for (const Kind kind : kKinds)
      for (const Variant variant : kVariants) {
        static_assert(pooling::deterministic(Variant::automatic));
        EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
          return this->run(kind, variant, problem, x);
        })) << name(kind);
      }
  }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(PoolingTest, WaitsForItsStream) {
  using T = TypeParam;
  for (const Problem& problem : in_both_layouts({{1, 8, 9, 10, {.kernel = 2}, {.kernel = 2}},
                                                 {1, 8, 9, 10, {.kernel = 9}, {.kernel = 10}}})) {
    const std::vector<T> x = elements<T>(this->normals(problem));
    for (const Variant variant : kVariants) {
      const DeviceBuffer<T> y(static_cast<std::size_t>(problem.outputs()));
      const LateInput<T> late(x, this->stream_);
      pooling::run<T>(Kind::max, problem, late.data(), y.data(), variant, this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_),
                            this->run(Kind::max, variant, problem, x)));
    }
  }
}

TYPED_TEST(PoolingTest, AutomaticReportsWhatRan) {
  const auto data = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(64), this->stream_);
  const DeviceBuffer<TypeParam> y(64);
  LaunchRecorder recorder;
  const Variant ran =
      pooling::run<TypeParam>(Kind::max, {1, 4, 4, 4, {.kernel = 2}, {.kernel = 2}}, data.data(),
                              y.data(), Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
  ASSERT_EQ(recorder.launches().size(), 1u);
  EXPECT_NE(recorder.launches()[0].kernel_name.find("strips"), std::string::npos);
}

TYPED_TEST(PoolingTest, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> x(64), y(64);
  const Problem right{1, 4, 4, 4, {.kernel = 2}, {.kernel = 2}};
  LaunchRecorder recorder;
  const auto refused = [&](auto change, const T* from, T* to) {
    Problem wrong = right;
    change(wrong);
    for (const Variant variant : kVariants)
      EXPECT_THROW(pooling::run<T>(Kind::max, wrong, from, to, variant, this->stream_), Error)
          << text(wrong);
  };
  const auto same = [](Problem&) {};
  refused(same, nullptr, y.data());
  refused(same, x.data(), nullptr);
  refused([](Problem& p) { p.batch = -1; }, x.data(), y.data());
  refused([](Problem& p) { p.channels = -1; }, x.data(), y.data());
  refused([](Problem& p) { p.height = 0; }, x.data(), y.data());
  refused([](Problem& p) { p.width = std::int64_t{1} << 30; }, x.data(), y.data());
  refused([](Problem& p) { p.vertical.kernel = 0; }, x.data(), y.data());
  refused([](Problem& p) { p.horizontal.stride = 0; }, x.data(), y.data());
  refused([](Problem& p) { p.vertical.pad_before = -1; }, x.data(), y.data());
  refused([](Problem& p) { p.horizontal.pad_after = -1; }, x.data(), y.data());
  refused([](Problem& p) { p.vertical.dilation = 0; }, x.data(), y.data());
  refused([](Problem& p) { p.horizontal.kernel = 5; }, x.data(), y.data());
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(PoolingTest, WorkIsOneReadAndOneWrite) {
  const Work work = pooling::work(
      this->kDtype, {2, 3, 8, 10, {.kernel = 2, .stride = 2}, {.kernel = 2, .stride = 2}});
  EXPECT_EQ(work.bytes, (480.0 + 120.0) * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 480.0);
}

} // namespace
} // namespace kg::test
