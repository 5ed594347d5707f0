// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to reduction_backward; its card configures those of every operation.
#include "ops/reduction_backward/reduction_backward.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using reduction_backward::Extents;
using reduction_backward::Op;

KG_OWN_TEST(BeyondThirtyOneBits) {
  constexpr Extents kExtents{(std::int64_t{1} << 21) + 3, 1024, 1};
  constexpr std::int64_t kSize = kExtents[0] * kExtents[1];
  KG_HUGE(size_of(judge.dtype()) * kSize);
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr auto kVariant = reduction_backward::Variant::vectorized;
    Stream& stream = judge.stream();
    const T one = test::elements<T>(std::vector<double>{1})[0];
    const DeviceBuffer<T> x(static_cast<std::size_t>(kSize)); // also dx
    fill_bytes(x.data(), 0, x.bytes(), stream);
    test::put<T>({{kSize - 1, one}}, x, stream);
    const DeviceBuffer<T> dy(static_cast<std::size_t>(kExtents[0]));
    fill_bytes(dy.data(), 0, dy.bytes(), stream);
    test::put<T>({{kExtents[0] - 1, one}}, dy, stream);
    const DeviceBuffer<unsigned char> workspace(
        reduction_backward::workspace_bytes<T>(Op::max, kExtents, kVariant));
    reduction_backward::run<T>(Op::max, kExtents, {x.data(), dy.data(), x.data()}, workspace.data(),
                               kVariant, stream);
    EXPECT_TRUE(
        test::holds(x, test::from_raw_bits<T>(0), test::Marks<T>{{kSize - 1, one}}, stream));
  });
}

// Arguments that the contract's problems cannot have: dx that overlaps dy's end, and no workspace.
KG_OWN_TEST(RefusesOverlapAndWorkspaces) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(64), gradient(64);
    T* const p = data.data();
    LaunchRecorder recorder;
    const auto run = [&](Op op, const T* x, const T* dy, void* workspace) {
      reduction_backward::run<T>(op, {4, 8, 1}, {x, dy, p}, workspace,
                                 reduction_backward::Variant::automatic, judge.stream());
    };
    EXPECT_THROW(run(Op::sum, nullptr, p + 16, nullptr), Error);
    EXPECT_THROW(run(Op::max, p + 1, gradient.data(), p), Error);
    EXPECT_THROW(run(Op::max, p, gradient.data(), nullptr), Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
