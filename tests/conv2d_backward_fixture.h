// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How conv2d_backward_test.cu makes, runs and judges one gradient.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "tests/conv2d_problems.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "conv2d_backward/conv2d_backward.h"

namespace kg::test {

using conv2d::Geometry;
using conv2d::Layout;
using conv2d_backward::Gradient;
using conv2d_backward::kGradients;
using conv2d_backward::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t dy = 0;
  std::int64_t factor = 0; // x, and the weights
  std::int64_t gradient = 0;
};

// Values in nchw and oihw.
struct BackwardData {
  std::string fill;
  std::vector<double> dy, x, weights;
};

// From nchw and oihw to the problem's layout.
template <typename V>
std::vector<V> gradient_in_layout(Gradient gradient, const std::vector<V>& values,
                                  const Geometry& g) {
  switch (gradient) {
  case Gradient::input: return x_in_layout(values, g);
  case Gradient::weights: return weights_in_layout(values, g);
  case Gradient::bias: break;
  }
  return values;
}

// As results are compared, in the problem's layout.
inline std::vector<std::int64_t> gradient_shape(Gradient gradient, const Geometry& g) {
  switch (gradient) {
  case Gradient::input: return shape_in_layout(g.layout, g.batch, g.in_channels, g.height, g.width);
  case Gradient::weights:
    return shape_in_layout(g.layout, g.out_channels, g.group_inputs(), g.vertical.kernel,
                           g.horizontal.kernel);
  case Gradient::bias: break;
  }
  return {g.out_channels};
}

// The arrays of a case on the device, in its layout; the gradient is poisoned, and so is some
// storage behind.
template <class T>
class BackwardArrays {
 public:
  BackwardArrays(Gradient gradient, const Geometry& g, const BackwardData& data, Variant variant,
                 Offsets offsets, Stream& stream)
      : gradient_(gradient), geometry_(g), offsets_(offsets),
        dy_(stored(y_in_layout(data.dy, g), offsets.dy)),
        x_(stored(x_in_layout(data.x, g), offsets.factor)),
        weights_(stored(weights_in_layout(data.weights, g), offsets.factor)),
        device_dy_(device_input(dy_, offsets.dy, stream)),
        device_x_(device_input(x_, offsets.factor, stream)),
        device_weights_(device_input(weights_, offsets.factor, stream)),
        workspace_(conv2d_backward::workspace_bytes<T>(gradient, g, variant)),
        result_(
            DeviceBuffer<T>(offsets.gradient + conv2d_backward::elements(gradient, g) + kBehind)) {}

  conv2d_backward::Problem<T> problem() const {
    return {geometry_,
            device_dy_.data() + offsets_.dy,
            gradient_ == Gradient::weights ? device_x_.data() + offsets_.factor : nullptr,
            gradient_ == Gradient::input ? device_weights_.data() + offsets_.factor : nullptr,
            result_.data() + offsets_.gradient,
            workspace_.data()};
  }

  const T* x() const { return device_x_.data() + offsets_.factor; }
  const T* weights() const { return device_weights_.data() + offsets_.factor; }

  // What `id`, which ran, left, once everything that it must not touch has been checked.
  std::vector<T> result(const VariantId& id, Stream& stream) const {
    Hygiene hygiene(id);
    hygiene.input("dy", dy_, device_dy_, stream);
    hygiene.input("x", x_, device_x_, stream);
    hygiene.input("weights", weights_, device_weights_, stream);
    hygiene.workspace(workspace_);
    return hygiene.output(
        result_, contiguous({conv2d_backward::elements(gradient_, geometry_)}, offsets_.gradient),
        stream);
  }

 private:
  static constexpr std::int64_t kBehind = 5;

  static std::vector<T> stored(const std::vector<double>& values, std::int64_t offset) {
    return scatter(elements<T>(values),
                   contiguous({static_cast<std::int64_t>(values.size())}, offset));
  }

  Gradient gradient_;
  Geometry geometry_;
  Offsets offsets_;
  std::vector<T> dy_, x_, weights_;
  DeviceBuffer<T> device_dy_, device_x_, device_weights_;
  DeviceBuffer<std::byte> workspace_;
  DeviceBuffer<T> result_;
};

template <typename T>
class Conv2dBackwardTest : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("conv2d_backward", kDtype, conv2d_backward::kVariants, kRoundedOperation);
  }

  static std::vector<Variant> variants(Gradient gradient, const Geometry& g) {
    std::vector<Variant> all;
    for (const Variant variant : conv2d_backward::kVariants)
      if (conv2d_backward::supports<T>(gradient, variant, g)) all.push_back(variant);
    return all;
  }

  static VariantId id(std::string_view variant) {
    return {"conv2d_backward", std::string(name(kDtype)), std::string(variant)};
  }
  static VariantId id(Variant variant) { return id(conv2d_backward::name(variant)); }

  static CaseContext context(Gradient gradient, const Geometry& g, const BackwardData& data,
                             Variant variant) {
    return {CaseId("conv2d_backward." + std::string(name(kDtype)) + "." +
                   std::string(conv2d_backward::name(gradient)) + "_" + text(g)),
            std::string(conv2d_backward::name(variant)),
            data.fill,
            gradient_shape(gradient, g),
            {}};
  }

  static BackwardData normal_data(const Geometry& g) {
    return {"normal", normal(kDtype, g.outputs(), Tensor::a).values,
            normal(kDtype, g.inputs(), Tensor::b).values,
            normal(kDtype, g.weights(), Tensor::c).values};
  }

  // The input's gradient has the weights as A of an exact product, a row for each input channel,
  // and numbers of its B as dy, however the windows share them; the others have dy as A, a row for
  // each output channel, and numbers of B as x.
  static BackwardData exact_data(Gradient gradient, const Geometry& g, ProductRange range) {
    const bool of_input = gradient == Gradient::input;
    const std::int64_t rows = of_input ? g.in_channels : g.out_channels;
    const std::int64_t products =
        of_input ? g.group_outputs() * g.taps() : g.batch * g.out_places();
    const std::int64_t numbers = of_input ? g.outputs() : g.inputs();
    FillPair pair =
        exact_product(kDtype, kDtype, range, {rows, numbers / products + 1, products}, 0);
    pair.b.resize(static_cast<std::size_t>(numbers));
    // Rows of A lie together; in nchw and oihw they are the second axis.
    const auto second = [&](std::int64_t outer, std::int64_t middle, std::int64_t inner) {
      std::vector<double> values;
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t m = 0; m < middle; ++m)
          for (std::int64_t i = 0; i < inner; ++i)
            values.push_back(pair.a[static_cast<std::size_t>((m * outer + o) * inner + i)]);
      return values;
    };
    if (!of_input)
      return {pair.name, second(g.batch, g.out_channels, g.out_places()), pair.b,
              std::vector<double>(static_cast<std::size_t>(g.weights()))};
    std::vector<double> weights;
    const std::int64_t of_group = g.group_inputs() * products;
    const std::vector<double> all = pair.a;
    for (std::int64_t group = 0; group < g.groups; ++group) {
      pair.a.assign(all.begin() + group * of_group, all.begin() + (group + 1) * of_group);
      const std::vector<double> some = second(g.group_outputs(), g.group_inputs(), g.taps());
      weights.insert(weights.end(), some.begin(), some.end());
    }
    return {pair.name, pair.b, std::vector<double>(static_cast<std::size_t>(g.inputs())), weights};
  }

  // Ours, with everything checked but the values; the result is in the problem's layout.
  std::vector<T> run(Gradient gradient, const Geometry& g, const BackwardData& data,
                     Variant variant, Offsets offsets = {}) {
    const BackwardArrays<T> arrays(gradient, g, data, variant, offsets, stream_);
    EXPECT_EQ(conv2d_backward::run(gradient, arrays.problem(), variant, stream_), variant);
    stream_.synchronize();
    return arrays.result(id(variant), stream_);
  }

  static ConvolutionOracle oracle(Gradient gradient, const Geometry& g, const BackwardData& data) {
    ConvolutionGradients all =
        convolution_gradients(oracle_problem(g), data.x, data.weights, data.dy);
    return gradient == Gradient::input     ? std::move(all.x)
           : gradient == Gradient::weights ? std::move(all.weights)
                                           : std::move(all.bias);
  }

  // The oracle's gradient in the problem's layout.
  struct Reference {
    std::vector<double> value, tolerance, unit;
  };
  static Reference reference(Gradient gradient, const Geometry& g, const BackwardData& data) {
    const ConvolutionOracle right = oracle(gradient, g, data);
    const std::int64_t products =
        gradient == Gradient::input ? g.group_outputs() * g.taps() : g.batch * g.out_places();
    const auto in_layout = [&](const std::vector<double>& values) {
      return gradient_in_layout(gradient, values, g);
    };
    return {in_layout(right.value), in_layout(product_tolerances(kDtype, products, right)),
            in_layout(error_units(kDtype, right.condition))};
  }
  static Expectation expectation(Gradient gradient, const Geometry& g, const Reference& right) {
    Expectation expected{kDtype, gradient_shape(gradient, g), right.value, right.tolerance};
    expected.unit = right.unit;
    return expected;
  }

  // Elements that no window reaches, and weights whose taps lie in the padding alone, are 0; the
  // others must be able to fail. In a row: filters of one tap are tiles of one element.
  static testing::AssertionResult could_fail(const Expectation& expected) {
    std::vector<double> value, tolerance;
    for (std::size_t i = 0; i < expected.value.size(); ++i) {
      if (expected.value[i] == 0) continue;
      value.push_back(expected.value[i]);
      if (!expected.tolerance.empty()) tolerance.push_back(expected.tolerance[i]);
    }
    const auto count = static_cast<std::int64_t>(value.size());
    return not_vacuous({expected.dtype, {count}, value, tolerance},
                       count == 1 ? Degenerate::single_element : Degenerate::no);
  }

  // Every gradient and variant against the oracle.
  void check(const Geometry& g, const BackwardData& data, Offsets offsets = {}) {
    for (const Gradient gradient : kGradients) {
      const Reference right = reference(gradient, g, data);
      const Expectation expected = expectation(gradient, g, right);
      EXPECT_TRUE(could_fail(expected)) << text(g);
      for (const Variant variant : variants(gradient, g))
        EXPECT_TRUE(verdict(compare(observe(run(gradient, g, data, variant, offsets)), expected),
                            context(gradient, g, data, variant)));
    }
  }

  // The same on integers, bit for bit.
  void check_exact(const Geometry& g, ProductRange range, Offsets offsets = {}) {
    for (const Gradient gradient : kGradients)
      check_exact(gradient, g, exact_data(gradient, g, range), offsets);
  }
  void check_exact(Gradient gradient, const Geometry& g, const BackwardData& data,
                   Offsets offsets = {}) {
    std::vector<double> right = gradient_in_layout(gradient, oracle(gradient, g, data).value, g);
    for (double& value : right) value = round_to(kDtype, value);
    const Expectation expected = exactly(kDtype, gradient_shape(gradient, g), right);
    EXPECT_TRUE(could_fail(expected)) << text(g);
    for (const Variant variant : variants(gradient, g))
      EXPECT_TRUE(verdict(compare(observe(run(gradient, g, data, variant, offsets)), expected),
                          context(gradient, g, data, variant)));
  }

  Stream stream_;
};

TYPED_TEST_SUITE(Conv2dBackwardTest, FloatTypes, DtypeNames);

} // namespace kg::test
