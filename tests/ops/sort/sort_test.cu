// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What only sort promises; what every operation does is in its card.
#include "ops/sort/sort.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"

namespace kg::card {
namespace {

// More tiles than blocks count digits at once.
KG_OWN_TEST(BeyondOneGrid) {
  if (judge.dtype() != Dtype::f32) return;
  const std::int64_t n = std::int64_t{device_properties().sm_count} * 3 * 7296 + 7301;
  judge.check({"normal", "keys_n" + std::to_string(n)}, {}, {"onesweep"});
}

// What the contract's problems cannot have.
KG_OWN_TEST(RefusesProblems) {
  const DeviceBuffer<float> x(64), y(64);
  const DeviceBuffer<std::int32_t> values(64);
  LaunchRecorder recorder;
  const auto run = [&](const sort::Arrays<float>& arrays, std::int64_t n, void* workspace) {
    sort::run(arrays, n, {}, workspace, sort::Variant::automatic, judge.stream());
  };
  EXPECT_THROW(run({x.data(), y.data()}, 64, nullptr), Error);
  EXPECT_THROW(run({x.data(), y.data(), values.data()}, 64, y.data()), Error);
  EXPECT_THROW(run({x.data(), y.data()}, std::int64_t{1} << 30, y.data()), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
