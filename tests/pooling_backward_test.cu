// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// pooling_backward against the oracle and every vendor. The bound and its derivation are in
// pooling_backward_fixture.h; where no windows overlap the gradient of a maximum has none.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/vendor_comparison.h"
#include "tests/pooling_backward_fixture.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/pooling/pooling.h"
#include "vendor/pooling_backward/pooling_backward.h"

namespace kg::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TYPED_TEST_SUITE(PoolingBackwardTest, FloatTypes, DtypeNames);

// Integers whose sums are exact in f32 and in nothing less; of averages, the shares are too where
// every window counts a power of two. x has few values, so that most windows have ties.
TYPED_TEST(PoolingBackwardTest, ExactFill) {
  const std::int64_t widest = this->kDtype == Dtype::f32   ? 1 << 18
                              : this->kDtype == Dtype::f16 ? 2047
                                                           : 255;
  const pooling::Axis two{.kernel = 2, .pad_before = 1, .pad_after = 1};
  const pooling::Axis four{.kernel = 4, .stride = 2};
  std::vector<Problem> problems = window_problems();
  const std::vector<Problem> halving =
      in_both_layouts({{2, 16, 9, 10, two, two}, {2, 16, 10, 8, four, four}});
  problems.insert(problems.end(), halving.begin(), halving.end());
  for (const Problem& problem : problems) {
    const GradientInputs inputs{
        integers(this->kDtype, problem.inputs(), 3, Tensor::a).values,
        integers(this->kDtype, problem.outputs(), widest, Tensor::b).values};
    for (const Kind kind : kKinds) {
      const bool halves = problem.vertical.kernel == problem.horizontal.kernel &&
                          (problem.vertical.kernel == 2 || problem.vertical.kernel == 4) &&
                          !problem.ceil_mode;
      if (kind != Kind::max && !halves) continue;
      auto right = this->reference(kind, problem, inputs);
      for (double& value : right.value) value = round_to(this->kDtype, value);
      right.tolerance.clear();
      const Expectation expected = this->expectation(problem, right);
      EXPECT_TRUE(not_vacuous(expected, this->degenerate_of(expected)))
          << name(kind) << " " << text(problem);
      for (const Variant variant : kVariants)
        EXPECT_TRUE(verdict(compare(observe(this->run(kind, variant, problem, inputs)), expected),
                            this->context(kind, variant, "integers", problem)));
    }
  }
}

TYPED_TEST(PoolingBackwardTest, RandomAgainstOracle) {
  for (const Problem& problem : window_problems()) {
    const GradientInputs inputs = this->normals(problem);
    const auto right = this->reference(Kind::average_include_padding, problem, inputs);
    const Expectation expected = this->expectation(problem, right);
    EXPECT_TRUE(not_vacuous(expected, this->degenerate_of(expected))) << text(problem);
    this->check("normal", problem, inputs);
  }
}

TYPED_TEST(PoolingBackwardTest, WindowsOfPaddingAlone) {
  for (const Problem& problem : padding_problems())
    this->check("normal", problem, this->normals(problem));
}

TYPED_TEST(PoolingBackwardTest, RandomAgainstVendors) {
  using T = TypeParam;
  bool any = false;
  for (const Problem& problem : window_problems()) {
    const GradientInputs inputs = this->normals(problem);
    for (const Kind kind : kKinds) {
      const auto vendors = vendor::pooling_backward_variants(kind, this->kDtype, problem);
      if (vendors.empty()) continue;
      any = true;
      const auto right = this->reference(kind, problem, inputs);
      const Expectation expected = this->expectation(problem, right);
      for (const Variant variant : kVariants) {
        const Observed ours = observe(
            this->run(kind, variant, problem, inputs)); // before the vendor writes the same values
        EXPECT_TRUE(
            verdict(compare(ours, expected), this->context(kind, variant, "normal", problem)));
        for (const std::string_view vendor : vendors) {
          const auto device_x = DeviceBuffer<T>::from_host(
              elements<T>(x_in_layout(inputs.x, problem)), this->stream_);
          const auto device_dy = DeviceBuffer<T>::from_host(
              elements<T>(y_in_layout(inputs.dy, problem)), this->stream_);
          const DeviceBuffer<T> device_y(inputs.dy.size());
          const DeviceBuffer<T> device_dx(inputs.x.size());
          vendor::pooling(vendor, kind, this->kDtype, problem, device_x.data(), device_y.data(),
                          this->stream_);
          vendor::pooling_backward(
              vendor, kind, this->kDtype, problem,
              {device_x.data(), device_y.data(), device_dy.data(), device_dx.data()},
              this->stream_);
          const Observed theirs = observe(device_dx.to_host(this->stream_));
          EXPECT_TRUE(verdict(
              compare_with_vendor(ours, theirs, expected),
              this->context(kind, variant, "normal beside " + std::string(vendor), problem)));
        }
      }
    }
  }
  if (!any) report_no_vendor("pooling_backward", this->kDtype);
}

// Around a pack of channels, a warp and a block of either axis.
TYPED_TEST(PoolingBackwardTest, Sizes) {
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  for (const std::int64_t channels : {1, 3, 4, 6, 8, 9, 12, 17})
    for (const Problem& problem : in_both_layouts({{1, channels, 3, 5, three, three}}))
      this->check("normal", problem, this->normals(problem));
  for (const std::int64_t extent : {1, 2, 31, 33, 129})
    for (const Problem& problem : in_both_layouts(
             {{1, 8, 2, extent, {.kernel = 2}, three}, {1, 8, extent, 2, three, {.kernel = 2}}}))
      this->check("normal", problem, this->normals(problem));
}

// An element's share is a quotient, correctly rounded: of windows of 9 and of 35 elements, which do
// not overlap.
TYPED_TEST(PoolingBackwardTest, SharesAreQuotients) {
  for (const Problem& problem :
       in_both_layouts({{2, 8, 9, 6, {.kernel = 3, .stride = 3}, {.kernel = 3, .stride = 3}},
                        {1, 5, 10, 14, {.kernel = 5, .stride = 5}, {.kernel = 7, .stride = 7}}})) {
    const GradientInputs inputs = this->normals(problem);
    constexpr Kind kKind = Kind::average_include_padding;
    const auto right = this->reference(kKind, problem, inputs);
    std::vector<double> value = right.value;
    for (double& share : value) share = round_to(this->kDtype, round_to(Dtype::f32, share));
    const Expectation expected =
        exactly(this->kDtype, shape_in_layout(problem, problem.height, problem.width), value);
    for (const Variant variant : kVariants)
      EXPECT_TRUE(verdict(compare(observe(this->run(kKind, variant, problem, inputs)), expected),
                          this->context(kKind, variant, "normal", problem)));
  }
}

// The last tap that a byte can name, and one window too large for that.
TYPED_TEST(PoolingBackwardTest, MostPlaces) {
  const Problem most{1, 3, 17, 18, {.kernel = 16}, {.kernel = 16}};
  GradientInputs inputs = this->normals(most);
  for (std::size_t plane = 0; plane < 3; ++plane) inputs.x[plane * 306 + 15 * 18 + 15] = 100;
  this->check("normal", most, inputs);

  const Problem beyond{1, 1, 17, 17, {.kernel = 17}, {.kernel = 17}};
  EXPECT_FALSE(pooling_backward::supports(Variant::vectorized, Kind::max, beyond));
  EXPECT_TRUE(
      pooling_backward::supports(Variant::vectorized, Kind::average_include_padding, beyond));
  EXPECT_EQ(pooling_backward::workspace_bytes(Variant::automatic, Kind::max, beyond), 0u);
  inputs = this->normals(beyond);
  const auto right = this->reference(Kind::max, beyond, inputs);
  EXPECT_TRUE(verdict(compare(observe(this->run(Kind::max, Variant::naive, beyond, inputs)),
                              this->expectation(beyond, right)),
                      this->context(Kind::max, Variant::naive, "normal", beyond)));
  EXPECT_THROW(this->run(Kind::max, Variant::vectorized, beyond, inputs), Error);
}

// Indices beyond 32 bits.
TYPED_TEST(PoolingBackwardTest, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  for (const Problem& problem : in_both_layouts({{1, 8, 16384, 16400, {}, {}}})) {
    const std::int64_t n = problem.inputs();
    const std::string reason = too_huge_reason(static_cast<std::size_t>(n) * (3 * sizeof(T) + 1));
    if (!reason.empty()) GTEST_SKIP() << reason;
    constexpr unsigned char kByte = 0x3C; // a normal number of each type
    const T everywhere = from_raw_bits<T>(0x3C3C3C3Cu & poison_bits(this->kDtype));
    const DeviceBuffer<T> dy(static_cast<std::size_t>(n));
    fill_bytes(dy.data(), kByte, dy.bytes(), this->stream_);
    Marks<T> marks;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, n - 1})
      marks[index] = elements<T>(std::vector<double>{next++})[0];
    put(marks, dy, this->stream_);
    const DeviceBuffer<unsigned char> workspace(
        pooling_backward::workspace_bytes(Variant::vectorized, Kind::max, problem));
    for (const Variant variant : kVariants) {
      const DeviceBuffer<T> dx(static_cast<std::size_t>(n));
      pooling_backward::run<T>(Kind::max, problem, dy.data(), dy.data(), dx.data(),
                               workspace.data(), variant, this->stream_);
      EXPECT_TRUE(holds(dx, everywhere, marks, this->stream_)) << pooling_backward::name(variant);
      EXPECT_NO_THROW(dx.check_guards());
    }
  }
}

TYPED_TEST(PoolingBackwardTest, Misaligned) {
  const std::int64_t pack = this->kPack; // nvcc 13 loses a member named in the list of a loop
  const pooling::Axis three{.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  for (const Problem& problem : in_both_layouts({{1, 16, 5, 7, three, three}}))
    for (const Offsets offsets : {Offsets{1, 1, 1}, Offsets{0, 0, 3}, Offsets{0, 1, 0},
                                  Offsets{1, 0, 0}, Offsets{pack, 0, 2 * pack}})
      this->check("normal", problem, this->normals(problem), offsets);
}

TYPED_TEST(PoolingBackwardTest, EmptyProblems) {
  for (const Problem& problem : in_both_layouts({{0, 5, 4, 4, {.kernel = 2}, {.kernel = 2}},
                                                 {5, 0, 4, 4, {.kernel = 2}, {.kernel = 2}}}))
    for (const Kind kind : kKinds)
      for (const Variant variant : kVariants)
        EXPECT_TRUE(this->run(kind, variant, problem, {}).empty());
}

// NaN, infinities and zeros of both signs, which are equal, in x; NaN and infinities in dy.
TYPED_TEST(PoolingBackwardTest, SpecialValues) {
  for (const Problem& problem : in_both_layouts(
           {{1, 16, 9, 13, {.kernel = 2}, {.kernel = 3, .stride = 2}},
            {2, 8, 5, 6, {.kernel = 3, .pad_before = 1}, {.kernel = 6, .pad_before = 2}}})) {
    const Random random(seed(), 29);
    const auto with = [&](std::vector<double> values, const std::vector<double>& special,
                          double share) {
      for (std::size_t i = 0; i < values.size(); ++i)
        if (random.chance(i, share))
          values[i] = special[static_cast<std::size_t>(
              random.integer(i, 0, static_cast<std::int64_t>(special.size()) - 1))];
      return values;
    };
    const GradientInputs normals = this->normals(problem);
    const auto x = with(normals.x, {kNan, kInfinity, -kInfinity, 0.0, -0.0}, 0.3);
    this->check("special x", problem, {x, normals.dy});
    const auto dy = with(normals.dy, {kNan, kInfinity, -kInfinity}, 0.1);
    this->check("special dy", problem, {normals.x, dy});
    this->check("special x and dy", problem, {x, dy});
    for (const double everywhere : {kNan, kInfinity, -kInfinity, -0.0})
      this->check("constant x", problem, {std::vector<double>(x.size(), everywhere), normals.dy});
  }
}

// Both layouts hold the same problem; planes are computed apart; the whole of dy arrives.
TYPED_TEST(PoolingBackwardTest, Relations) {
  using T = TypeParam;
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  Problem problem{2, 8, 9, 10, three, three};
  const GradientInputs inputs{normal(this->kDtype, problem.inputs(), Tensor::a).values,
                              integers(this->kDtype, problem.outputs(), 9, Tensor::b).values};
  for (const Kind kind : kKinds)
    for (const Variant variant : kVariants) {
      problem.layout = Layout::nhwc;
      const Problem last = problem;
      const std::vector<T> channels_last = this->run(kind, variant, problem, inputs);
      problem.layout = Layout::nchw;
      const std::vector<T> dx = this->run(kind, variant, problem, inputs);
      EXPECT_TRUE(same_bits("both layouts", channels_last, x_in_layout(dx, last)));
      GradientInputs changed = inputs;
      changed.dy[5 * 90 + 37] = kNan;
      EXPECT_TRUE(only_row_differs(dx, this->run(kind, variant, problem, changed), 90, 5))
          << pooling_backward::name(variant);
      if (kind == Kind::max) {
        double sum = 0;
        for (const double value : observe(dx).values) sum += value;
        for (const double value : inputs.dy) sum -= value;
        EXPECT_EQ(sum, 0) << pooling_backward::name(variant);
      }
    }
}

TYPED_TEST(PoolingBackwardTest, SameBitsEveryTime) {
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  for (const Problem& problem : in_both_layouts({{2, 8, 9, 10, three, three}}))
    for (const Kind kind : kKinds)
      for (const Variant variant : kVariants) {
        static_assert(pooling_backward::deterministic(Variant::automatic));
        const GradientInputs inputs = this->normals(problem);
        EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
          return this->run(kind, variant, problem, inputs);
        })) << name(kind);
      }
}

// On a stream whose earlier work still writes x and dy.
TYPED_TEST(PoolingBackwardTest, WaitsForItsStream) {
  using T = TypeParam;
  for (const Problem& problem : in_both_layouts({{1, 8, 9, 10, {.kernel = 2}, {.kernel = 2}}})) {
    const GradientInputs inputs = this->normals(problem);
    for (const Variant variant : kVariants) {
      const DeviceBuffer<T> dx(inputs.x.size());
      const DeviceBuffer<unsigned char> workspace(
          pooling_backward::workspace_bytes(variant, Kind::max, problem));
      const LateInput<T> x(elements<T>(x_in_layout(inputs.x, problem)), this->stream_);
      const LateInput<T> dy(elements<T>(y_in_layout(inputs.dy, problem)), this->stream_);
      pooling_backward::run<T>(Kind::max, problem, x.data(), dy.data(), dx.data(),
                               workspace.size() > 0 ? workspace.data() : nullptr, variant,
                               this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", dx.to_host(this->stream_),
                            this->run(Kind::max, variant, problem, inputs)));
    }
  }
}

TYPED_TEST(PoolingBackwardTest, AutomaticReportsWhatRan) {
  using T = TypeParam;
  const auto data = DeviceBuffer<T>::from_host(std::vector<T>(17 * 17), this->stream_);
  const DeviceBuffer<T> dx(17 * 17);
  const DeviceBuffer<unsigned char> workspace(256);
  for (const auto& [kernel, expected] : {std::pair{std::int64_t{2}, Variant::vectorized},
                                         std::pair{std::int64_t{17}, Variant::naive}}) {
    LaunchRecorder recorder;
    EXPECT_EQ(pooling_backward::run<T>(
                  Kind::max, {1, 1, 17, 17, {.kernel = kernel}, {.kernel = kernel}}, data.data(),
                  data.data(), dx.data(), workspace.data(), Variant::automatic, this->stream_),
              expected);
    ASSERT_FALSE(recorder.launches().empty());
    EXPECT_EQ(recorder.launches()[0].kernel_name.find("naive") != std::string::npos,
              expected == Variant::naive);
  }
}

TYPED_TEST(PoolingBackwardTest, RefusesWrongArguments) {
  using T = TypeParam;
  const DeviceBuffer<T> data(64), dx(64);
  const DeviceBuffer<unsigned char> workspace(64);
  const Problem right{1, 4, 4, 4, {.kernel = 2}, {.kernel = 2}};
  LaunchRecorder recorder;
  const auto run = [&](const Problem& problem, const T* x, const T* dy, T* to, void* bytes,
                       Variant variant) {
    pooling_backward::run<T>(Kind::max, problem, x, dy, to, bytes, variant, this->stream_);
  };
  T* const p = data.data();
  for (const Variant variant : kVariants) {
    EXPECT_THROW(run(right, nullptr, p, dx.data(), workspace.data(), variant), Error);
    EXPECT_THROW(run(right, p, nullptr, dx.data(), workspace.data(), variant), Error);
    EXPECT_THROW(run(right, p, p, nullptr, workspace.data(), variant), Error);
    Problem wrong = right;
    wrong.batch = -1;
    EXPECT_THROW(run(wrong, p, p, dx.data(), workspace.data(), variant), Error);
    wrong = right;
    wrong.horizontal.kernel = 5;
    EXPECT_THROW(run(wrong, p, p, dx.data(), workspace.data(), variant), Error);
  }
  EXPECT_THROW(run(right, p, p, dx.data(), nullptr, Variant::vectorized), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(PoolingBackwardTest, WorkReadsXForTheMaximumAlone) {
  const Problem problem{2, 3, 8, 10, {.kernel = 2, .stride = 2}, {.kernel = 2, .stride = 2}};
  EXPECT_EQ(pooling_backward::work(this->kDtype, Kind::max, problem).bytes,
            (2 * 480.0 + 120.0) * sizeof(TypeParam));
  const Work average = pooling_backward::work(this->kDtype, Kind::average_exclude_padding, problem);
  EXPECT_EQ(average.bytes, (480.0 + 120.0) * sizeof(TypeParam));
  EXPECT_EQ(average.flops, 480.0);
}

} // namespace
} // namespace kg::test
