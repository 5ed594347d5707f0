// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to pooling_backward; its card configures those of every operation.
#include "ops/pooling_backward/pooling_backward.h"

#include <limits>
#include <set>

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/ops/pooling/problems.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using pooling::Kind;
using pooling_backward::kVariants;
using pooling_backward::workspace_bytes;

// Both layouts hold the same problem; planes are independent; all of dy contributes.
KG_OWN_TEST(Relations) {
  const Dtype dtype = judge.dtype();
  const pooling::Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  pooling::Problem last{2, 8, 9, 10, three, three};
  last.layout = pooling::Layout::nhwc;
  constexpr std::int64_t kPlane = 90;
  const std::vector<double> x = test::normal(dtype, last.inputs(), test::Tensor::a).values;
  const std::vector<double> dy = test::integers(dtype, last.outputs(), 9, test::Tensor::b).values;
  std::vector<double> changed = dy;
  changed[5 * kPlane + 37] = std::numeric_limits<double>::quiet_NaN();
  for (const std::string kind : {"max", "avgpad", "avg"})
    for (const Variant& variant : judge.card().variants) {
      const std::string what = variant.name + ", " + kind + ": ";
      const auto of = [&](const std::string& layout, const std::vector<double>& x,
                          const std::vector<double>& dy) {
        Inputs inputs = {{"dy", values(dtype, dy)}};
        if (kind == "max") inputs["x"] = values(dtype, x);
        return judge
            .run(variant.name,
                 {"relation", kind + "_" + layout + "_n2_c8_h9_w10_k3_s1_p1", std::move(inputs)})
            .outputs.at("dx");
      };
      const test::Observed dx = of("nchw", x, dy);
      if (kind == "max" || variant.name == "naive") { // the others add in another order
        EXPECT_EQ(of("nhwc", test::x_in_layout(x, last), test::y_in_layout(dy, last)).bits,
                  test::x_in_layout(dx.bits, last))
            << what << "both layouts";
      }
      std::set<std::int64_t> planes;
      const std::vector<std::uint64_t> other = of("nchw", x, changed).bits;
      for (std::size_t i = 0; i < other.size(); ++i)
        if (other[i] != dx.bits[i]) planes.insert(static_cast<std::int64_t>(i) / kPlane);
      EXPECT_EQ(planes, std::set<std::int64_t>{5}) << what << "a change in one plane";
      if (kind != "max") continue;
      double sum = 0;
      for (const double value : dx.values) sum += value;
      for (const double value : dy) sum -= value;
      EXPECT_EQ(sum, 0) << what << "the whole of dy";
    }
}

// One window with more taps than a byte can encode.
KG_OWN_TEST(MostPlaces) {
  using pooling_backward::Variant;
  const pooling::Problem beyond{1, 1, 17, 17, {.kernel = 17}, {.kernel = 17}};
  EXPECT_FALSE(pooling_backward::supports(Variant::vectorized, Kind::max, beyond));
  EXPECT_TRUE(
      pooling_backward::supports(Variant::vectorized, Kind::average_include_padding, beyond));
  EXPECT_EQ(workspace_bytes(Variant::automatic, Kind::max, beyond), 0u);
}

// Indices beyond 32 bits.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  dispatch(judge.dtype(), [&]<class T>() {
    for (const pooling::Problem& problem : test::in_both_layouts({{1, 8, 16384, 16400, {}, {}}})) {
      const std::int64_t n = problem.inputs();
      // Tiles of images do not follow the order of elements, so a window would miss marks.
      KG_SKIP_IF_TOO_HUGE(static_cast<std::size_t>(n) * (3 * sizeof(T) + 1));
      constexpr unsigned char kByte = 0x3C; // a normal number of each type
      const T everywhere = test::from_raw_bits<T>(0x3C3C3C3Cu & test::poison_bits(judge.dtype()));
      const DeviceBuffer<T> dy(static_cast<std::size_t>(n));
      fill_bytes(dy.data(), kByte, dy.bytes(), judge.stream());
      test::Marks<T> marks;
      double next = 3;
      for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, n - 1})
        marks[index] = test::elements<T>(std::vector<double>{next++})[0];
      test::put(marks, dy, judge.stream());
      const DeviceBuffer<unsigned char> workspace(
          workspace_bytes(pooling_backward::Variant::vectorized, Kind::max, problem));
      for (const pooling_backward::Variant variant : kVariants) {
        const DeviceBuffer<T> dx(static_cast<std::size_t>(n));
        pooling_backward::run<T>(Kind::max, problem, dy.data(), dy.data(), dx.data(),
                                 workspace.data(), variant, judge.stream());
        EXPECT_TRUE(test::holds(dx, everywhere, marks, judge.stream())) << name(variant);
        EXPECT_NO_THROW(dx.check_guards());
      }
    }
  });
}

// A window that no image has, and a missing workspace, which the contract's problems cannot have.
KG_OWN_TEST(RefusesWindowsAndWorkspaces) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(64), dx(64);
    const DeviceBuffer<unsigned char> workspace(64);
    const pooling::Problem right{1, 4, 4, 4, {.kernel = 2}, {.kernel = 2}};
    pooling::Problem wrong = right;
    wrong.horizontal.kernel = 5;
    LaunchRecorder recorder;
    const auto run = [&](const pooling::Problem& problem, void* bytes,
                         pooling_backward::Variant variant) {
      pooling_backward::run<T>(Kind::max, problem, data.data(), data.data(), dx.data(), bytes,
                               variant, judge.stream());
    };
    for (const pooling_backward::Variant variant : kVariants)
      EXPECT_THROW(run(wrong, workspace.data(), variant), Error) << name(variant);
    EXPECT_THROW(run(right, nullptr, pooling_backward::Variant::vectorized), Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
