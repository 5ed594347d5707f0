// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to histogram; its card configures those of every operation.
#include "ops/histogram/histogram.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"

namespace kg::card {
namespace {

// Every byte in bins of every width.
KG_OWN_TEST(EachByteInEachWidth) {
  if (judge.dtype() != Dtype::i8) return;
  std::vector<std::int8_t> x;
  for (int value = -128; value < 128; ++value) x.push_back(static_cast<std::int8_t>(value));
  const auto from = DeviceBuffer<std::int8_t>::from_host(x, judge.stream());
  for (int width = 1; width <= 256; ++width) {
    const int bins = 256 / width;
    const DeviceBuffer<std::int32_t> counts(static_cast<std::size_t>(bins));
    histogram::run({256, bins, -128, -128.0 + bins * width}, from.data(), counts.data(),
                   histogram::Variant::naive, judge.stream());
    EXPECT_EQ(counts.to_host(judge.stream()),
              std::vector<std::int32_t>(static_cast<std::size_t>(bins), width));
  }
}

// Arguments that the contract's problems cannot have.
KG_OWN_TEST(RefusesBounds) {
  const DeviceBuffer<std::int32_t> counts(8);
  const DeviceBuffer<std::int32_t> x(8);
  LaunchRecorder recorder;
  const auto run = [&](auto element, const histogram::Problem& problem,
                       histogram::Variant variant = histogram::Variant::automatic) {
    histogram::run(problem, reinterpret_cast<const decltype(element)*>(x.data()), counts.data(),
                   variant, judge.stream());
  };
  EXPECT_THROW(run(1.0F, {4, 4, 0, kInfinity}), Error);
  EXPECT_THROW(run(1.0F, {4, 4, 0, 0.1}), Error); // not representable in f32
  EXPECT_THROW(run(1.0F, {4, 4, 1, 1}), Error);
  EXPECT_THROW(run(std::int32_t{1}, {4, 4, 0, 10}), Error);
  EXPECT_THROW(run(std::int32_t{1}, {4, 4, 0.5, 8.5}), Error);
  EXPECT_THROW(run(std::int8_t{1}, {4, 4, 0, 132}), Error);
  EXPECT_THROW(run(1.0F, {4, 5000, 0, 1}, histogram::Variant::privatized), Error);
  EXPECT_THROW(run(1.0F, {std::int64_t{1} << 31, 4, 0, 1}), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
