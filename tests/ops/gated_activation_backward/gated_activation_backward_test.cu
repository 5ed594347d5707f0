// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to gated_activation_backward; its card configures those of every operation.
#include "ops/gated_activation_backward/gated_activation_backward.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using gated_activation_backward::Form;

// Indices of dy beyond 32 bits, in place.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kWide = (1 << 16) + 8;
  constexpr std::int64_t kN = ((1 << 15) + 1) * kWide;
  KG_HUGE(static_cast<std::size_t>(3 * kN) * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    const auto value = [](double x) { return test::elements<T>(std::vector<double>{x})[0]; };
    for (const gated_activation_backward::Variant variant : gated_activation_backward::kVariants) {
      const DeviceBuffer<T> x(2 * kN), dy(kN);
      fill_bytes(x.data(), 0, x.bytes(), judge.stream());
      fill_bytes(dy.data(), 0, dy.bytes(), judge.stream());
      test::Marks<T> in, gradients, out;
      double next = 3;
      for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
        const std::int64_t gate = index + index / kWide * kWide;
        in[gate] = value(next);
        in[gate + kWide] = value(5);
        gradients[index] = value(2);
        out[gate] = value(10);
        out[gate + kWide] = value(2 * next);
        ++next;
      }
      test::put(in, x, judge.stream());
      test::put(gradients, dy, judge.stream());
      gated_activation_backward::run<T>(Form::reglu, x.data(), dy.data(), x.data(), kN / kWide,
                                        kWide, variant, judge.stream());
      EXPECT_TRUE(test::holds(x, value(0), out, judge.stream())) << name(variant);
      EXPECT_NO_THROW(x.check_guards());
    }
  });
}

// Arguments that the contract's problems cannot have: partially in place, dy at the end of dx.
KG_OWN_TEST(RefusesMemoryThatOverlaps) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> memory(48), other(16);
    T* const p = memory.data();
    LaunchRecorder recorder;
    for (const gated_activation_backward::Variant variant : gated_activation_backward::kVariants) {
      const auto run = [&](const T* dy, T* dx) {
        gated_activation_backward::run<T>(Form::reglu, p, dy, dx, 2, 8, variant, judge.stream());
      };
      EXPECT_THROW(run(other.data(), p + 8), Error);
      EXPECT_THROW(run(p + 31, p), Error);
    }
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
