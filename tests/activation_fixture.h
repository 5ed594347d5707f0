// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How activation_test.cu runs and judges one array.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/ops/activation_functions.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance_unary.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "activation/activation.h"

namespace kg::test {

using activation::kVariants;
using activation::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

template <typename T>
class Activation : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  // What a block of the vectorized kernel takes at once.
  static constexpr std::int64_t kTile = 256 * kPack * (sizeof(T) == 4 ? 4 : 2);

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("activation", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"activation", std::string(name(kDtype)), std::string(activation::name(variant))};
  }

  // The kernel that must run: packs where one shift aligns both arrays.
  static std::string kernel_of(Variant variant, Offsets offsets) {
    if (variant == Variant::naive) return "activation::naive";
    return offsets.x % kPack == offsets.y % kPack ? "activation::vectorized"
                                                  : "activation::misaligned";
  }

  static CaseContext context(Function function, Variant variant, std::string fill, std::size_t n) {
    return {CaseId("activation." + std::string(name(kDtype)) + "." +
                   std::string(activation::name(function)) + "_n" + std::to_string(n)),
            std::string(activation::name(variant)),
            std::move(fill),
            {static_cast<std::int64_t>(n)},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Function function, Variant variant, const std::vector<T>& x,
                     Offsets offsets = {}) {
    const auto n = static_cast<std::int64_t>(x.size());
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, contiguous({n}, offsets.x));
    const auto device_x = device_input(stored_x, offsets.x, stream_);
    const DeviceBuffer<T> device_y(offsets.y + n + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    LaunchRecorder recorder;
    const Variant ran = activation::run<T>(function, device_x.data() + offsets.x,
                                           device_y.data() + offsets.y, n, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, offsets)), std::string::npos)
          << launch.kernel_name;
    return hygiene.output(device_y, contiguous({n}, offsets.y), stream_);
  }

  // What the oracle says of an array. relu is exact, the sign of a zero included.
  struct Reference {
    Function function;
    std::vector<double> value, tolerance, unit;

    Expectation expectation() const {
      const auto n = static_cast<std::int64_t>(value.size());
      if (function == Function::relu) return exactly(kDtype, {n}, value);
      return {kDtype, {n}, value, tolerance, unit};
    }
  };

  static Reference reference(Function function, const std::vector<T>& x) {
    const UnaryOp op = oracle_op(function);
    const std::vector<double> values = observe(x).values;
    const std::vector<double> y = unary_oracle(op, values);
    return {function, y, unary_tolerances(op, kDtype, values, y),
            unary_error_units(op, kDtype, values, y)};
  }

  // Every variant on these values, against the oracle.
  void check(Function function, const std::string& fill, const std::vector<T>& x,
             Offsets offsets = {}, Degenerate degenerate = Degenerate::no) {
    const Reference right = reference(function, x);
    const Expectation expected = right.expectation();
    EXPECT_TRUE(not_vacuous(expected, degenerate)) << activation::name(function) << " " << fill;
    for (const Variant variant : kVariants) {
      const std::vector<T> y = run(function, variant, x, offsets);
      EXPECT_TRUE(
          verdict(compare(observe(y), expected), context(function, variant, fill, x.size())));
    }
  }

  static std::vector<T> normals(std::int64_t n) {
    return elements<T>(normal(kDtype, n, Tensor::a).values);
  }

  Stream stream_;
};

} // namespace kg::test
