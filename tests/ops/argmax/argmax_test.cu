// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to argmax; its card configures those of every operation.
#include "ops/argmax/argmax.h"

#include "runtime/launch.h"
#include "runtime/memory.h"
#include "tests/contract/own_test.h"
#include "tests/ops/argmax/samples.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

// Only x may have gaps.
KG_OWN_TEST(RowsApart) {
  std::vector<std::pair<Extents, Place>> each;
  for (const Extents& extents : large()) each.push_back({extents, {3, 5}});
  for (const std::int64_t offset : {1, 4, 7, 8})
    for (const Extents& extents : {Extents{5, 1030, 1}, Extents{3, 66, 40}})
      each.push_back({extents, {offset, 8}});
  for (const auto& [extents, place] : each)
    judge.check(judge.random(shape_of(extents)), {{"x", place}});
}

KG_OWN_TEST(BeyondThirtyOneBits) {
  constexpr std::int64_t kOuter = (std::int64_t{1} << 21) + 3;
  constexpr std::int64_t kAxis = 1024;
  KG_HUGE(size_of(judge.dtype()) * kOuter * kAxis);
  dispatch(judge.dtype(), [&]<class T>() {
    Stream& stream = judge.stream();
    const DeviceBuffer<T> x(static_cast<std::size_t>(kOuter * kAxis));
    fill_bytes(x.data(), 0, x.bytes(), stream);
    test::put<T>({{kOuter * kAxis - 1, test::elements<T>(std::vector<double>{5})[0]}}, x, stream);
    const DeviceBuffer<std::int32_t> out(static_cast<std::size_t>(kOuter));
    argmax::run(reduction::packed<T>(x.data(), {kOuter, kAxis, 1}), out.data(), nullptr,
                argmax::Variant::tiled, stream);
    EXPECT_TRUE(test::holds(out, 0, test::Marks<std::int32_t>{{kOuter - 1, kAxis - 1}}, stream));
  });
}

// Arguments that the contract's problems cannot have: overlapping rows, no candidates, an axis too
// long for i32, and no workspace.
KG_OWN_TEST(RefusesStridesAndAxes) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(64);
    const DeviceBuffer<std::int32_t> out(64);
    T* const p = data.data();
    const auto run = [&](View<const T, 3> x, void* workspace) {
      argmax::run(x, out.data(), workspace, argmax::Variant::automatic, judge.stream());
    };
    EXPECT_THROW(run({p, {8, 8, 1}, {7, 1, 1}}, p), Error);
    EXPECT_THROW(run({p, {4, 0, 1}, {0, 1, 1}}, p), Error);
    EXPECT_THROW(run(reduction::packed<T>(p, {1, std::int64_t{1} << 31, 1}), p), Error);
    EXPECT_THROW(run(reduction::packed<T>(p, {1, 5000, 4}), nullptr), Error);
  });
}

} // namespace
} // namespace kg::card
