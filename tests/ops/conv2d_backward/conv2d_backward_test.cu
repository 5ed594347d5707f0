// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to conv2d_backward; its card configures those of every operation.
#include "ops/conv2d_backward/conv2d_backward.h"

#include <limits>
#include <set>

#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/ops/conv2d_backward/samples.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

using conv2d::Geometry;
using conv2d_backward::Gradient;
using conv2d_backward::kGradients;
using conv2d_backward_samples::shape_of;
using test::in_both_layouts;
using test::kThree;

// dy and the factor aligned for accesses of at most 8 bytes: one of them, or both.
KG_OWN_TEST(NarrowPlaces) {
  const Geometry packs{1, 16, 4, 9, 16, {}, kThree, 1, conv2d::Layout::nhwc};
  for (const Gradient gradient : {Gradient::input, Gradient::weights})
    for (const auto& [dy, factor] : {std::pair{2, 0}, {0, 2}, {4, 4}, {1, 8}, {4, 1}, {0, 3}})
      judge.check({"normal", shape_of(gradient, packs)},
                  {{"dy", {dy}},
                   {gradient == Gradient::input ? "weights" : "x", {factor}},
                   {"gradient", {5}}});
}

// Indices beyond 32 bits: dx repeats dy, whose marks identify each element's origin; each element
// of the other gradients is the sum of its channel's marks.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  dispatch(judge.dtype(), [&]<class T>() {
    using conv2d_backward::Variant;
    Stream& stream = judge.stream();
    for (const Geometry& g : in_both_layouts({{1, 8, 16384, 16400, 8, {}, {}, 8}})) {
      const std::int64_t n = g.inputs();
      KG_SKIP_IF_TOO_HUGE(2 * static_cast<std::size_t>(n) * sizeof(T));
      const DeviceBuffer<T> dy(static_cast<std::size_t>(n)), other(static_cast<std::size_t>(n));
      const std::vector<T> ones = test::elements<T>(std::vector<double>(8, 1));
      const auto weights = DeviceBuffer<T>::from_host(ones, stream);
      fill_bytes(dy.data(), 0, dy.bytes(), stream);
      test::Marks<T> marks;
      std::vector<double> sums(8);
      double next = 3;
      for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, n - 1}) {
        const std::int64_t channel = g.layout == conv2d::Layout::nhwc ? index % 8 : index / (n / 8);
        sums[static_cast<std::size_t>(channel)] += next;
        marks[index] = test::elements<T>(std::vector<double>{next++})[0];
      }
      test::put(marks, dy, stream);
      const auto run = [&](Gradient gradient, Variant variant, const T* x, T* result) {
        const DeviceBuffer<std::byte> workspace(
            conv2d_backward::workspace_bytes<T>(gradient, g, variant));
        conv2d_backward::run<T>(
            gradient, {g, dy.data(), x, weights.data(), result, workspace.data()}, variant, stream);
      };
      for (const Variant variant : conv2d_backward::kVariants) {
        if (!conv2d_backward::supports<T>(Gradient::input, variant, g)) continue;
        run(Gradient::input, variant, nullptr, other.data());
        EXPECT_TRUE(test::holds(other, T{}, marks, stream)) << name(variant);
      }
      fill_bytes(other.data(), 0, other.bytes(), stream);
      for (const auto& [index, value] : marks)
        copy_to_device(other.data() + index, ones.data(), sizeof(T), stream);
      for (const Gradient gradient : {Gradient::weights, Gradient::bias}) {
        const Variant variant =
            gradient == Gradient::bias ? Variant::vectorized : Variant::implicit_gemm;
        if (!conv2d_backward::supports<T>(gradient, variant, g)) continue;
        const DeviceBuffer<T> result(8);
        run(gradient, variant, other.data(), result.data());
        EXPECT_TRUE(
            test::same_bits("sums of marks", result.to_host(stream), test::elements<T>(sums)))
            << name(gradient);
      }
    }
  });
}

// Images are independent in dx; scaling by a power of two is exact.
KG_OWN_TEST(Relations) {
  const Dtype dtype = judge.dtype();
  for (const Geometry& g : in_both_layouts(
           {{3, 8, 6, 7, 18, kThree, {.stride = 2}}, {3, 8, 6, 7, 8, kThree, kThree, 8}})) {
    const std::vector<double> dy = test::normal(dtype, g.outputs(), test::Tensor::a).values;
    std::vector<double> changed = dy;
    changed[dy.size() / 2] = std::numeric_limits<double>::quiet_NaN();
    for (const Gradient gradient : kGradients) {
      Sample sample{"normal", shape_of(gradient, g)};
      judge.each_variant(sample, [&](const Variant& variant) {
        const auto of = [&](const std::vector<double>& images) {
          sample.inputs["dy"] = values(dtype, images);
          return judge.run(variant.name, sample).outputs.at("gradient");
        };
        const test::Observed result = of(dy);
        EXPECT_EQ(of(test::scaled(dy, 2)).values, test::scaled(result.values, 2))
            << variant.name << ": of 4 dy, 4 times the gradient";
        if (gradient != Gradient::input) return;
        const test::Observed other = of(changed);
        std::set<std::int64_t> images;
        for (std::size_t i = 0; i < result.bits.size(); ++i)
          if (other.bits[i] != result.bits[i])
            images.insert(static_cast<std::int64_t>(i) / (g.inputs() / g.batch));
        EXPECT_EQ(images, std::set<std::int64_t>{1}) << variant.name << ": a change in one image";
      });
    }
  }
}

KG_OWN_TEST(AutomaticChoosesByProblem) {
  dispatch(judge.dtype(), [&]<class T>() {
    using conv2d_backward::Variant;
    const Geometry dense{1, 8, 4, 4, 8, kThree, kThree};
    const Geometry few{1, 7, 4, 4, 7, kThree, kThree};
    const Geometry depthwise{1, 8, 4, 4, 8, kThree, kThree, 8};
    const auto chosen = [&](Gradient gradient, const Geometry& g) {
      const Problem problem =
          problem_of(judge.card(), judge.dtype(), {"normal", shape_of(gradient, g)});
      const Outcome outcome =
          execute(judge.card().run_automatic, problem, completed(problem, {}), judge.stream());
      EXPECT_EQ(outcome.ran, name(conv2d_backward::resolve<T>(gradient, g)));
      return outcome.ran;
    };
    const std::string product(
        name(conv2d_backward::supports<T>(Gradient::input, Variant::implicit_gemm, dense)
                 ? Variant::implicit_gemm
                 : Variant::direct));
    EXPECT_EQ(chosen(Gradient::input, dense), product);
    EXPECT_EQ(chosen(Gradient::input, few), "direct");
    EXPECT_EQ(chosen(Gradient::input, depthwise), "depthwise");
    EXPECT_EQ(chosen(Gradient::weights, dense), product);
    EXPECT_EQ(chosen(Gradient::weights, depthwise), "direct");
    EXPECT_EQ(chosen(Gradient::bias, few), "vectorized");
  });
}

// Problems that the contract does not have, and the workspace.
KG_OWN_TEST(RefusesGeometries) {
  dispatch(judge.dtype(), [&]<class T>() {
    using conv2d_backward::Variant;
    const auto memory = DeviceBuffer<T>::from_host(std::vector<T>(8192), judge.stream());
    const conv2d_backward::Problem<T> right{{1, 4, 5, 6, 8, {.kernel = 2}, {.kernel = 2}, 2},
                                            memory.data(),
                                            memory.data() + 256,
                                            memory.data() + 512,
                                            memory.data() + 1024,
                                            memory.data() + 2048};
    const auto refused = [&](Gradient gradient, const std::string& words, Variant variant,
                             auto change) {
      conv2d_backward::Problem<T> wrong = right;
      change(wrong);
      const std::string said =
          refusal([&] { conv2d_backward::run(gradient, wrong, variant, judge.stream()); });
      EXPECT_NE(said.find(words), std::string::npos) << said;
    };
    const auto nothing = [](auto&) {};
    for (const Gradient gradient : kGradients) {
      refused(gradient, "accepted", Variant::automatic, nothing);
      refused(gradient, "groups is 3", Variant::direct, [](auto& p) { p.geometry.groups = 3; });
      refused(gradient, "dy is null", Variant::direct, [](auto& p) { p.dy = nullptr; });
      refused(gradient, "gradient is null", Variant::direct, [](auto& p) { p.gradient = nullptr; });
      refused(gradient,
              gradient == Gradient::input     ? "weights is null"
              : gradient == Gradient::weights ? "x is null"
                                              : "accepted",
              Variant::direct, [](auto& p) { p.x = p.weights = nullptr; });
    }
    refused(Gradient::bias, "workspace is null", Variant::vectorized,
            [](auto& p) { p.workspace = nullptr; });
    refused(Gradient::bias, "not aligned", Variant::vectorized,
            [&](auto& p) { p.workspace = memory.data() + 1; });
    refused(Gradient::bias, "no variant implicit_gemm for the gradient of the bias",
            Variant::implicit_gemm, nothing);
    refused(Gradient::input, "no variant depthwise", Variant::depthwise, nothing);
    refused(Gradient::weights, "no variant vectorized", Variant::vectorized, nothing);
  });
}

} // namespace
} // namespace kg::card
