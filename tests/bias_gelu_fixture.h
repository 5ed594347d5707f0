// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How bias_gelu_test.cu runs and judges one matrix and its bias.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/bias_gelu_forms.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_bias_gelu.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "bias_gelu/bias_gelu.h"

namespace kg::test {

using bias_gelu::kVariants;
using bias_gelu::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t bias = 0;
  std::int64_t y = 0;
};

// A matrix and a bias of as many elements as it has columns.
template <typename T>
struct Inputs {
  std::vector<T> x, bias;

  std::int64_t size() const { return static_cast<std::int64_t>(x.size()); }
  std::int64_t cols() const { return static_cast<std::int64_t>(bias.size()); }
  std::int64_t rows() const { return cols() == 0 ? 0 : size() / cols(); }
};

template <typename T>
class BiasGelu : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  // What a block of the vectorized kernel takes at once.
  static constexpr std::int64_t kTile = 512 * kPack;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("bias_gelu", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"bias_gelu", std::string(name(kDtype)), std::string(bias_gelu::name(variant))};
  }

  static CaseContext context(Form form, Variant variant, std::string fill, const Inputs<T>& in) {
    return {CaseId("bias_gelu." + std::string(name(kDtype)) + "." +
                   parameters(form, in.rows(), in.cols())),
            std::string(bias_gelu::name(variant)),
            std::move(fill),
            {in.rows(), in.cols()},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Form form, Variant variant, const Inputs<T>& in, Offsets offsets = {}) {
    const std::int64_t n = in.size();
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(in.x, contiguous({n}, offsets.x));
    const std::vector<T> stored_bias = scatter(in.bias, contiguous({in.cols()}, offsets.bias));
    const auto x = device_input(stored_x, offsets.x, stream_);
    const auto bias = device_input(stored_bias, offsets.bias, stream_);
    const DeviceBuffer<T> y(offsets.y + n + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, x, stream_);
    hygiene.input("bias", stored_bias, bias, stream_);
    LaunchRecorder recorder;
    const Variant ran =
        bias_gelu::run<T>(form, x.data() + offsets.x, bias.data() + offsets.bias,
                          y.data() + offsets.y, in.rows(), in.cols(), variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    const std::string kernel = "bias_gelu::" + std::string(bias_gelu::name(variant));
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel), std::string::npos) << launch.kernel_name;
    return hygiene.output(y, contiguous({n}, offsets.y), stream_);
  }

  // What the oracle says of a matrix.
  struct Reference {
    std::vector<std::int64_t> shape;
    std::vector<double> sums, value, tolerance, unit;

    Expectation expectation() const { return {kDtype, shape, value, tolerance, unit}; }
  };

  static Reference reference(Form form, const Inputs<T>& in) {
    const UnaryOp op = oracle_op(form);
    const std::vector<double> sums = bias_sums(observe(in.x).values, observe(in.bias).values);
    const std::vector<double> y = unary_oracle(op, sums);
    return {{in.rows(), in.cols()},
            sums,
            y,
            bias_gelu_tolerances(op, kDtype, sums, y),
            unary_error_units(op, kDtype, sums, y)};
  }

  // Every variant on these values, against the oracle.
  void check(Form form, const std::string& fill, const Inputs<T>& in, Offsets offsets = {}) {
    const Reference right = reference(form, in);
    EXPECT_TRUE(not_vacuous(right.expectation(), degenerate_of(in.size()))) << fill;
    for (const Variant variant : kVariants) {
      const std::vector<T> y = run(form, variant, in, offsets);
      EXPECT_TRUE(
          verdict(compare(observe(y), right.expectation()), context(form, variant, fill, in)));
    }
  }

  static Inputs<T> normals(std::int64_t rows, std::int64_t cols) {
    return {elements<T>(normal(kDtype, rows * cols, Tensor::a).values),
            elements<T>(normal(kDtype, cols, Tensor::b).values)};
  }

  Stream stream_;
};

} // namespace kg::test
