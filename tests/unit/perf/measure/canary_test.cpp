// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The canaries and the flush on the device of this build. Nothing here asserts a time.
#include "perf/measure/bench.h"
#include "runtime/device.h"
#include "runtime/error.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kg::perf {
namespace {

class CanaryTest : public testing::TestWithParam<Bound> {};

TEST_P(CanaryTest, LeavesWhatItMust) {
  Stream stream;
  Canary canary(GetParam(), stream);
  // Launching nothing leaves nothing that could be checked.
  if (GetParam() != Bound::launch) {
    EXPECT_THROW(canary.check(stream), Error) << "before it ran";
  }
  for (int i = 0; i < 2; ++i) {
    canary.run(stream);
    EXPECT_NO_THROW(canary.check(stream));
  }
  EXPECT_GE(canary.launches(), 1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CanaryTest, testing::ValuesIn(kKinds),
                         [](const auto& about) { return std::string(name(about.param)); });

TEST(Bench, TimesEveryCanary) {
  Bench bench(Pace::brief);
  for (const Bound kind : kKinds) {
    const double ns = bench.instruments.canary_ns(kind);
    EXPECT_TRUE(std::isfinite(ns) && ns > 0) << name(kind) << ": " << ns;
  }
}

TEST(Bench, FlushRunsAndItsProbeGivesTimes) {
  Stream stream;
  Flush flush(device_properties().l2_bytes, stream);
  const Flush::Proof proof = flush.prove(stream);
  EXPECT_GT(proof.cold_ns, 0);
  EXPECT_GT(proof.hot_ns, 0);
  EXPECT_DOUBLE_EQ((Flush::Proof{300, 100}).ratio(), 3);
}

TEST(Bench, FlushRefusesACacheOfNothing) {
  Stream stream;
  EXPECT_THROW(Flush(0, stream), Error);
}

} // namespace
} // namespace kg::perf
