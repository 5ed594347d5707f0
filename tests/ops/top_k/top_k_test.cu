// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to top_k; its card configures those of every operation.
#include "ops/top_k/top_k.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"

namespace kg::card {
namespace {

// A whole vocabulary. In 16 bits the last selected element has many ties.
KG_OWN_TEST(Vocabulary) {
  if (judge.dtype() == Dtype::f16) return;
  judge.check({"normal", "r1_c152064_k2048"}, {}, {"radix"});
}

// Arguments that the contract's problems cannot have.
KG_OWN_TEST(RefusesProblems) {
  const DeviceBuffer<float> x(9000), y(9000);
  const DeviceBuffer<std::int32_t> indices(9000);
  LaunchRecorder recorder;
  const auto run = [&](const top_k::Problem& problem) {
    top_k::run(problem, x.data(), y.data(), indices.data(), top_k::Variant::automatic,
               judge.stream());
  };
  EXPECT_THROW(run({1, 9000, 0}), Error);
  EXPECT_THROW(run({1, 9000, top_k::kMostK + 1}), Error);
  EXPECT_THROW(run({2, 30, 31}), Error);
  EXPECT_THROW(run({1, std::int64_t{1} << 31, 1}), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
