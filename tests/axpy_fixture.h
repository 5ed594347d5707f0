// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How axpy_test.cu runs and judges one pair of arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/support/case.h"
#include "tests/support/compare.h"
#include "tests/support/device_types.h"
#include "tests/support/fills.h"
#include "tests/support/hygiene.h"
#include "tests/support/oracle_elementwise.h"
#include "tests/support/strided.h"
#include "tests/support/vacuity.h"

#include "axpy/axpy.h"

namespace kg::test {

using axpy::kVariants;
using axpy::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t out = 0;
};

template <typename T>
class Axpy : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  static constexpr float kAlpha = 0.7F;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("axpy", kDtype, kVariants, kExactOperation);
  }

  static VariantId id(Variant variant) {
    return {"axpy", std::string(name(kDtype)), std::string(axpy::name(variant))};
  }

  // The kernel that must run: packs where one shift aligns all three arrays.
  static std::string kernel_of(Variant variant, Offsets offsets) {
    if (variant == Variant::naive) return "axpy::naive";
    const bool together =
        offsets.x % kPack == offsets.y % kPack && offsets.y % kPack == offsets.out % kPack;
    return together ? "axpy::vectorized" : "axpy::misaligned";
  }

  static CaseContext context(Variant variant, std::string fill, std::size_t n) {
    return {CaseId("axpy." + std::string(name(kDtype)) + ".n" + std::to_string(n)),
            std::string(axpy::name(variant)),
            std::move(fill),
            {static_cast<std::int64_t>(n)},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(float alpha, Variant variant, const std::vector<T>& x, const std::vector<T>& y,
                     Offsets offsets = {}) {
    const auto n = static_cast<std::int64_t>(x.size());
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, contiguous({n}, offsets.x));
    const std::vector<T> stored_y = scatter(y, contiguous({n}, offsets.y));
    const auto device_x = device_input(stored_x, offsets.x, stream_);
    const auto device_y = device_input(stored_y, offsets.y, stream_);
    const DeviceBuffer<T> device_out(offsets.out + n + kBehind);

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    hygiene.input("y", stored_y, device_y, stream_);
    LaunchRecorder recorder;
    const Variant ran = axpy::run(alpha, device_x.data() + offsets.x, device_y.data() + offsets.y,
                                  device_out.data() + offsets.out, n, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), n > 0 ? 1u : 0u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, offsets)), std::string::npos)
          << launch.kernel_name;
    return hygiene.output(device_out, contiguous({n}, offsets.out), stream_);
  }

  // Every variant on these values, against the oracle.
  void check(float alpha, const std::string& fill, const std::vector<T>& x, const std::vector<T>& y,
             Offsets offsets = {}, Degenerate degenerate = Degenerate::no) {
    const std::vector<double> expected = oracle(alpha, x, y);
    const Expectation expectation =
        exactly(kDtype, {static_cast<std::int64_t>(x.size())}, expected);
    EXPECT_TRUE(not_vacuous(expectation, degenerate)) << fill;
    compare_each(alpha, fill, x, y, expectation, offsets);
  }

  void compare_each(float alpha, const std::string& fill, const std::vector<T>& x,
                    const std::vector<T>& y, const Expectation& expectation, Offsets offsets = {}) {
    for (const Variant variant : kVariants) {
      const std::vector<T> result = run(alpha, variant, x, y, offsets);
      EXPECT_TRUE(verdict(compare(observe(result), expectation),
                          context(variant, fill + ", alpha = " + std::to_string(alpha), x.size())));
    }
  }

  static std::vector<double> oracle(float alpha, const std::vector<T>& x, const std::vector<T>& y) {
    return axpy_oracle(kDtype, alpha, observe(x).values, observe(y).values);
  }

  static std::vector<T> normals(std::int64_t n, Tensor tensor) {
    return elements<T>(normal(kDtype, n, tensor).values);
  }

  Stream stream_;
};

} // namespace kg::test
