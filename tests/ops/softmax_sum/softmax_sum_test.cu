// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to softmax_sum; its card configures those of every operation.
#include "ops/softmax_sum/softmax_sum.h"

#include <limits>

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using softmax_sum::kVariants;

// Every variant adds the terms in their order.
KG_OWN_TEST(VariantsAgree) {
  const Sample sample{"normal", "k7_n5003"};
  EXPECT_EQ(judge.run("naive", sample).bits("y"), judge.run("vectorized", sample).bits("y"));
}

// A constant added to alpha changes nothing if the sums are exact.
KG_OWN_TEST(ShiftOfAlpha) {
  std::vector<double> alpha, moved;
  for (int k = 0; k < 7; ++k) {
    alpha.push_back(k % 3);
    moved.push_back(alpha.back() + 16);
  }
  const auto sample = [&](const std::vector<double>& of) {
    return Sample{"normal", "k7_n5003", {{"alpha", values(judge.dtype(), of)}}};
  };
  for (const softmax_sum::Variant variant : kVariants)
    EXPECT_EQ(judge.run(name(variant), sample(moved)).bits("y"),
              judge.run(name(variant), sample(alpha)).bits("y"))
        << name(variant);
}

// Indices beyond 32 bits: the end of the second of two terms, whose weight is 1.
KG_OWN_TEST(MoreThan2To31Elements) {
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr std::int64_t kN = (std::int64_t{1} << 30) + 4099;
    KG_HUGE(3 * kN * sizeof(T));
    const auto value = [](double x) { return test::elements<T>(std::vector<double>{x})[0]; };
    const auto alpha = DeviceBuffer<T>::from_host(
        test::elements<T>(std::vector<double>{-std::numeric_limits<double>::infinity(), 0}),
        judge.stream());
    const DeviceBuffer<T> x(2 * kN);
    DeviceBuffer<T> y(kN);
    fill_bytes(x.data(), 0, x.bytes(), judge.stream());
    test::Marks<T> before, after;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, (std::int64_t{1} << 30) - 4099, kN - 1}) {
      before[kN + index] = value(next);
      after[index] = value(next++);
    }
    test::put(before, x, judge.stream());
    for (const softmax_sum::Variant variant : kVariants) {
      y.poison(judge.stream());
      test::show(after, y);
      softmax_sum::run<T>(x.data(), alpha.data(), y.data(), 2, kN, variant, judge.stream());
      EXPECT_TRUE(test::holds(y, value(0), after, judge.stream())) << name(variant);
    }
  });
}

// Too few and too many terms, and complete overlap, which the contract's problems cannot have.
KG_OWN_TEST(RefusesTermsAndOverlap) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> x(128), alpha(128), y(8);
    LaunchRecorder recorder;
    for (const softmax_sum::Variant variant : kVariants) {
      const auto run = [&](const T* from, const T* weights, std::int64_t terms, std::int64_t n) {
        softmax_sum::run<T>(from, weights, y.data(), terms, n, variant, judge.stream());
      };
      EXPECT_THROW(run(x.data(), alpha.data(), 0, 8), Error);
      EXPECT_THROW(run(x.data(), alpha.data(), softmax_sum::kMaxTerms + 1, 1), Error);
      EXPECT_THROW(run(y.data(), alpha.data(), 1, 8), Error) << "in place";
      EXPECT_THROW(run(x.data(), y.data(), 2, 8), Error) << "alpha within y";
    }
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
