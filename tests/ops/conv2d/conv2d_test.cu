// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to conv2d; its card configures those of every operation.
#include "ops/conv2d/conv2d.h"

#include <cmath>
#include <limits>
#include <set>

#include "runtime/backend.h"
#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/samples.h"
#include "tests/ops/conv2d/convolutions.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

using conv2d::Geometry;
using test::in_both_layouts;
using test::kThree;

Sample normal(const Geometry& g) { return {"normal", test::text(g)}; }

// Strips of 4 columns and 8 rows, rows of whole packs and almost whole packs, blocks of 16 channel
// packs, iterations of a block.
KG_OWN_TEST(DepthwiseSizes) {
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(judge.dtype()));
  for (const Geometry& g :
       in_both_layouts({{3, 8, 8, 4, 8, kThree, kThree, 8},
                        {1, 8, 9, 5, 8, kThree, kThree, 8},
                        {1, 65, 2, 3, 65, {}, {.kernel = 3}, 65},
                        {1, 6, 4, 5, 6, kThree, kThree, 6},
                        {2, 3, 9, 24, 3, kThree, kThree, 3},
                        {1, 3, 5, 16, 6, kThree, kThree, 3},
                        {1, 3, 5, 16, 3, kThree, {.kernel = 3, .pad_after = 2}, 3},
                        {1, 3, 5, 16, 3, kThree, {.kernel = 3, .pad_before = 1}, 3},
                        {1, 12, 4, 5, 12, kThree, kThree, 12},
                        {1, 24, 5, 7, 24, {.kernel = 3}, kThree, 24},
                        {1, 16, 4, 6, 16, kThree, {.kernel = 3, .pad_after = 2}, 16},
                        {1, 34 * pack, 2, 3, 34 * pack, {}, {.kernel = 2}, 34 * pack},
                        {1, 3, 2, 5, 12 * pack, {}, {.kernel = 3}, 3},
                        {1, 16 * pack, 88, 10, 16 * pack, {}, {}, 16 * pack},
                        {1, 3 * pack, 88, 5, 3 * pack, {}, {}, 3 * pack},
                        {1, 8, 8, 16, 8, {.kernel = 8}, {.kernel = 16}, 8}})) {
    judge.check(normal(g), {}, {"depthwise"});
    if (g.layout == conv2d::Layout::nchw) continue;
    EXPECT_EQ(judge.run("depthwise", normal(g)).bits("y"), judge.run("direct", normal(g)).bits("y"))
        << "row by row, as direct: " << test::text(g);
  }
}

// Tensor Core tiles at their edges: several along a row and in a column, single ones, parts of a
// plane, the last pack and row; padding on one side and on both.
const Geometry kBanded[] = {{2, 3, 16, 56, 3, kThree, kThree, 3},
                            {1, 2, 15, 64, 2, kThree, kThree, 2},
                            {1, 2, 29, 104, 2, kThree, kThree, 2},
                            {1, 1, 60, 128, 1, kThree, kThree, 1},
                            {1, 2, 16, 64, 2, {.kernel = 3}, kThree, 2},
                            {1, 2, 13, 64, 2, {.kernel = 3, .pad_before = 2}, kThree, 2}};
KG_OWN_TEST(BandsAtTheirEdges) {
  for (const Geometry& g : kBanded) judge.check(normal(g), {}, {"depthwise"});
}

// Non-finite values stay in the windows that contain them, although Tensor Cores also multiply them
// by the zeros around their taps.
KG_OWN_TEST(BandsOnSpecialValues) {
  const Dtype dtype = judge.dtype();
  for (const Geometry& g : kBanded)
    for (const double special :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      for (const std::int64_t at : {std::int64_t{0}, g.inputs() / 2, g.inputs() - 1}) {
        Sample sample = normal(g);
        std::vector<double> x = test::normal(dtype, g.inputs(), test::Tensor::a).values;
        x[static_cast<std::size_t>(at)] = special;
        sample.inputs["x"] = values(dtype, x);
        judge.check(sample, {}, {"depthwise"});
      }
}

// Enough work for each warp to go down several tiles or rows on the executor's devices.
KG_OWN_TEST(DepthwiseDownAPlane) {
  judge.check(normal({8, 32, 29, 48, 32, kThree, kThree, 32}), {}, {"depthwise"});
  judge.check(normal({16, 64, 9, 32, 64, kThree, kThree, 64, conv2d::Layout::nhwc}), {},
              {"depthwise"});
}

// x and the weights aligned for accesses of at most 8 bytes: one of them, or both.
KG_OWN_TEST(NarrowPlaces) {
  for (const Geometry& g : {Geometry{1, 16, 5, 8, 16, {}, kThree, 1, conv2d::Layout::nhwc},
                            Geometry{1, 16, 3, 5, 64, {}, {}},
                            Geometry{1, 16, 3, 5, 64, {}, {}, 1, conv2d::Layout::nhwc},
                            Geometry{1, 4, 4, 5, 8, {}, kThree, 4}})
    for (const auto& [x, weights] :
         {std::pair{0, 0}, {2, 0}, {4, 2}, {8, 4}, {4, 1}, {0, 2}, {0, 3}})
      judge.check(normal(g), {{"x", {x}}, {"weights", {weights}}, {"bias", {1}}, {"y", {5}}});
}

// The columns of all images need more memory than im2col requests, so it computes them in parts.
// Here the second part is a single image, and one filter keeps the oracle's work small.
KG_OWN_TEST(ColumnsInParts) {
  Geometry g{1, 64, 32, 32, 1, kThree, kThree};
  const auto bytes = [&] {
    return dispatch(judge.dtype(), [&]<class T>() {
      return conv2d::workspace_bytes<T>(g, conv2d::Variant::im2col);
    });
  };
  const std::size_t one = bytes();
  g.batch = 1000;
  EXPECT_LE(bytes(), std::size_t{64} << 20);
  EXPECT_EQ(bytes() % one, 0u);
  ASSERT_GT(bytes(), one);
  g.batch = static_cast<std::int64_t>(bytes() / one) + 1;
  judge.check(normal(g), {}, {"im2col"});
}

// Indices beyond 32 bits: y repeats x, whose marks identify each element's origin.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  dispatch(judge.dtype(), [&]<class T>() {
    for (const Geometry& g : in_both_layouts({{1, 8, 16384, 16400, 8, {}, {}, 8}})) {
      const std::int64_t n = g.inputs();
      KG_SKIP_IF_TOO_HUGE(2 * static_cast<std::size_t>(n) * sizeof(T));
      constexpr unsigned char kByte = 0x3C; // a normal number of each type
      const T everywhere = test::from_raw_bits<T>(0x3C3C3C3Cu & test::poison_bits(judge.dtype()));
      const DeviceBuffer<T> x(static_cast<std::size_t>(n));
      fill_bytes(x.data(), kByte, x.bytes(), judge.stream());
      const auto weights =
          DeviceBuffer<T>::from_host(test::elements<T>(std::vector<double>(8, 1)), judge.stream());
      test::Marks<T> marks;
      double next = 3;
      for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, n - 1})
        marks[index] = test::elements<T>(std::vector<double>{next++})[0];
      test::put(marks, x, judge.stream());
      for (const conv2d::Variant variant : conv2d::kVariants) {
        if (!conv2d::supports<T>(variant, g)) continue;
        const DeviceBuffer<T> y(static_cast<std::size_t>(n));
        conv2d::run<T>({g, x.data(), weights.data(), nullptr, y.data()}, variant, judge.stream());
        EXPECT_TRUE(test::holds(y, everywhere, marks, judge.stream())) << name(variant);
        EXPECT_NO_THROW(y.check_guards());
      }
    }
  });
}

// Images are independent; scaling by a power of two is exact.
KG_OWN_TEST(Relations) {
  const Dtype dtype = judge.dtype();
  for (const Geometry& g :
       in_both_layouts({{3, 8, 6, 7, 18, kThree, kThree}, {3, 8, 6, 7, 8, kThree, kThree, 8}})) {
    Sample sample = normal(g);
    sample.without = {"bias"};
    const std::vector<double> x = test::normal(dtype, g.inputs(), test::Tensor::a).values;
    std::vector<double> changed = x;
    changed[x.size() / 2] = std::numeric_limits<double>::quiet_NaN();
    judge.each_variant(sample, [&](const Variant& variant) {
      const auto of = [&](const std::vector<double>& images) {
        sample.inputs["x"] = values(dtype, images);
        return judge.run(variant.name, sample).outputs.at("y");
      };
      const test::Observed y = of(x), other = of(changed);
      std::set<std::int64_t> images;
      for (std::size_t i = 0; i < y.bits.size(); ++i)
        if (other.bits[i] != y.bits[i])
          images.insert(static_cast<std::int64_t>(i) / (g.outputs() / g.batch));
      EXPECT_EQ(images, std::set<std::int64_t>{1}) << variant.name << ": a change in one image";
      EXPECT_EQ(of(test::scaled(x, 2)).values, test::scaled(y.values, 2))
          << variant.name << ": (4 x) * weights = 4 (x * weights)";
    });
  }
}

// The order of the sums is the same. The batch is not a constant of the kernel, but with many
// outputs a thread computes several of them, in a different kernel.
KG_OWN_TEST(JitGivesTheBitsOfDirect) {
  for (Geometry g : in_both_layouts({test::compiled_geometry()}))
    for (const std::int64_t batch : {2, 1, 100}) {
      if (batch == 100 && judge.dtype() != Dtype::f32) continue;
      g.batch = batch;
      EXPECT_EQ(judge.run("jit", normal(g)).bits("y"), judge.run("direct", normal(g)).bits("y"))
          << test::text(g);
    }
}

KG_OWN_TEST(AutomaticChoosesByProblem) {
  dispatch(judge.dtype(), [&]<class T>() {
    using conv2d::Variant;
    const auto chosen = [&](const Geometry& g) {
      const Problem problem = problem_of(judge.card(), judge.dtype(), normal(g));
      const Outcome outcome =
          execute(judge.card().run_automatic, problem, completed(problem, {}), judge.stream());
      EXPECT_EQ(outcome.ran, name(conv2d::resolve<T>(g)));
      return outcome.ran;
    };
    const Variant product =
        conv2d::supports<T>(Variant::implicit_gemm) ? Variant::implicit_gemm : Variant::im2col;
    const bool mma = product == Variant::implicit_gemm && judge.dtype() != Dtype::f32;
    const std::int64_t least = mma ? 8 : 16;
    EXPECT_EQ(chosen({1, 8, 6, 6, least, kThree, kThree}), name(product));
    EXPECT_EQ(chosen({1, 8, 6, 6, least - 1, kThree, kThree}), "direct");
    EXPECT_EQ(chosen({1, 16, 6, 6, 16, kThree, kThree, 8}), "direct");
    EXPECT_EQ(chosen({1, 16, 6, 6, 16, kThree, kThree, 16}), "depthwise");
    EXPECT_EQ(chosen({1, 2, 12, 11, 2, {.kernel = 12}, {.kernel = 11}, 2}), "direct");
    EXPECT_EQ(chosen({1, 8, 1, 31, 16, {}, {}}), "direct");
  });
}

// If the numbers of waves are equal, the tiles with less padding; wide tiles if they halve the
// number of waves and a sum is long.
KG_OWN_TEST(TilesByRounds) {
  if (judge.dtype() == Dtype::f32) return; // only one kind
  const auto test = [&]<class T>() {
    using conv2d::MmaTiles;
    const std::int64_t sms = device_properties().sm_count;
    constexpr std::size_t kWide = 4 * (128 + 256) * 32 * 2 + 128 * 16; // slices, window table
    const MmaTiles wide = device_properties().shared_bytes_per_block_optin >= kWide
                              ? MmaTiles::wide
                              : MmaTiles::square;
    const auto of = [&](std::int64_t places, std::int64_t outputs, std::int64_t inputs,
                        MmaTiles tiles = MmaTiles::automatic, std::int64_t groups = 1) {
      return conv2d::tiles_of_mma<T>({.geometry = {1,
                                                   inputs * groups,
                                                   1,
                                                   places,
                                                   outputs * groups,
                                                   {},
                                                   {},
                                                   groups,
                                                   conv2d::Layout::nhwc},
                                      .tiles = tiles});
    };
    EXPECT_EQ(of(256 * sms, 64, 8), MmaTiles::narrow);
    EXPECT_EQ(of(256, 64, 8), MmaTiles::square) << "as many rounds";
    EXPECT_EQ(of(128 * sms, 128, 8), MmaTiles::square) << "as many rounds";
    EXPECT_EQ(of(256, 128, 8), MmaTiles::square);
    EXPECT_EQ(of(128 * sms, 256, 2048), wide);
    EXPECT_EQ(of(128 * sms, 256, 2040), MmaTiles::square) << "a short sum";
    EXPECT_EQ(of(128, 256, 2048), MmaTiles::square) << "half of the device would be idle";
    EXPECT_EQ(of(128 * sms, 256, 2052), MmaTiles::narrow) << "no whole packs";
    EXPECT_EQ(of(std::int64_t{1} << 29, 128, 64), MmaTiles::narrow) << "windows too far apart";
    EXPECT_EQ(of(std::int64_t{1} << 29, 128, 24), MmaTiles::square);
    EXPECT_EQ(of(128, 256, 8, MmaTiles::wide), wide);
    EXPECT_EQ(of(128, 256, 8, MmaTiles::narrow), MmaTiles::narrow);
    EXPECT_EQ(of(256 * sms, 64, 8, MmaTiles::square), MmaTiles::square);
    EXPECT_EQ(of(256 * (sms / 2), 64, 8, MmaTiles::automatic, 4), MmaTiles::narrow);
  };
  judge.dtype() == Dtype::f16 ? test.template operator()<f16>() : test.template operator()<bf16>();
}

// Geometries that no contract problem has, and the workspace.
KG_OWN_TEST(RefusesGeometries) {
  dispatch(judge.dtype(), [&]<class T>() {
    using conv2d::Variant;
    const auto memory = DeviceBuffer<T>::from_host(std::vector<T>(4096), judge.stream());
    const auto message = [&](const conv2d::Problem<T>& p, Variant variant) {
      return refusal([&] { conv2d::run(p, variant, judge.stream()); });
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
    refused([](auto& p) { p.workspace = nullptr; }, "workspace is null", Variant::im2col);
    refused([&](auto& p) { p.workspace = memory.data() + 1; }, "not aligned", Variant::im2col);
    refused([](auto&) {}, "groups of one input channel", Variant::depthwise);
    refused([](auto& p) { p.geometry = {1, 2, 12, 11, 2, {.kernel = 12}, {.kernel = 11}, 2}; },
            "there are 132 taps", Variant::depthwise);
    if (!conv2d::supports<T>(Variant::implicit_gemm))
      refused([](auto&) {}, "no variant implicit_gemm", Variant::implicit_gemm);
  });
}

} // namespace
} // namespace kg::card
