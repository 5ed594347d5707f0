// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How conv2d_test.cu makes, runs and judges one convolution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

#include "conv2d/conv2d.h"

namespace kg::test {

using conv2d::Geometry;
using conv2d::Layout;
using conv2d::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t weights = 0;
  std::int64_t bias = 0;
  std::int64_t y = 0;
};

// Values in nchw and oihw; `bias` may be empty.
struct ConvData {
  std::string fill;
  std::vector<double> x, weights, bias;
};

// The arrays of a case on the device, in its layout; y is poisoned, and so is some storage behind.
template <class T>
class ConvArrays {
 public:
  ConvArrays(const Geometry& g, const ConvData& data, Variant variant, Offsets offsets,
             Stream& stream)
      : geometry_(g), offsets_(offsets), x_(stored(x_in_layout(data.x, g), offsets.x)),
        weights_(stored(weights_in_layout(data.weights, g), offsets.weights)),
        bias_(stored(data.bias, offsets.bias)), has_bias_(!data.bias.empty()),
        device_x_(device_input(x_, offsets.x, stream)),
        device_weights_(device_input(weights_, offsets.weights, stream)),
        device_bias_(device_input(bias_, offsets.bias, stream)),
        workspace_(conv2d::workspace_bytes<T>(g, variant)),
        device_y_(DeviceBuffer<T>(offsets.y + g.outputs() + kBehind)) {}

  conv2d::Problem<T> problem() const {
    return {geometry_,
            device_x_.data() + offsets_.x,
            device_weights_.data() + offsets_.weights,
            has_bias_ ? device_bias_.data() + offsets_.bias : nullptr,
            device_y_.data() + offsets_.y,
            workspace_.data()};
  }

  // What `id`, which ran, left in y, once everything that it must not touch has been checked.
  std::vector<T> result(const VariantId& id, Stream& stream) const {
    Hygiene hygiene(id);
    hygiene.input("x", x_, device_x_, stream);
    hygiene.input("weights", weights_, device_weights_, stream);
    hygiene.input("bias", bias_, device_bias_, stream);
    hygiene.workspace(workspace_);
    return hygiene.output(device_y_, contiguous({geometry_.outputs()}, offsets_.y), stream);
  }

 private:
  static constexpr std::int64_t kBehind = 5;

  static std::vector<T> stored(const std::vector<double>& values, std::int64_t offset) {
    return scatter(elements<T>(values),
                   contiguous({static_cast<std::int64_t>(values.size())}, offset));
  }

  Geometry geometry_;
  Offsets offsets_;
  std::vector<T> x_, weights_, bias_;
  bool has_bias_;
  DeviceBuffer<T> device_x_, device_weights_, device_bias_;
  DeviceBuffer<std::byte> workspace_;
  DeviceBuffer<T> device_y_;
};

template <typename T>
class Conv2dTest : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("conv2d", kDtype, with_jit(), kRoundedOperation);
  }

  static std::vector<Variant> variants() {
    std::vector<Variant> all;
    for (const Variant variant : conv2d::kVariants)
      if (conv2d::supports<T>(variant)) all.push_back(variant);
    return all;
  }
  static std::vector<Variant> with_jit() {
    std::vector<Variant> all = variants();
    all.push_back(Variant::jit);
    return all;
  }
  static std::vector<Variant> variants(const Geometry& g) {
    std::vector<Variant> all;
    for (const Variant variant : is_compiled(g) ? with_jit() : variants())
      if (conv2d::supports<T>(variant, g)) all.push_back(variant);
    return all;
  }

  static VariantId id(std::string_view variant) {
    return {"conv2d", std::string(name(kDtype)), std::string(variant)};
  }

  static CaseContext context(const Geometry& g, const ConvData& data, std::string_view variant) {
    return {CaseId("conv2d." + std::string(name(kDtype)) + "." + text(g)),
            std::string(variant),
            data.fill,
            y_shape(g),
            {}};
  }

  static ConvData normal_data(const Geometry& g) {
    return {"normal", normal(kDtype, g.inputs(), Tensor::a).values,
            normal(kDtype, g.weights(), Tensor::b).values,
            normal(kDtype, g.out_channels, Tensor::c).values};
  }

  // The weights are A of an exact product, and x are numbers of its B, however the windows share
  // them: no sum of theirs has more than half of what is exact, and the bias stays far inside the
  // other half.
  static ConvData exact_data(const Geometry& g, ProductRange range) {
    constexpr std::int64_t kMostBias = kDtype == Dtype::bf16 ? 250 : 1000; // that T holds
    const std::int64_t columns = g.inputs() / g.depth() + 1;
    FillPair pair = exact_product(kDtype, kDtype, range, {g.out_channels, columns, g.depth()},
                                  exact_limit(kDtype) / 2);
    pair.b.resize(static_cast<std::size_t>(g.inputs()));
    return {pair.name, pair.b, pair.a,
            integers(kDtype, g.out_channels, kMostBias, Tensor::c).values};
  }

  static ConvolutionOracle oracle(const Geometry& g, const ConvData& data) {
    return convolution_oracle(oracle_problem(g), data.x, data.weights, data.bias);
  }

  // Ours, with everything checked but the values; the result is in the problem's layout.
  std::vector<T> run(const Geometry& g, const ConvData& data, Variant variant,
                     Offsets offsets = {}) {
    const ConvArrays<T> arrays(g, data, variant, offsets, stream_);
    EXPECT_EQ(conv2d::run(arrays.problem(), variant, stream_), variant);
    stream_.synchronize();
    return arrays.result(id(conv2d::name(variant)), stream_);
  }

  // The oracle's result in the problem's layout.
  struct Reference {
    std::vector<double> value, tolerance, unit;
  };
  static Reference reference(const Geometry& g, const ConvData& data) {
    const ConvolutionOracle right = oracle(g, data);
    return {y_in_layout(right.value, g),
            y_in_layout(convolution_tolerances(kDtype, oracle_problem(g), right), g),
            y_in_layout(error_units(kDtype, right.condition), g)};
  }
  static Expectation expectation(const Geometry& g, const Reference& right) {
    return {kDtype, y_shape(g), right.value, right.tolerance};
  }

  // Every variant against the oracle.
  void check(const Geometry& g, const ConvData& data, Degenerate degenerate = Degenerate::no,
             Offsets offsets = {}) {
    const Reference right = reference(g, data);
    const Expectation expected = expectation(g, right);
    EXPECT_TRUE(not_vacuous(expected, degenerate)) << text(g);
    for (const Variant variant : variants(g))
      EXPECT_TRUE(verdict(compare(observe(run(g, data, variant, offsets)), expected),
                          context(g, data, conv2d::name(variant))));
  }

  void check_variant(Variant variant, const Geometry& g, const ConvData& data) {
    const Reference right = reference(g, data);
    const Expectation expected = expectation(g, right);
    EXPECT_TRUE(not_vacuous(expected)) << text(g);
    EXPECT_TRUE(verdict(compare(observe(run(g, data, variant)), expected),
                        context(g, data, conv2d::name(variant))));
  }

  // Every variant on integers, bit for bit.
  void check_exact(const Geometry& g, ProductRange range, Offsets offsets = {}) {
    check_exact(g, exact_data(g, range), offsets);
  }
  void check_exact(const Geometry& g, const ConvData& data, Offsets offsets = {}) {
    std::vector<double> right = y_in_layout(oracle(g, data).value, g);
    for (double& value : right) value = round_to(kDtype, value);
    const Expectation expected = exactly(kDtype, y_shape(g), right);
    EXPECT_TRUE(not_vacuous(expected)) << text(g);
    for (const Variant variant : variants(g))
      EXPECT_TRUE(verdict(compare(observe(run(g, data, variant, offsets)), expected),
                          context(g, data, conv2d::name(variant))));
  }

  Stream stream_;
};

TYPED_TEST_SUITE(Conv2dTest, FloatTypes, DtypeNames);

} // namespace kg::test
