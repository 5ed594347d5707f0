// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise-separable convolutions, for conv2d_test.cu: a depthwise convolution and one of 1x1
// behind it, as MobileNets chain them (Howard et al., arXiv 1704.04861), on what the first one
// stored.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/conv2d_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/metamorphic.h"
#include "tests/support/vendor_runs.h"
#include "vendor/conv2d/conv2d.h"

namespace kg::test {
namespace {

// A depthwise convolution, and the one of 1x1 that reads its y.
struct Separable {
  Geometry depthwise, pointwise;
};
inline Separable separable(const Geometry& depthwise, std::int64_t out_channels) {
  return {depthwise,
          {depthwise.batch,
           depthwise.out_channels,
           depthwise.out_height(),
           depthwise.out_width(),
           out_channels,
           {},
           {},
           1,
           depthwise.layout}};
}

// What the chain gives in exact arithmetic, in the layout, and how far off it may be: an error of
// the first convolution, at most its bound, goes through the second one's weights, and the second
// one errs by its own bound, of numbers that are larger by as much.
struct ChainOracle {
  std::vector<double> value, tolerance;
};
inline ChainOracle chain_oracle(Dtype dtype, const Separable& s, const ConvData& first,
                                const ConvData& second) {
  const Convolution pointwise = oracle_problem(s.pointwise);
  const ConvolutionOracle between =
      convolution_oracle(oracle_problem(s.depthwise), first.x, first.weights, first.bias);
  ConvolutionOracle y = convolution_oracle(pointwise, between.value, second.weights, second.bias);
  const std::vector<double> value = y_in_layout(y.value, s.pointwise);
  std::vector<double> magnitudes;
  for (const double weight : second.weights) magnitudes.push_back(std::fabs(weight));
  const std::vector<double> passed_on =
      convolution_oracle(pointwise,
                         convolution_tolerances(dtype, oracle_problem(s.depthwise), between),
                         magnitudes, {})
          .value;
  for (std::size_t i = 0; i < passed_on.size(); ++i) {
    y.value[i] = std::fabs(y.value[i]) + passed_on[i];
    y.condition[i] += passed_on[i];
  }
  std::vector<double> tolerance = convolution_tolerances(dtype, pointwise, y);
  for (std::size_t i = 0; i < passed_on.size(); ++i) tolerance[i] += passed_on[i];
  return {value, y_in_layout(tolerance, s.pointwise)};
}

// y of a convolution as it was stored, as nchw.
template <class T>
std::vector<double> in_nchw(const Geometry& g, const std::vector<T>& y) {
  const std::vector<double> values = observe(y).values;
  if (g.layout == Layout::nchw) return values;
  return channels_first(values, g.batch, g.out_channels, g.out_places());
}

// In the shapes of MobileNets' layers, smaller: of stride 1 and 2, with twice as many channels
// behind.
TYPED_TEST(Conv2dTest, SeparableChainAgainstOracleAndVendor) {
  using T = TypeParam;
  const conv2d::Axis halves{.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  const conv2d::Axis five{.kernel = 5, .stride = 2, .pad_before = 2, .pad_after = 2};
  for (const Geometry& depthwise : in_both_layouts({{1, 32, 7, 7, 32, kThree, kThree, 32},
                                                    {2, 24, 9, 8, 24, halves, halves, 24},
                                                    {1, 20, 10, 9, 20, five, five, 20}})) {
    const Separable s = separable(depthwise, 2 * depthwise.out_channels);
    const ConvData first = this->normal_data(s.depthwise);
    ConvData second = this->normal_data(s.pointwise);
    const ChainOracle right = chain_oracle(this->kDtype, s, first, second);
    const Expectation expected{this->kDtype, y_shape(s.pointwise), right.value, right.tolerance};
    EXPECT_TRUE(not_vacuous(expected)) << text(depthwise);
    std::vector<Observed> theirs;
    for (const std::string_view vendor : vendor::conv2d_variants(this->kDtype, s.depthwise)) {
      const auto run = [&](const Geometry& g, const ConvData& data) {
        const ConvArrays<T> arrays(g, data, Variant::direct, {}, this->stream_);
        const conv2d::Problem<T> p = arrays.problem();
        // With a name: nvcc 13.0 makes no valid C++ of a list that is an argument here.
        const vendor::Conv2d asked{dtype_of<T>, g, p.x, p.weights, p.bias, p.y};
        vendor::conv2d(vendor, asked, vendor::Math::pedantic, this->stream_);
        return arrays.result(this->id(vendor), this->stream_);
      };
      if (!vendor_runs([&] {
            second.x = in_nchw(s.depthwise, run(s.depthwise, first));
            theirs.push_back(observe(run(s.pointwise, second)));
          }))
        report_no_vendor("conv2d", this->kDtype, vendor);
    }
    for (const Variant before : {Variant::direct, Variant::depthwise}) {
      second.x = in_nchw(s.depthwise, this->run(s.depthwise, first, before));
      for (const Variant behind : this->variants(s.pointwise)) {
        const Observed ours = observe(this->run(s.pointwise, second, behind));
        const CaseContext where = this->context(s.pointwise, second, conv2d::name(behind));
        EXPECT_TRUE(verdict(compare(ours, expected), where)) << conv2d::name(before);
        for (const Observed& library : theirs)
          EXPECT_TRUE(verdict(compare_with_vendor(ours, library, expected), where))
              << conv2d::name(before);
      }
    }
  }
}

// A depthwise convolution and one of 1x1 behind it are the one convolution whose weights are their
// products; of integers, exactly.
TYPED_TEST(Conv2dTest, DepthwiseSeparable) {
  for (const Geometry& depthwise : in_both_layouts({{2, 8, 6, 7, 8, kThree, kThree, 8}})) {
    const Geometry pointwise = separable(depthwise, 16).pointwise;
    Geometry whole = depthwise;
    whole.groups = 1;
    whole.out_channels = 16;
    const auto small = [&](std::int64_t count, Tensor tensor) {
      return integers(this->kDtype, count, 2, tensor).values;
    };
    const ConvData first{"integers",
                         small(depthwise.inputs(), Tensor::a),
                         small(depthwise.weights(), Tensor::b),
                         {}};
    const std::vector<double> mixing = small(pointwise.weights(), Tensor::c);
    ConvData together = first;
    together.weights.clear();
    for (std::size_t o = 0; o < 16; ++o)
      for (std::size_t c = 0; c < 8; ++c)
        for (std::size_t tap = 0; tap < 9; ++tap)
          together.weights.push_back(mixing[o * 8 + c] * first.weights[c * 9 + tap]);
    for (const Variant variant : this->variants(depthwise)) {
      const ConvData second{
          "integers", in_nchw(depthwise, this->run(depthwise, first, variant)), mixing, {}};
      const Variant dense = variant == Variant::depthwise ? Variant::direct : variant;
      EXPECT_TRUE(same_bits("separable", this->run(pointwise, second, dense),
                            this->run(whole, together, dense)))
          << conv2d::name(variant);
    }
  }
}

} // namespace
} // namespace kg::test
