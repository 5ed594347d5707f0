// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward against exact fills, the fp64 oracle and each vendor, on windows of every form
// and at the edges of the tiles, the parts and the strides' phases.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "tests/conv2d_backward_fixture.h"
#include "tests/conv2d_backward_storage_tests.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "tests/support/vendor_runs.h"
#include "vendor/conv2d_backward/conv2d_backward.h"

namespace kg::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using conv2d::Axis;

// And sums over so many places that all variants for the weights add up parts of them: a part that
// is rounded to f16 or bf16 shows.
TYPED_TEST(Conv2dBackwardTest, ExactFills) {
  std::vector<Geometry> all = convolutions();
  for (const Geometry& g : in_both_layouts({{3, 8, 5, 40, 16, {}, {}}})) all.push_back(g);
  for (const Geometry& g : all)
    for (const auto range : {ProductRange::r1, ProductRange::r1w_a, ProductRange::r1w_b})
      this->check_exact(g, range);
}

TYPED_TEST(Conv2dBackwardTest, RandomAgainstOracleAndVendor) {
  using T = TypeParam;
  bool any = false;
  for (const Geometry& g : convolutions()) {
    const BackwardData data = this->normal_data(g);
    for (const Gradient gradient : kGradients) {
      const auto right = this->reference(gradient, g, data);
      const Expectation expected = this->expectation(gradient, g, right);
      EXPECT_TRUE(this->could_fail(expected)) << text(g);
      const auto vendors = vendor::conv2d_backward_variants(gradient, this->kDtype, g);
      any = any || !vendors.empty();
      for (const Variant variant : this->variants(gradient, g)) {
        const CaseContext where = this->context(gradient, g, data, variant);
        const Observed ours = observe(this->run(gradient, g, data, variant));
        EXPECT_TRUE(verdict(compare(ours, expected), where));
        for (const std::string_view vendor : vendors) {
          const BackwardArrays<T> arrays(gradient, g, data, Variant::direct, {}, this->stream_);
          const conv2d_backward::Problem<T> p = arrays.problem();
          const vendor::Conv2dBackward asked{gradient, dtype_of<T>, g,         p.dy,
                                             p.x,      p.weights,   p.gradient};
          if (!vendor_runs([&] {
                vendor::conv2d_backward(vendor, asked, vendor::Math::pedantic, this->stream_);
              })) {
            report_no_vendor("conv2d_backward", this->kDtype, vendor);
            continue;
          }
          const Observed theirs = observe(arrays.result(this->id(vendor), this->stream_));
          EXPECT_TRUE(verdict(compare_with_vendor(ours, theirs, expected), where))
              << "vendor " << vendor;
        }
      }
    }
  }
  if (!any) report_no_vendor("conv2d_backward", this->kDtype);
}

// Around the tiles of 64 output channels and 64 elements of a filter (f16 and bf16: 128), slices of
// 16 places (32) and parts of 256 (512), places of several images in one slice, parts of the bias,
// and phases of which some have no taps or no elements.
TYPED_TEST(Conv2dBackwardTest, Sizes) {
  const Axis by_three{.kernel = 2, .stride = 3, .pad_before = 2, .dilation = 2};
  for (const Geometry& g :
       in_both_layouts({{1, 4, 8, 8, 64, {}, {}},
                        {3, 5, 5, 5, 65, {}, {}},
                        {1, 7, 3, 5, 9, kThree, kThree},
                        {1, 33, 1, 15, 2, {}, {.kernel = 2}},
                        {5, 2, 7, 17, 3, {}, kThree},
                        {1, 3, 2, 257, 8, {}, {}},
                        {1, 1, 2, 4200, 1, {}, {}},
                        {1, 136, 2, 8, 136, {}, {}},
                        {1, 9, 3, 5, 129, {}, {}},
                        {1, 8, 7, 8, 8, by_three, {.kernel = 3, .stride = 2}},
                        {2,
                         4,
                         4,
                         1,
                         8,
                         {.kernel = 3, .stride = 2, .pad_before = 3, .pad_after = 4},
                         {.stride = 2}}}))
    this->check(g, this->normal_data(g));
}

// 16-byte accesses need aligned arrays: here one of them is not, or none is.
TYPED_TEST(Conv2dBackwardTest, Misaligned) {
  constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(TypeParam));
  for (const Geometry& g : in_both_layouts(
           {{2, 16, 4, 5, 16, {.stride = 2}, kThree}, {1, 8, 4, 6, 8, kThree, kThree, 8}}))
    for (const Offsets offsets :
         {Offsets{1, 0, 0}, Offsets{0, 3, 0}, Offsets{0, 0, 5}, Offsets{kPack, 2 * kPack, kPack}})
      this->check_exact(g, ProductRange::r1, offsets);
}

// Channels of a group, or bases, of which accesses of 16 bytes would not be whole: of f16 and bf16
// those of 4 elements, of 2, and single ones, alike and unlike in x and dy; around the tiles.
TYPED_TEST(Conv2dBackwardTest, NarrowAccesses) {
  for (const Geometry& g : in_both_layouts({{2, 12, 5, 9, 20, kThree, kThree},
                                            {1, 20, 4, 9, 16, kThree, kThree},
                                            {1, 10, 5, 8, 132, {.kernel = 2, .stride = 2}, kThree},
                                            {1, 16, 5, 7, 12, {}, kThree},
                                            {1, 16, 5, 7, 130, {}, {}},
                                            {3, 8, 3, 12, 11, {}, kThree},
                                            {1, 12, 5, 7, 20, kThree, {}, 2},
                                            {1, 3, 12, 11, 24, {.kernel = 7}, kThree}}))
    this->check_exact(g, ProductRange::r1);
  const Geometry packs{1, 16, 4, 9, 16, {}, kThree, 1, Layout::nhwc};
  for (const Offsets offsets :
       {Offsets{2, 0, 0}, Offsets{0, 2, 0}, Offsets{4, 4, 0}, Offsets{1, 8, 0}, Offsets{4, 1, 0}})
    this->check_exact(packs, ProductRange::r1, offsets);
}

// Indices beyond 32 bits: dx repeats dy, whose marks say where each element came from; of the other
// gradients each element is the sum of its channel's marks.
TYPED_TEST(Conv2dBackwardTest, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  for (const Geometry& g : in_both_layouts({{1, 8, 16384, 16400, 8, {}, {}, 8}})) {
    const std::int64_t n = g.inputs();
    const std::string reason = too_huge_reason(2 * static_cast<std::size_t>(n) * sizeof(T));
    if (!reason.empty()) GTEST_SKIP() << reason;
    const DeviceBuffer<T> dy(static_cast<std::size_t>(n)), other(static_cast<std::size_t>(n));
    const std::vector<T> ones = elements<T>(std::vector<double>(8, 1));
    const auto weights = DeviceBuffer<T>::from_host(ones, this->stream_);
    fill_bytes(dy.data(), 0, dy.bytes(), this->stream_);
    Marks<T> marks;
    std::vector<double> sums(8);
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, n - 1}) {
      const std::int64_t channel = g.layout == Layout::nhwc ? index % 8 : index / (n / 8);
      sums[static_cast<std::size_t>(channel)] += next;
      marks[index] = elements<T>(std::vector<double>{next++})[0];
    }
    put(marks, dy, this->stream_);
    for (const Variant variant : this->variants(Gradient::input, g)) {
      const DeviceBuffer<std::byte> workspace(
          conv2d_backward::workspace_bytes<T>(Gradient::input, g, variant));
      conv2d_backward::run<T>(
          Gradient::input, {g, dy.data(), nullptr, weights.data(), other.data(), workspace.data()},
          variant, this->stream_);
      EXPECT_TRUE(holds(other, T{}, marks, this->stream_)) << conv2d_backward::name(variant);
    }
    fill_bytes(other.data(), 0, other.bytes(), this->stream_);
    for (const auto& [index, value] : marks)
      copy_to_device(other.data() + index, ones.data(), sizeof(T), this->stream_);
    for (const Gradient gradient : {Gradient::weights, Gradient::bias}) {
      const Variant variant =
          gradient == Gradient::bias ? Variant::vectorized : Variant::implicit_gemm;
      if (!conv2d_backward::supports<T>(gradient, variant, g)) continue;
      const DeviceBuffer<std::byte> workspace(
          conv2d_backward::workspace_bytes<T>(gradient, g, variant));
      const DeviceBuffer<T> result(8);
      conv2d_backward::run<T>(
          gradient, {g, dy.data(), other.data(), nullptr, result.data(), workspace.data()}, variant,
          this->stream_);
      EXPECT_TRUE(same_bits("sums of marks", result.to_host(this->stream_), elements<T>(sums)))
          << conv2d_backward::name(gradient);
    }
  }
}

// Sums of nothing are +0; of the input there is nothing.
TYPED_TEST(Conv2dBackwardTest, EmptyBatch) {
  for (const Geometry& g : in_both_layouts({{0, 5, 4, 4, 5, {.kernel = 2}, {.kernel = 2}, 5}}))
    for (const Gradient gradient : kGradients)
      for (const Variant variant : this->variants(gradient, g)) {
        const auto count = static_cast<std::size_t>(conv2d_backward::elements(gradient, g));
        const BackwardData data{"empty", {}, {}, this->normal_data(g).weights};
        EXPECT_TRUE(same_bits("zeros", this->run(gradient, g, data, variant),
                              std::vector<TypeParam>(count)));
        record(this->id(variant), Evidence::empty);
      }
}

// NaN and infinities reach the gradients in which they have a part. Positive factors: no infinity
// meets a zero but that of the padding.
TYPED_TEST(Conv2dBackwardTest, SpecialValues) {
  for (const Geometry& g : in_both_layouts({{2, 4, 6, 7, 9, kThree, {}},
                                            {2, 8, 5, 6, 16, {.kernel = 3}, {.stride = 2}, 2},
                                            {2, 8, 5, 6, 8, {.kernel = 3}, {.kernel = 2}, 8}})) {
    BackwardData plain = this->normal_data(g);
    plain.x = positive(this->kDtype, g.inputs(), Tensor::b).values;
    plain.weights = positive(this->kDtype, g.weights(), Tensor::c).values;
    Geometry inside = g;
    inside.vertical.pad_before = inside.vertical.pad_after = 0;
    plain.dy.resize(static_cast<std::size_t>(inside.outputs()));
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      BackwardData data = plain;
      data.fill = "special dy";
      const std::size_t middle = data.dy.size() / 2;
      data.dy[middle] = special;
      this->check(inside, data);
      data.fill = "special dy, of both signs";
      data.dy[middle + 1] = -special;
      this->check(inside, data);
    }
    BackwardData data = this->normal_data(g);
    data.fill = "NaN in x";
    data.x[data.x.size() / 2] = kNan;
    this->check(g, data);
  }
  for (const Geometry& g : in_both_layouts({{2, 4, 3, 5, 8, {}, {}}, {1, 8, 3, 4, 8, {}, {}, 8}})) {
    BackwardData data = this->normal_data(g);
    data.fill = "NaN in the weights";
    data.weights[data.weights.size() / 2] = kNan;
    this->check(g, data);
  }
}

// Images are apart in dx; scaling by a power of two is exact.
TYPED_TEST(Conv2dBackwardTest, Relations) {
  using T = TypeParam;
  for (const Geometry& g : in_both_layouts(
           {{3, 8, 6, 7, 18, kThree, {.stride = 2}}, {3, 8, 6, 7, 8, kThree, kThree, 8}})) {
    const BackwardData data = this->normal_data(g);
    BackwardData larger = data;
    larger.dy = scaled(data.dy, 2);
    BackwardData changed = data;
    changed.dy[data.dy.size() / 2] = kNan;
    for (const Gradient gradient : kGradients)
      for (const Variant variant : this->variants(gradient, g)) {
        const std::vector<T> result = this->run(gradient, g, data, variant);
        EXPECT_TRUE(same_bits("of 4 dy, 4 times the gradient",
                              this->run(gradient, g, larger, variant),
                              elements<T>(scaled(observe(result).values, 2))))
            << conv2d_backward::name(variant);
        if (gradient != Gradient::input) continue;
        EXPECT_TRUE(only_row_differs(result, this->run(gradient, g, changed, variant),
                                     g.inputs() / g.batch, 1))
            << conv2d_backward::name(variant);
      }
  }
}

TYPED_TEST(Conv2dBackwardTest, SameBitsEveryTime) {
  for (const Geometry& g :
       in_both_layouts({{1, 8, 3, 4, 9, {.kernel = 2}, {.kernel = 2, .stride = 2}},
                        {1, 8, 2, 140, 8, {}, {}, 8}}))
    for (const Gradient gradient : kGradients)
      for (const Variant variant : this->variants(gradient, g)) {
        static_assert(conv2d_backward::deterministic(Variant::automatic));
        const BackwardData data = this->normal_data(g);
        EXPECT_TRUE(same_bits_every_time(this->id(variant),
                                         [&] { return this->run(gradient, g, data, variant); }));
      }
}

// On a stream whose earlier work still writes dy.
TYPED_TEST(Conv2dBackwardTest, WaitsForItsStream) {
  using T = TypeParam;
  const Geometry g{2, 8, 5, 6, 8, kThree, {.stride = 2}, 8};
  const BackwardData data = this->normal_data(g);
  for (const Gradient gradient : kGradients)
    for (const Variant variant : this->variants(gradient, g)) {
      const BackwardArrays<T> arrays(gradient, g, data, variant, {}, this->stream_);
      conv2d_backward::Problem<T> problem = arrays.problem();
      const LateInput<T> late(elements<T>(data.dy), this->stream_);
      problem.dy = late.data();
      conv2d_backward::run(gradient, problem, variant, this->stream_);
      EXPECT_TRUE(same_bits("behind a slow kernel", arrays.result(this->id(variant), this->stream_),
                            this->run(gradient, g, data, variant)));
    }
}

TYPED_TEST(Conv2dBackwardTest, AutomaticChoosesByProblem) {
  using T = TypeParam;
  const auto chosen = [&](Gradient gradient, const Geometry& g) {
    const BackwardArrays<T> arrays(gradient, g, this->normal_data(g), Variant::automatic, {},
                                   this->stream_);
    const Variant ran =
        conv2d_backward::run(gradient, arrays.problem(), Variant::automatic, this->stream_);
    EXPECT_EQ(ran, conv2d_backward::resolve<T>(gradient, g));
    return ran;
  };
  const Geometry dense{1, 8, 4, 4, 8, kThree, kThree};
  const Geometry few{1, 7, 4, 4, 7, kThree, kThree};
  const Geometry depthwise{1, 8, 4, 4, 8, kThree, kThree, 8};
  const Variant product =
      conv2d_backward::supports<T>(Gradient::input, Variant::implicit_gemm, dense)
          ? Variant::implicit_gemm
          : Variant::direct;
  EXPECT_EQ(chosen(Gradient::input, dense), product);
  EXPECT_EQ(chosen(Gradient::input, few), Variant::direct);
  EXPECT_EQ(chosen(Gradient::input, depthwise), Variant::depthwise);
  EXPECT_EQ(chosen(Gradient::weights, dense), product);
  EXPECT_EQ(chosen(Gradient::weights, depthwise), Variant::direct);
  EXPECT_EQ(chosen(Gradient::bias, few), Variant::vectorized);
}

TYPED_TEST(Conv2dBackwardTest, RefusesWrongArguments) {
  using T = TypeParam;
  const auto memory = DeviceBuffer<T>::from_host(std::vector<T>(8192), this->stream_);
  const auto message = [&](Gradient gradient, const conv2d_backward::Problem<T>& p,
                           Variant variant) -> std::string {
    const LaunchRecorder recorder;
    try {
      conv2d_backward::run(gradient, p, variant, this->stream_);
    } catch (const Error& error) {
      EXPECT_TRUE(recorder.launches().empty());
      return error.what();
    }
    return "accepted";
  };
  const conv2d_backward::Problem<T> right{{1, 4, 5, 6, 8, {.kernel = 2}, {.kernel = 2}, 2},
                                          memory.data(),
                                          memory.data() + 256,
                                          memory.data() + 512,
                                          memory.data() + 1024,
                                          memory.data() + 2048};
  const auto refused = [&](Gradient gradient, auto change, const std::string& words,
                           Variant variant = Variant::direct) {
    conv2d_backward::Problem<T> wrong = right;
    change(wrong);
    const std::string said = message(gradient, wrong, variant);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  for (const Gradient gradient : kGradients) {
    EXPECT_EQ(message(gradient, right, Variant::automatic), "accepted");
    refused(
        gradient, [](auto& p) { p.geometry.groups = 3; }, "groups is 3");
    refused(
        gradient, [](auto& p) { p.dy = nullptr; }, "dy is null");
    refused(
        gradient, [](auto& p) { p.gradient = nullptr; }, "gradient is null");
    refused(
        gradient, [](auto& p) { p.x = p.weights = nullptr; },
        gradient == Gradient::input     ? "weights is null"
        : gradient == Gradient::weights ? "x is null"
                                        : "accepted");
  }
  refused(
      Gradient::bias, [](auto& p) { p.workspace = nullptr; }, "workspace is null",
      Variant::vectorized);
  refused(
      Gradient::bias, [&](auto& p) { p.workspace = memory.data() + 1; }, "not aligned",
      Variant::vectorized);
  refused(
      Gradient::bias, [](auto&) {}, "no variant implicit_gemm for the gradient of the bias",
      Variant::implicit_gemm);
  refused(
      Gradient::input, [](auto&) {}, "no variant depthwise", Variant::depthwise);
  refused(
      Gradient::weights, [](auto&) {}, "no variant vectorized", Variant::vectorized);
}

} // namespace
} // namespace kg::test
