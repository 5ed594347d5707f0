// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to softmax_sum_backward; its card configures those of every operation.
#include "ops/softmax_sum_backward/softmax_sum_backward.h"

#include <limits>

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using softmax_sum_backward::kVariants;
using softmax_sum_backward::workspace_bytes;

// Indices beyond 32 bits: the end of the second of two terms, whose weight is 1.
KG_OWN_TEST(MoreThan2To31Elements) {
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr std::int64_t kN = (std::int64_t{1} << 30) + 4096;
    // A block of the plain kernel sums a whole term, so no window can be shorter.
    KG_SKIP_IF_TOO_HUGE(3 * kN * sizeof(T));
    Stream& stream = judge.stream();
    const auto value = [](double x) { return test::elements<T>(std::vector<double>{x})[0]; };
    const auto alpha = DeviceBuffer<T>::from_host(
        test::elements<T>(std::vector<double>{-std::numeric_limits<double>::infinity(), 0}),
        stream);
    const DeviceBuffer<T> dy(kN), dalpha(2);
    fill_bytes(dy.data(), 0, dy.bytes(), stream);
    test::Marks<T> gradients, after;
    double next = 3;
    for (const std::int64_t index : {std::int64_t{0}, (std::int64_t{1} << 30) - 4096, kN - 1}) {
      gradients[index] = value(next);
      after[kN + index] = value(next++);
    }
    test::put(gradients, dy, stream);
    for (const auto variant : kVariants) {
      const DeviceBuffer<T> x(2 * kN); // also dx
      fill_bytes(x.data(), 0, x.bytes(), stream);
      const DeviceBuffer<unsigned char> workspace(workspace_bytes<T>(variant, 2, kN));
      softmax_sum_backward::run<T>({x.data(), alpha.data(), dy.data(), x.data(), dalpha.data()},
                                   workspace.data(), 2, kN, variant, stream);
      EXPECT_TRUE(test::holds(x, value(0), after, stream)) << name(variant);
      EXPECT_NO_THROW(x.check_guards());
    }
  });
}

// Too few and too many terms, a missing workspace, and overlaps that the contract does not test.
KG_OWN_TEST(RefusesTermsWorkspaceAndOverlap) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> memory(128), others(64);
    T* const p = memory.data();
    T* const alpha = others.data();
    T* const dalpha = alpha + 4;
    T* const dy = alpha + 16;
    const DeviceBuffer<unsigned char> workspace(4096);
    void* const sums = workspace.data();
    LaunchRecorder recorder;
    for (const auto variant : kVariants) {
      const auto run = [&](const softmax_sum_backward::Arrays<T>& arrays, std::int64_t terms,
                           std::int64_t n, void* scratch) {
        softmax_sum_backward::run<T>(arrays, scratch, terms, n, variant, judge.stream());
      };
      EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 0, 8, sums), Error);
      EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 65, 1, sums), Error);
      EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 2, 8, nullptr), Error);
      EXPECT_THROW(run({p, alpha, dy, p, dalpha}, 2, 8, workspace.data() + 4), Error);
      EXPECT_THROW(run({p, alpha, dy, p + 8, dalpha}, 2, 8, sums), Error) << "in place in part";
      EXPECT_THROW(run({p, alpha, p + 8, p, dalpha}, 2, 8, sums), Error) << "dy within dx";
      EXPECT_THROW(run({p, p + 8, dy, p, dalpha}, 2, 8, sums), Error) << "alpha within dx";
      EXPECT_THROW(run({p, alpha, dy, p, alpha}, 2, 8, sums), Error) << "dalpha is alpha";
      EXPECT_THROW(run({p, alpha, dy, p, p + 14}, 2, 8, sums), Error) << "dalpha within dx";
      EXPECT_THROW(run({p, alpha, dy, p + 32, p + 14}, 2, 8, sums), Error) << "dalpha within x";
      EXPECT_THROW(run({p, alpha, dy, p, dy + 2}, 2, 8, sums), Error) << "dalpha within dy";
    }
    EXPECT_TRUE(recorder.launches().empty());
    EXPECT_THROW(workspace_bytes<T>(kVariants[0], 0, 8), Error);
    EXPECT_THROW(workspace_bytes<T>(kVariants[1], 2, -1), Error);
  });
}

} // namespace
} // namespace kg::card
