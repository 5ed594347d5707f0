// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to gated_activation; its card configures those of every operation.
#include "ops/gated_activation/gated_activation.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using gated_activation::Form;

// Indices of y beyond 32 bits.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kWide = (1 << 16) + 1;
  constexpr std::int64_t kN = ((1 << 15) + 1) * kWide;
  KG_HUGE(static_cast<std::size_t>(3 * kN) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    const auto value = [](double x) { return test::elements<T>(std::vector<double>{x})[0]; };
    const DeviceBuffer<T> x(2 * kN);
    fill_bytes(x.data(), 0, x.bytes(), judge.stream());
    test::Marks<T> before, after;
    double next = 128;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
      const std::int64_t gate = index + index / kWide * kWide;
      before[gate] = value(next);
      before[gate + kWide] = value(2);
      after[index] = value(2 * next);
      ++next;
    }
    test::put(before, x, judge.stream());
    for (const gated_activation::Variant variant : gated_activation::kVariants) {
      const DeviceBuffer<T> y(kN);
      gated_activation::run<T>(Form::swiglu, x.data(), y.data(), kN / kWide, kWide, variant,
                               judge.stream());
      EXPECT_TRUE(test::holds(y, value(0), after, judge.stream())) << name(variant);
      EXPECT_NO_THROW(y.check_guards());
    }
  });
}

// y that starts at x or at its last element.
KG_OWN_TEST(RefusesTheMemoryOfX) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> memory(48);
    T* const p = memory.data();
    LaunchRecorder recorder;
    for (const gated_activation::Variant variant : gated_activation::kVariants)
      for (T* const y : {p, p + 31})
        EXPECT_THROW(gated_activation::run<T>(Form::reglu, p, y, 2, 8, variant, judge.stream()),
                     Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
