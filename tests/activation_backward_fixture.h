// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How activation_backward_test.cu runs and judges one pair of arrays.
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
#include "tests/oracle/tolerance_unary_backward.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "activation_backward/activation_backward.h"

namespace kg::test {

using activation_backward::kVariants;
using activation_backward::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t dy = 0;
  std::int64_t dx = 0;
};

template <typename T>
class ActivationBackward : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  // What a block of the vectorized kernel takes at once.
  static constexpr std::int64_t kTile = 256 * kPack * (sizeof(T) == 4 ? 2 : 1);

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("activation_backward", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"activation_backward", std::string(name(kDtype)),
            std::string(activation_backward::name(variant))};
  }

  // The kernel that must run: packs where one shift aligns all three arrays.
  static std::string kernel_of(Variant variant, Offsets offsets) {
    if (variant == Variant::naive) return "activation_backward::naive";
    const bool together =
        offsets.x % kPack == offsets.dy % kPack && offsets.dy % kPack == offsets.dx % kPack;
    return together ? "activation_backward::vectorized" : "activation_backward::misaligned";
  }

  static CaseContext context(Function function, Variant variant, std::string fill, std::size_t n) {
    return {CaseId("activation_backward." + std::string(name(kDtype)) + "." +
                   std::string(activation::name(function)) + "_n" + std::to_string(n)),
            std::string(activation_backward::name(variant)),
            std::move(fill),
            {static_cast<std::int64_t>(n)},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Function function, Variant variant, const std::vector<T>& x,
                     const std::vector<T>& dy, Offsets offsets = {}) {
    const auto n = static_cast<std::int64_t>(x.size());
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, contiguous({n}, offsets.x));
    const std::vector<T> stored_dy = scatter(dy, contiguous({n}, offsets.dy));
    const auto device_x = device_input(stored_x, offsets.x, stream_);
    const auto device_dy = device_input(stored_dy, offsets.dy, stream_);
    const DeviceBuffer<T> device_dx(offsets.dx + n + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    hygiene.input("dy", stored_dy, device_dy, stream_);
    LaunchRecorder recorder;
    const Variant ran = activation_backward::run<T>(
        function, device_x.data() + offsets.x, device_dy.data() + offsets.dy,
        device_dx.data() + offsets.dx, n, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, offsets)), std::string::npos)
          << launch.kernel_name;
    return hygiene.output(device_dx, contiguous({n}, offsets.dx), stream_);
  }

  // What the oracle says of a pair of arrays. relu is exact, the sign of a zero included.
  struct Reference {
    Function function;
    std::vector<double> value, tolerance, library_tolerance, unit;

    Expectation expectation() const {
      const auto n = static_cast<std::int64_t>(value.size());
      if (function == Function::relu) return exactly(kDtype, {n}, value);
      return {kDtype, {n}, value, tolerance, unit};
    }
  };

  static Reference reference(Function function, const std::vector<T>& stored_x,
                             const std::vector<T>& stored_dy) {
    const UnaryOp op = oracle_op(function);
    const std::vector<double> x = observe(stored_x).values;
    const std::vector<double> dy = observe(stored_dy).values;
    const std::vector<double> dx = unary_backward_oracle(op, x, dy);
    return {function, dx, unary_backward_tolerances(op, kDtype, x, dy, dx),
            library_backward_tolerances(op, kDtype, x, dy, dx),
            unary_backward_error_units(op, kDtype, x, dy, dx)};
  }

  // Every variant on these values, against the oracle.
  void check(Function function, const std::string& fill, const std::vector<T>& x,
             const std::vector<T>& dy, Offsets offsets = {},
             Degenerate degenerate = Degenerate::no) {
    const Reference right = reference(function, x, dy);
    const Expectation expected = right.expectation();
    EXPECT_TRUE(not_vacuous(expected, degenerate)) << activation::name(function) << " " << fill;
    for (const Variant variant : kVariants) {
      const std::vector<T> dx = run(function, variant, x, dy, offsets);
      EXPECT_TRUE(
          verdict(compare(observe(dx), expected), context(function, variant, fill, x.size())));
    }
  }

  static std::vector<T> normals(std::int64_t n, Tensor tensor) {
    return elements<T>(normal(kDtype, n, tensor).values);
  }

  Stream stream_;
};

} // namespace kg::test
