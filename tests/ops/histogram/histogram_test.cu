// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to histogram; its card configures those of every operation.
#include "ops/histogram/histogram.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"

#include <limits>
#include <vector>

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
    for (const histogram::Variant variant : histogram::kVariants) {
      histogram::run({256, bins, -128, -128.0 + bins * width}, from.data(), counts.data(), variant,
                     judge.stream());
      EXPECT_EQ(counts.to_host(judge.stream()),
                std::vector<std::int32_t>(static_cast<std::size_t>(bins), width));
    }
  }
}

// What lies before the first pack and behind the last one, with bins 0 to 7 among values -1 to 9.
template <class T>
void count_each_length_and_place(Judge& judge) {
  constexpr int kLongest = 70, kPlaces = 16 / sizeof(T), kBins = 8;
  std::vector<T> x;
  for (int i = 0; i < kLongest + kPlaces; ++i) x.push_back(static_cast<T>(i * 7 % 11 - 1));
  const auto from = DeviceBuffer<T>::from_host(x, judge.stream());
  const DeviceBuffer<std::int32_t> counts(kBins);
  for (int place = 0; place < kPlaces; ++place)
    for (int n = 1; n <= kLongest; ++n) {
      std::vector<std::int32_t> expected(kBins);
      for (int i = place; i < place + n; ++i)
        if (const auto bin = static_cast<int>(x[i]); bin >= 0 && bin < kBins) ++expected[bin];
      histogram::run({n, kBins, 0, kBins}, from.data() + place, counts.data(),
                     histogram::Variant::privatized, judge.stream());
      EXPECT_EQ(counts.to_host(judge.stream()), expected) << n << " from " << place;
    }
}
KG_OWN_TEST(EachLengthAndPlace) {
  if (judge.dtype() == Dtype::f32) count_each_length_and_place<float>(judge);
  if (judge.dtype() == Dtype::i32) count_each_length_and_place<std::int32_t>(judge);
  if (judge.dtype() == Dtype::i8) count_each_length_and_place<std::int8_t>(judge);
}

// All numbers of i32 have bins, up to one of 2^32.
KG_OWN_TEST(BinsOfAllIntegers) {
  if (judge.dtype() != Dtype::i32) return;
  using Limits = std::numeric_limits<std::int32_t>;
  const std::vector<std::int32_t> x = {Limits::min(), -(1 << 30) - 1, -(1 << 30),   -1, 0,
                                       (1 << 30) - 1, 1 << 30,        Limits::max()};
  const auto from = DeviceBuffer<std::int32_t>::from_host(x, judge.stream());
  const std::vector<std::vector<std::int32_t>> expected = {{8}, {4, 4}, {2, 2, 2, 2}};
  for (const histogram::Variant variant : histogram::kVariants)
    for (const std::vector<std::int32_t>& each : expected) {
      const DeviceBuffer<std::int32_t> counts(each.size());
      histogram::run({8, std::ssize(each), Limits::min(), Limits::max() + 1.0}, from.data(),
                     counts.data(), variant, judge.stream());
      EXPECT_EQ(counts.to_host(judge.stream()), each);
    }
}

// 32 counters of each bin, and fewer of many bins.
KG_OWN_TEST(CountersFit) {
  if (judge.dtype() != Dtype::i32) return;
  const std::size_t most = device_properties().shared_bytes_per_block_optin;
  const std::size_t of_512 = most < std::size_t{513} * 128 ? 16 : 32;
  const std::vector<std::pair<std::int64_t, std::size_t>> copies = {
      {1, 32}, {512, of_512}, {513, 16}, {1025, 8}, {2049, 4}, {4096, most < 4097 * 16 ? 2 : 4}};
  const std::vector<std::int32_t> zeros(8);
  const auto x = DeviceBuffer<std::int32_t>::from_host(zeros, judge.stream());
  for (const auto& [bins, of_bin] : copies) {
    const DeviceBuffer<std::int32_t> counts(static_cast<std::size_t>(bins));
    LaunchRecorder recorder;
    histogram::run({8, bins, 0, static_cast<double>(bins)}, x.data(), counts.data(),
                   histogram::Variant::privatized, judge.stream());
    ASSERT_EQ(recorder.launches().size(), 2u);
    EXPECT_EQ(recorder.launches()[1].shared_bytes,
              static_cast<std::size_t>(bins + 1) * of_bin * sizeof(std::int32_t))
        << bins;
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
