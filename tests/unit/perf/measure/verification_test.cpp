// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What timed results are held to, beyond the period of the inputs: right ones pass, and one wrong
// element is found in each place that is looked at.
#include "perf/measure/card_operation.h"
#include "perf/measure/random_data.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::card {
const Card& scan();
}

namespace kg::perf {

namespace {

constexpr std::int64_t kLong = 2 * RandomTensor::kPeriod + RandomTensor::kPeriod / 2;

class Verification : public testing::TestWithParam<std::string> {};

TEST_P(Verification, FindsAWrongElementInEachPlace) {
  const bool sums = GetParam().starts_with("sum"), inclusive = GetParam().ends_with("_inclusive");
  const Shape shape = Shape::parse(GetParam() + "_n" + std::to_string(kLong));
  const Exchange exchange = card_operation(card::scan()).make(Dtype::i32, shape).exchange();
  const std::vector<std::byte> bytes = exchange.make_inputs()("x");
  std::vector<std::int32_t> x(kLong), y(kLong);
  ASSERT_EQ(bytes.size(), x.size() * sizeof(std::int32_t));
  std::memcpy(x.data(), bytes.data(), bytes.size());
  std::int32_t running = sums ? 0 : INT32_MIN;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!inclusive) y[i] = running;
    running = sums ? static_cast<std::int32_t>(static_cast<std::uint32_t>(running) +
                                               static_cast<std::uint32_t>(x[i]))
                   : std::max(running, x[i]);
    if (inclusive) y[i] = running;
  }
  const auto verdict = [&] {
    std::vector<std::byte> result(bytes.size());
    std::memcpy(result.data(), y.data(), result.size());
    return exchange.verify({{"y", result}});
  };
  EXPECT_EQ(verdict(), "");
  const std::vector<Window> places = windows(kLong, 1 << 17);
  for (std::size_t place = 0; place < 3; ++place) // both ends, and one between
    for (const std::int64_t i : {std::int64_t{0}, places[place].count - 1}) {
      std::int32_t& element = y[static_cast<std::size_t>(places[place].first + i)];
      element ^= 1;
      EXPECT_NE(verdict(), "") << places[place].first + i;
      element ^= 1;
    }
}

INSTANTIATE_TEST_SUITE_P(Scan, Verification,
                         testing::Values("sum_inclusive", "sum_exclusive", "max_inclusive"));

} // namespace
} // namespace kg::perf
