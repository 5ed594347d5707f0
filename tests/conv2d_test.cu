// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d against exact fills, the fp64 oracle and each vendor, on windows of every form and at the
// edges of the tiles.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "tests/conv2d_fixture.h"
#include "tests/conv2d_separable_tests.h"
#include "tests/conv2d_storage_tests.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "tests/support/vendor_runs.h"
#include "vendor/conv2d/conv2d.h"

namespace kg::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TYPED_TEST(Conv2dTest, ExactFills) {
  for (const Geometry& g : convolutions())
    for (const auto range : {ProductRange::r1, ProductRange::r1w_a, ProductRange::r1w_b})
      this->check_exact(g, range);
}

TYPED_TEST(Conv2dTest, RandomAgainstOracleAndVendor) {
  using T = TypeParam;
  bool any = false;
  for (const Geometry& g : convolutions()) {
    const ConvData data = this->normal_data(g);
    const auto right = this->reference(g, data);
    Expectation expected = this->expectation(g, right);
    expected.unit = right.unit;
    EXPECT_TRUE(not_vacuous(expected)) << text(g);
    const auto vendors = vendor::conv2d_variants(this->kDtype, g);
    any = any || !vendors.empty();
    for (const Variant variant : this->variants(g)) {
      const CaseContext where = this->context(g, data, conv2d::name(variant));
      const Observed ours = observe(this->run(g, data, variant));
      EXPECT_TRUE(verdict(compare(ours, expected), where));
      for (const std::string_view vendor : vendors) {
        const ConvArrays<T> arrays(g, data, Variant::direct, {}, this->stream_);
        const conv2d::Problem<T> p = arrays.problem();
        const vendor::Conv2d asked{dtype_of<T>, g, p.x, p.weights, p.bias, p.y};
        if (!vendor_runs(
                [&] { vendor::conv2d(vendor, asked, vendor::Math::pedantic, this->stream_); })) {
          report_no_vendor("conv2d", this->kDtype, vendor);
          continue;
        }
        const Observed theirs = observe(arrays.result(this->id(vendor), this->stream_));
        EXPECT_TRUE(verdict(compare_with_vendor(ours, theirs, expected), where))
            << "vendor " << vendor;
      }
    }
  }
  if (!any) report_no_vendor("conv2d", this->kDtype);
}

// Around the tiles of 64 places and 64 channels (f16 and bf16: 128), the slices of 16 and of 32, a
// block of columns, and places of several images in one tile.
TYPED_TEST(Conv2dTest, Sizes) {
  for (const Geometry& g : in_both_layouts({{1, 4, 8, 8, 64, kThree, kThree},
                                            {3, 5, 5, 5, 65, {}, {}},
                                            {3, 16, 5, 5, 63, {.kernel = 2}, {.kernel = 2}},
                                            {1, 1, 1, 65, 1, {}, {.kernel = 3}},
                                            {2, 3, 9, 15, 129, {.kernel = 2}, {}},
                                            {1, 17, 1, 130, 4, {}, {.kernel = 2}},
                                            {1, 40, 2, 2, 70, {.kernel = 2}, {.kernel = 2}},
                                            {1, 130, 3, 5, 130, {}, {}, 2},
                                            {1, 40, 3, 43, 129, {}, {}}}))
    this->check(g, this->normal_data(g));
}

// Strips of 4 columns and of 8 rows, blocks of 16 packs of channels, rounds of a block.
TYPED_TEST(Conv2dTest, DepthwiseSizes) {
  constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(TypeParam));
  for (const Geometry& g :
       in_both_layouts({{3, 8, 8, 4, 8, kThree, kThree, 8},
                        {1, 8, 9, 5, 8, kThree, kThree, 8},
                        {1, 65, 2, 3, 65, {}, {.kernel = 3}, 65},
                        {1, 6, 4, 5, 6, kThree, kThree, 6},
                        {1, 12, 4, 5, 12, kThree, kThree, 12},
                        {1, 34 * kPack, 2, 3, 34 * kPack, {}, {.kernel = 2}, 34 * kPack},
                        {1, 3, 2, 5, 12 * kPack, {}, {.kernel = 3}, 3},
                        {1, 16 * kPack, 88, 10, 16 * kPack, {}, {}, 16 * kPack},
                        {1, 3 * kPack, 88, 5, 3 * kPack, {}, {}, 3 * kPack},
                        {1, 8, 8, 16, 8, {.kernel = 8}, {.kernel = 16}, 8}})) {
    const ConvData data = this->normal_data(g);
    this->check_variant(Variant::depthwise, g, data);
    if (g.layout == Layout::nchw) continue;
    EXPECT_TRUE(same_bits("row by row, as direct", this->run(g, data, Variant::depthwise),
                          this->run(g, data, Variant::direct)));
  }
}

// 16-byte accesses need aligned arrays: here one of them is not, or none is. 64 channels are a
// whole tile, of which alone the weights are read so.
TYPED_TEST(Conv2dTest, Misaligned) {
  constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(TypeParam));
  for (const Geometry& g : in_both_layouts({{2, 16, 5, 8, 16, {}, kThree},
                                            {1, 16, 4, 8, 64, {}, {}},
                                            {1, 8, 4, 8, 8, kThree, {}},
                                            {1, 8, 4, 5, 8, kThree, kThree, 8},
                                            {1, 4, 4, 5, 8, {}, kThree, 4}}))
    for (const Offsets offsets : {Offsets{1, 0, 0, 0}, Offsets{0, 3, 0, 0}, Offsets{0, 0, 1, 5},
                                  Offsets{1, 1, 1, 1}, Offsets{kPack, 2 * kPack, 1, 4}})
      this->check_exact(g, ProductRange::r1, offsets);
}

// Channels of a group, or bases, of which accesses of 16 bytes would not be whole: of f16 and bf16
// those of 4 elements, of 2, and single ones; around the tiles.
TYPED_TEST(Conv2dTest, NarrowAccesses) {
  for (const Geometry& g : in_both_layouts({{2, 12, 7, 9, 20, kThree, kThree},
                                            {1, 20, 5, 7, 132, kThree, {.kernel = 2}},
                                            {3, 10, 6, 8, 24, {.kernel = 2, .stride = 2}, kThree},
                                            {1, 12, 5, 26, 16, kThree, {}, 2},
                                            {1, 7, 12, 11, 130, {}, kThree}}))
    this->check_exact(g, ProductRange::r1);
  // Filters of every length modulo 8, so that each begins at another place, in whole tiles.
  for (const Geometry& g : in_both_layouts({{1, 5, 4, 9, 130, {}, {}},
                                            {1, 10, 4, 9, 130, {}, {}},
                                            {1, 19, 4, 9, 66, {}, {}},
                                            {1, 20, 4, 9, 66, {}, {}},
                                            {1, 3, 4, 9, 66, {}, kThree},
                                            {1, 10, 4, 9, 66, {}, kThree},
                                            {1, 13, 4, 9, 66, {}, kThree}}))
    this->check_exact(g, ProductRange::r1);
  const Geometry packs{1, 16, 5, 8, 16, {}, kThree, 1, Layout::nhwc};
  for (const Offsets offsets : {Offsets{2, 0}, Offsets{4, 2}, Offsets{8, 4}, Offsets{4, 1}})
    this->check_exact(packs, ProductRange::r1, offsets);
}

TYPED_TEST(Conv2dTest, WithoutBias) {
  for (const Geometry& g : in_both_layouts({{2, 8, 6, 7, 24, kThree, kThree},
                                            {1, 5, 4, 5, 3},
                                            {1, 8, 4, 5, 8, kThree, kThree, 8}})) {
    ConvData data = this->normal_data(g);
    data.bias.clear();
    this->check(g, data);
  }
}

// Columns of all images would take more memory than im2col asks for: it makes them in parts.
TYPED_TEST(Conv2dTest, ColumnsInParts) {
  using T = TypeParam;
  const auto bytes = [](const Geometry& g) {
    return conv2d::workspace_bytes<T>(g, Variant::im2col);
  };
  Geometry g{1, 64, 1, 8192, 64, {}, kThree, 64};
  const std::size_t one = bytes(g);
  g.batch = 1000;
  EXPECT_LE(bytes(g), std::size_t{64} << 20);
  EXPECT_EQ(bytes(g) % one, 0u);
  EXPECT_GT(bytes(g), one);
  if (backend == Backend::host) return; // half a minute
  g.batch = 40;
  this->check(g, this->normal_data(g));
}

// Indices beyond 32 bits: y repeats x, whose marks say where each element came from.
TYPED_TEST(Conv2dTest, MoreThan2To31Elements) {
  using T = TypeParam;
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  for (const Geometry& g : in_both_layouts({{1, 8, 16384, 16400, 8, {}, {}, 8}})) {
    const std::int64_t n = g.inputs();
    const std::string reason = too_huge_reason(2 * static_cast<std::size_t>(n) * sizeof(T));
    if (!reason.empty()) GTEST_SKIP() << reason;
    constexpr unsigned char kByte = 0x3C; // a normal number of each type
    const T everywhere = from_raw_bits<T>(0x3C3C3C3Cu & poison_bits(this->kDtype));
    const DeviceBuffer<T> x(static_cast<std::size_t>(n));
    fill_bytes(x.data(), kByte, x.bytes(), this->stream_);
    const auto weights =
        DeviceBuffer<T>::from_host(elements<T>(std::vector<double>(8, 1)), this->stream_);
    Marks<T> marks;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, n - 1})
      marks[index] = elements<T>(std::vector<double>{next++})[0];
    put(marks, x, this->stream_);
    for (const Variant variant : this->variants(g)) {
      const DeviceBuffer<T> y(static_cast<std::size_t>(n));
      conv2d::run<T>({g, x.data(), weights.data(), nullptr, y.data()}, variant, this->stream_);
      EXPECT_TRUE(holds(y, everywhere, marks, this->stream_)) << conv2d::name(variant);
      EXPECT_NO_THROW(y.check_guards());
    }
  }
}

TYPED_TEST(Conv2dTest, EmptyBatch) {
  const LaunchRecorder recorder;
  for (const Geometry& g : in_both_layouts({{0, 5, 4, 4, 3}, {0, 5, 4, 4, 5, {}, {}, 5}}))
    for (const Variant variant : this->with_jit()) {
      if (!conv2d::supports<TypeParam>(variant, g)) continue;
      EXPECT_TRUE(this->run(g, this->normal_data(g), variant).empty());
    }
  EXPECT_TRUE(recorder.launches().empty());
}

// NaN and infinities of x reach the outputs whose windows hold them, and no others; of the weights,
// the outputs of their channel. Positive data: no infinity meets a zero but in the padding.
TYPED_TEST(Conv2dTest, SpecialValues) {
  for (const Geometry& g : in_both_layouts({{2, 4, 7, 9, 18, kThree, kThree},
                                            {2, 8, 5, 6, 16, kThree, {}, 2},
                                            {2, 8, 5, 6, 8, kThree, kThree, 8},
                                            compiled_geometry()})) {
    ConvData plain = this->normal_data(g);
    plain.weights = positive(this->kDtype, g.weights(), Tensor::b).values;
    for (const double special : {kNan, kInfinity, -kInfinity})
      for (const bool both_signs : {false, true}) {
        ConvData data = plain;
        data.fill = "special";
        const auto middle = static_cast<std::size_t>(g.inputs() / 2 + g.width);
        data.x[middle] = special;
        if (both_signs) data.x[middle + 1] = -special;
        this->check(g, data);
      }
    ConvData data = plain;
    data.fill = "NaN in the weights";
    data.weights[static_cast<std::size_t>(g.weights() - g.depth() / 2 - 1)] = kNan;
    data.x = positive(this->kDtype, g.inputs(), Tensor::a).values;
    Geometry inside = g;
    inside.vertical = {.kernel = g.vertical.kernel};
    inside.horizontal = {.kernel = g.horizontal.kernel};
    this->check(inside, data);
  }
}

// A kernel that is 1 in its middle and 0 elsewhere: every bit of x, and a bias of -0 changes none.
TYPED_TEST(Conv2dTest, IdentityKernel) {
  for (const Geometry& g :
       in_both_layouts({{2, 9, 5, 8, 9, kThree, kThree}, {2, 9, 5, 8, 9, kThree, kThree, 9}})) {
    ConvData data = this->normal_data(g);
    data.fill = "identity";
    data.bias.clear();
    data.weights.assign(static_cast<std::size_t>(g.weights()), 0);
    for (std::int64_t o = 0; o < g.out_channels; ++o)
      data.weights[static_cast<std::size_t>((o * g.group_inputs() + o % g.group_inputs()) * 9 +
                                            4)] = 1;
    for (const Variant variant : this->variants(g))
      EXPECT_TRUE(same_bits("x * delta = x", this->run(g, data, variant),
                            elements<TypeParam>(x_in_layout(data.x, g))))
          << conv2d::name(variant) << " " << text(g);
  }
}

// Images are computed apart; scaling by a power of two is exact.
TYPED_TEST(Conv2dTest, Relations) {
  using T = TypeParam;
  for (const Geometry& g :
       in_both_layouts({{3, 8, 6, 7, 18, kThree, kThree}, {3, 8, 6, 7, 8, kThree, kThree, 8}})) {
    ConvData data = this->normal_data(g);
    data.bias.clear();
    const std::int64_t image = g.outputs() / g.batch;
    for (const Variant variant : this->variants(g)) {
      const std::vector<T> y = this->run(g, data, variant);
      ConvData changed = data;
      changed.x[static_cast<std::size_t>(g.inputs() / 2)] = kNan;
      EXPECT_TRUE(only_row_differs(y, this->run(g, changed, variant), image, 1))
          << conv2d::name(variant);
      ConvData larger = data;
      larger.x = scaled(data.x, 2);
      EXPECT_TRUE(same_bits("(4 x) * weights = 4 (x * weights)", this->run(g, larger, variant),
                            elements<T>(scaled(observe(y).values, 2))))
          << conv2d::name(variant);
    }
  }
}

TYPED_TEST(Conv2dTest, SameBitsEveryTime) {
  for (const Geometry& g : in_both_layouts({{2, 8, 6, 7, 24, kThree, kThree},
                                            {2, 8, 6, 7, 8, kThree, kThree, 8},
                                            compiled_geometry()}))
    for (const Variant variant : this->variants(g)) {
      static_assert(conv2d::deterministic(Variant::automatic));
      const ConvData data = this->normal_data(g);
      EXPECT_TRUE(same_bits_every_time(this->id(conv2d::name(variant)),
                                       [&] { return this->run(g, data, variant); }));
    }
}

// On a stream whose earlier work still writes x.
TYPED_TEST(Conv2dTest, WaitsForItsStream) {
  using T = TypeParam;
  const Geometry g{2, 8, 6, 7, 8, kThree, kThree, 8};
  const ConvData data = this->normal_data(g);
  for (const Variant variant : this->variants(g)) {
    const ConvArrays<T> arrays(g, data, variant, {}, this->stream_);
    conv2d::Problem<T> problem = arrays.problem();
    const LateInput<T> late(elements<T>(data.x), this->stream_);
    problem.x = late.data();
    conv2d::run(problem, variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel",
                          arrays.result(this->id(conv2d::name(variant)), this->stream_),
                          this->run(g, data, variant)));
  }
}

// The order of the sums is the same; a batch is no constant of the kernel, but with many places a
// thread computes several of them, and the kernel is another one.
TYPED_TEST(Conv2dTest, JitGivesTheBitsOfDirect) {
  for (Geometry g : in_both_layouts({compiled_geometry()}))
    for (const std::int64_t batch : {2, 1, 100}) {
      if (batch == 100 && this->kDtype != Dtype::f32) continue;
      g.batch = batch;
      const ConvData data = this->normal_data(g);
      EXPECT_TRUE(same_bits("as direct", this->run(g, data, Variant::jit),
                            this->run(g, data, Variant::direct)))
          << text(g);
    }
}

TYPED_TEST(Conv2dTest, AutomaticChoosesByProblem) {
  using T = TypeParam;
  const auto chosen = [&](const Geometry& g) {
    const ConvArrays<T> arrays(g, this->normal_data(g), Variant::automatic, {}, this->stream_);
    const Variant ran = conv2d::run(arrays.problem(), Variant::automatic, this->stream_);
    EXPECT_EQ(ran, conv2d::resolve<T>(g));
    return ran;
  };
  const Variant product =
      conv2d::supports<T>(Variant::implicit_gemm) ? Variant::implicit_gemm : Variant::im2col;
  EXPECT_EQ(chosen({1, 8, 6, 6, 16, kThree, kThree}), product);
  EXPECT_EQ(chosen({1, 8, 6, 6, 15, kThree, kThree}), Variant::direct);
  EXPECT_EQ(chosen({1, 16, 6, 6, 16, kThree, kThree, 8}), Variant::direct);
  EXPECT_EQ(chosen({1, 16, 6, 6, 16, kThree, kThree, 16}), Variant::depthwise);
  EXPECT_EQ(chosen({1, 2, 12, 11, 2, {.kernel = 12}, {.kernel = 11}, 2}), Variant::direct);
  EXPECT_EQ(chosen({1, 8, 1, 31, 16, {}, {}}), Variant::direct);
}

TYPED_TEST(Conv2dTest, RefusesWrongArguments) {
  using T = TypeParam;
  const auto memory = DeviceBuffer<T>::from_host(std::vector<T>(4096), this->stream_);
  const auto message = [&](const conv2d::Problem<T>& p, Variant variant) -> std::string {
    const LaunchRecorder recorder;
    try {
      conv2d::run(p, variant, this->stream_);
    } catch (const Error& error) {
      EXPECT_TRUE(recorder.launches().empty());
      return error.what();
    }
    return "accepted";
  };
  const conv2d::Problem<T> right{{1, 4, 5, 6, 8, {.kernel = 2}, {.kernel = 2}, 2},
                                 memory.data(),
                                 memory.data() + 128,
                                 nullptr,
                                 memory.data() + 1024,
                                 memory.data() + 2048};
  const auto refused = [&](auto change, const std::string& words,
                           Variant variant = Variant::direct) {
    conv2d::Problem<T> wrong = right;
    change(wrong);
    EXPECT_NE(message(wrong, variant).find(words), std::string::npos) << message(wrong, variant);
  };
  EXPECT_EQ(message(right, Variant::im2col), "accepted");
  refused([](auto& p) { p.geometry.batch = -1; }, "batch is -1");
  refused([](auto& p) { p.geometry.in_channels = 0; }, "in_channels is 0");
  refused([](auto& p) { p.geometry.out_channels = 0; }, "out_channels is 0");
  refused([](auto& p) { p.geometry.groups = 0; }, "groups is 0");
  refused([](auto& p) { p.geometry.groups = 3; }, "groups is 3; it must divide in_channels, 4");
  refused([](auto& p) { p.geometry.out_channels = 7; }, "it must divide out_channels, 7");
  refused([](auto& p) { p.geometry.height = 0; }, "vertical extent of x is 0");
  refused([](auto& p) { p.geometry.vertical.stride = 0; }, "vertical stride is 0");
  refused([](auto& p) { p.geometry.horizontal.kernel = 7; }, "no room for a window of 7");
  refused([](auto& p) { p.geometry.horizontal.pad_before = -1; }, "horizontal pad_before is -1");
  refused([](auto& p) { p.x = nullptr; }, "x is null");
  refused([](auto& p) { p.weights = nullptr; }, "weights is null");
  refused([](auto& p) { p.y = nullptr; }, "y is null");
  refused([](auto& p) { p.workspace = nullptr; }, "workspace is null", Variant::im2col);
  refused([&](auto& p) { p.workspace = memory.data() + 1; }, "not aligned", Variant::im2col);
  refused([](auto&) {}, "groups of one input channel", Variant::depthwise);
  refused([](auto& p) { p.geometry = {1, 2, 12, 11, 2, {.kernel = 12}, {.kernel = 11}, 2}; },
          "there are 132 taps", Variant::depthwise);
  if (!conv2d::supports<T>(Variant::implicit_gemm))
    refused([](auto&) {}, "there is no variant implicit_gemm", Variant::implicit_gemm);
}

} // namespace
} // namespace kg::test
