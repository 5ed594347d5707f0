// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to bias_gelu_backward; its card configures those of every operation.
#include "ops/bias_gelu_backward/bias_gelu_backward.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using bias_gelu_backward::Form;
using bias_gelu_backward::kVariants;
using bias_gelu_backward::workspace_bytes;

// Indices beyond 32 bits, in place. Few of dbias's terms are nonzero.
KG_OWN_TEST(MoreThan2To31Elements) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr std::int64_t kWide = (1 << 16) + 8;
  constexpr std::int64_t kN = ((1 << 15) + 1) * kWide;
  // A thread of the plain kernel sums a column over all rows, so no window can be shorter.
  KG_SKIP_IF_TOO_HUGE(2 * kN * size_of(judge.dtype()));
  dispatch(judge.dtype(), [&]<class T>() {
    Stream& stream = judge.stream();
    const auto value = [](double x) { return test::elements<T>(std::vector<double>{x})[0]; };
    const auto bias = DeviceBuffer<T>::from_host(std::vector<T>(kWide, value(200)), stream);
    const DeviceBuffer<T> x(kN);
    fill_bytes(x.data(), 0, x.bytes(), stream);
    test::Marks<T> gradients, sums;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, kHalf - 1, kHalf, kHalf + 1, kN - 1}) {
      gradients[index] = value(next);
      sums[index % kWide] = value(next);
      ++next;
    }
    for (const bias_gelu_backward::Variant variant : kVariants) {
      const DeviceBuffer<T> dy(kN), dbias(kWide);
      const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, kN / kWide, kWide));
      fill_bytes(dy.data(), 0, dy.bytes(), stream);
      test::put(gradients, dy, stream);
      bias_gelu_backward::run<T>(Form::erf,
                                 {x.data(), bias.data(), dy.data(), dy.data(), dbias.data()},
                                 workspace.data(), kN / kWide, kWide, variant, stream);
      EXPECT_TRUE(test::holds(dy, value(0), gradients, stream)) << name(variant);
      EXPECT_TRUE(test::holds(dbias, value(0), sums, stream)) << name(variant);
      EXPECT_NO_THROW(dy.check_guards());
    }
  });
}

// Arguments that the contract's problems cannot have: partially in place, outputs that overlap
// inputs after their second element, and missing or misaligned workspaces.
KG_OWN_TEST(RefusesMemoryThatOverlaps) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> memory(512), others(32);
    T *const p = memory.data(), *const bias = others.data(), *const dbias = bias + 8;
    LaunchRecorder recorder;
    for (const bias_gelu_backward::Variant variant : kVariants) {
      const auto run = [&](const bias_gelu_backward::Arrays<T>& arrays, std::int64_t rows,
                           std::int64_t cols, void* workspace = nullptr) {
        bias_gelu_backward::run<T>(Form::tanh, arrays, workspace, rows, cols, variant,
                                   judge.stream());
      };
      EXPECT_THROW(run({p, bias, p + 64, p + 8, dbias}, 2, 8), Error) << "in place in part";
      EXPECT_THROW(run({p, p + 8, p + 64, p, dbias}, 2, 8), Error) << "the bias within dx";
      EXPECT_THROW(run({p, bias, p, p, bias + 4}, 2, 8), Error) << "dbias within the bias";
      EXPECT_THROW(run({p, bias, p, p + 64, p + 72}, 2, 8), Error) << "dbias within dx";
      if (workspace_bytes<T>(variant, 128, 2) == 0) continue;
      EXPECT_THROW(run({p, bias, p, p, dbias}, 128, 2), Error) << "no workspace";
      EXPECT_THROW(run({p, bias, p, p, dbias}, 128, 2, dbias + 9), Error) << "not aligned";
    }
    EXPECT_TRUE(recorder.launches().empty());
  });
}

KG_OWN_TEST(WorkspaceHoldsThePiecesSums) {
  using bias_gelu_backward::Variant;
  dispatch(judge.dtype(), [&]<class T>() {
    EXPECT_EQ(workspace_bytes<T>(Variant::naive, 1 << 20, 100), 0u);
    EXPECT_EQ(workspace_bytes<T>(Variant::vectorized, 64, 104), 0u);
    EXPECT_EQ(workspace_bytes<T>(Variant::vectorized, 65, 104), 2u * 104 * sizeof(float));
    EXPECT_EQ(workspace_bytes<T>(Variant::vectorized, 31, 101), 0u);
    // Eight rows merged into one, each with its own sums.
    EXPECT_EQ(workspace_bytes<T>(Variant::vectorized, 64, 101), 8u * 104 * sizeof(float));
  });
}

} // namespace
} // namespace kg::card
