// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to pooling; its card configures those of every operation.
#include "ops/pooling/pooling.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/ops/pooling/problems.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

using pooling::Kind;

// More images than a grid's y extent can count.
KG_OWN_TEST(ManyImages) {
  const std::int64_t images = device_properties().max_grid_yz + 4;
  judge.check({"normal", "max_nhwc_n" + std::to_string(images) + "_c1_h1_w2_k1_s1.2_p0"});
}

// Both layouts hold the same problem; planes are independent; scaling by a power of two is exact.
KG_OWN_TEST(Relations) {
  const Dtype dtype = judge.dtype();
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  pooling::Problem last{2, 8, 9, 10, three, three};
  last.layout = pooling::Layout::nhwc;
  constexpr std::int64_t kPlane = 90;
  const std::vector<double> x = test::normal(dtype, last.inputs(), test::Tensor::a).values;
  std::vector<double> changed = x;
  changed[static_cast<std::size_t>(5 * kPlane + 37)] = std::numeric_limits<double>::quiet_NaN();
  for (const std::string kind : {"max", "avgpad", "avg"})
    for (const Variant& variant : judge.card().variants) {
      const std::string what = variant.name + ", " + kind + ": ";
      const auto of = [&](const std::string& layout, const std::vector<double>& images) {
        return judge
            .run(variant.name, {"relation",
                                kind + "_" + layout + "_n2_c8_h9_w10_k3_s1_p1",
                                {{"x", values(dtype, images)}}})
            .outputs.at("y");
      };
      const test::Observed y = of("nchw", x);
      if (kind == "max" || variant.name == "naive") { // the others add in another order
        EXPECT_EQ(of("nhwc", test::x_in_layout(x, last)).bits, test::y_in_layout(y.bits, last))
            << what << "both layouts";
      }
      std::set<std::int64_t> planes;
      const std::vector<std::uint64_t> other = of("nchw", changed).bits;
      for (std::size_t i = 0; i < other.size(); ++i)
        if (other[i] != y.bits[i]) planes.insert(static_cast<std::int64_t>(i) / kPlane);
      EXPECT_EQ(planes, std::set<std::int64_t>{5}) << what << "a change in one plane";
      EXPECT_EQ(of("nchw", test::scaled(x, 2)).values, test::scaled(y.values, 2))
          << what << "pooling(4 x) = 4 pooling(x)";
    }
}

// Equal planes have averages with equal bits at any position. Their large elements cancel, so that
// the loss of another order of summation is visible.
KG_OWN_TEST(EqualPlanes) {
  const Dtype dtype = judge.dtype();
  constexpr std::size_t kPlanes = 137;
  for (const std::size_t extent : {7, 17}) {
    const std::size_t size = extent * extent;
    std::vector<double> plane =
        test::normal(dtype, static_cast<std::int64_t>(size), test::Tensor::a).values;
    for (std::size_t i = 0; i < size; ++i)
      plane[i] = i % 3 == 2 ? 0x1p15 * (i % 2 == 0 ? 1 : -1) : test::round_to(dtype, plane[i] / 64);
    std::vector<double> x;
    for (std::size_t p = 0; p < kPlanes; ++p) x.insert(x.end(), plane.begin(), plane.end());
    const std::string text = std::to_string(extent);
    for (const Variant& variant : judge.card().variants) {
      const auto y = judge
                         .run(variant.name, {"equal planes",
                                             "avg_nchw_n1_c" + std::to_string(kPlanes) + "_h" +
                                                 text + "_w" + text + "_k" + text + "_s1_p0",
                                             {{"x", values(dtype, x)}}})
                         .outputs.at("y");
      EXPECT_EQ(y.bits, std::vector<std::uint64_t>(kPlanes, y.bits[0])) << variant.name;
    }
  }
}

// Indices beyond 32 bits.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  dispatch(judge.dtype(), [&]<class T>() {
    for (const pooling::Problem& problem : test::in_both_layouts({{1, 8, 16384, 16400, {}, {}}})) {
      const std::int64_t n = problem.inputs();
      // Tiles of images do not follow the order of elements, so a window would miss marks.
      KG_SKIP_IF_TOO_HUGE(2 * static_cast<std::size_t>(n) * sizeof(T));
      constexpr unsigned char kByte = 0x3C; // a normal number of each type
      const T everywhere = test::from_raw_bits<T>(0x3C3C3C3Cu & test::poison_bits(judge.dtype()));
      const DeviceBuffer<T> x(static_cast<std::size_t>(n));
      fill_bytes(x.data(), kByte, x.bytes(), judge.stream());
      test::Marks<T> marks;
      double next = 3;
      for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, n - 1})
        marks[index] = test::elements<T>(std::vector<double>{next++})[0];
      test::put(marks, x, judge.stream());
      for (const pooling::Variant variant : pooling::kVariants) {
        const DeviceBuffer<T> y(static_cast<std::size_t>(n));
        pooling::run<T>(Kind::max, problem, x.data(), y.data(), variant, judge.stream());
        EXPECT_TRUE(test::holds(y, everywhere, marks, judge.stream())) << name(variant);
        EXPECT_NO_THROW(y.check_guards());
      }
    }
  });
}

// Windows that no image has, which the contract's problems cannot have.
KG_OWN_TEST(RefusesWindows) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> x(64), y(64);
    const pooling::Problem right{1, 4, 4, 4, {.kernel = 2}, {.kernel = 2}};
    LaunchRecorder recorder;
    const auto refused = [&](auto change) {
      pooling::Problem wrong = right;
      change(wrong);
      for (const pooling::Variant variant : pooling::kVariants)
        EXPECT_THROW(pooling::run<T>(Kind::max, wrong, x.data(), y.data(), variant, judge.stream()),
                     Error)
            << test::text(wrong);
    };
    refused([](pooling::Problem& p) { p.height = 0; });
    refused([](pooling::Problem& p) { p.width = std::int64_t{1} << 30; });
    refused([](pooling::Problem& p) { p.vertical.kernel = 0; });
    refused([](pooling::Problem& p) { p.horizontal.stride = 0; });
    refused([](pooling::Problem& p) { p.vertical.pad_before = -1; });
    refused([](pooling::Problem& p) { p.horizontal.pad_after = -1; });
    refused([](pooling::Problem& p) { p.vertical.dilation = 0; });
    refused([](pooling::Problem& p) { p.horizontal.kernel = 5; });
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
