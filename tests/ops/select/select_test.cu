// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to select; its card configures those of every operation.
#include "ops/select/select.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"

namespace kg::card {
namespace {

// Arguments that the contract's problems cannot have.
KG_OWN_TEST(RefusesProblems) {
  const DeviceBuffer<double> x(9000), y(9000);
  const DeviceBuffer<std::int32_t> count(1);
  LaunchRecorder recorder;
  const auto run = [&](std::int64_t n, std::size_t bytes, void* workspace) {
    select::run({select::Wanted::runs, n, bytes}, x.data(), nullptr, y.data(), count.data(),
                workspace, select::Variant::automatic, judge.stream());
  };
  EXPECT_THROW(run(9000, 8, nullptr), Error);
  EXPECT_THROW(run(20, 3, nullptr), Error);
  EXPECT_THROW(run(std::int64_t{1} << 31, 1, y.data()), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
