// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Timed inputs repeat, and oracles make use of it. Results that are computed here of all elements
// pass, and wrong ones do not.
#include "perf/measure/card_operation.h"
#include "perf/measure/random_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace kg::card {
const Card& argmax();
const Card& grad_norm();
const Card& histogram();
const Card& reduce_by_key();
const Card& reduction();
const Card& select();
const Card& sort();
} // namespace kg::card

namespace kg::perf {
namespace {

constexpr std::int64_t kLong = 3 * RandomTensor::kPeriod + RandomTensor::kPeriod / 2;
const std::string kN = std::to_string(kLong);

class Timed {
 public:
  Timed(const card::Card& card, Dtype dtype, const std::string& shape)
      : exchange_(card_operation(card).make(dtype, Shape::parse(shape)).exchange()) {}

  template <class T>
  std::vector<T> input(std::string_view name) const {
    const std::vector<std::byte> bytes = exchange_.make_inputs()(name);
    std::vector<T> elements(bytes.size() / sizeof(T));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }
  double scalar(const char* name) const { return exchange_.scalars.at(name); }

  // Its elements behind those of `values` stay as they were: nobody looks at them.
  template <class T>
  Timed& give(const std::string& output, std::vector<T> values) {
    for (const ExchangedTensor& each : exchange_.outputs)
      if (each.name == output) {
        std::int64_t size = 1;
        for (const std::int64_t extent : each.extents) size *= extent;
        values.resize(static_cast<std::size_t>(size));
      }
    std::vector<std::byte>& bytes = results_[output];
    bytes.resize(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return *this;
  }
  std::string verdict() const { return exchange_.verify(results_); }

 private:
  Exchange exchange_;
  ResultBytes results_;
};

TEST(RepeatedInputs, ASumOfAll) {
  Timed whole(card::reduction(), Dtype::i32, "all_r1_c" + kN);
  std::uint32_t sum = 0;
  for (const std::int32_t x : whole.input<std::int32_t>("x")) sum += static_cast<std::uint32_t>(x);
  EXPECT_EQ(whole.give<std::uint32_t>("out", {sum}).verdict(), "");
  EXPECT_NE(whole.give<std::uint32_t>("out", {sum + 1}).verdict(), "");

  Timed real(card::reduction(), Dtype::f32, "all_r1_c" + kN);
  double total = 0;
  for (const float x : real.input<float>("x")) total += x;
  EXPECT_EQ(real.give("out", std::vector<float>{static_cast<float>(total)}).verdict(), "");
  EXPECT_NE(real.give("out", std::vector<float>{static_cast<float>(total * 0.9)}).verdict(), "");
}

TEST(RepeatedInputs, TheFirstOfTheGreatest) {
  Timed timed(card::argmax(), Dtype::f32, "all_r1_c" + kN);
  const auto x = timed.input<float>("x");
  const auto at = static_cast<std::int32_t>(std::max_element(x.begin(), x.end()) - x.begin());
  EXPECT_EQ(timed.give<std::int32_t>("out", {at}).verdict(), "");
  const auto next = at + static_cast<std::int32_t>(RandomTensor::kPeriod);
  ASSERT_EQ(x[static_cast<std::size_t>(at)], x[static_cast<std::size_t>(next)]);
  EXPECT_NE(timed.give<std::int32_t>("out", {next}).verdict(), "");
}

TEST(RepeatedInputs, CountsOfBins) {
  Timed timed(card::histogram(), Dtype::i32, "n" + kN + "_bins10");
  const double lower = timed.scalar("lower"), width = (timed.scalar("upper") - lower) / 10;
  std::vector<std::int32_t> counts(10);
  for (const std::int32_t x : timed.input<std::int32_t>("x")) {
    const double bin = std::floor((x - lower) / width);
    if (bin >= 0 && bin < 10) ++counts[static_cast<std::size_t>(bin)];
  }
  EXPECT_EQ(timed.give("counts", counts).verdict(), "");
  ++counts[9];
  EXPECT_NE(timed.give("counts", counts).verdict(), "");
}

TEST(RepeatedInputs, SortedEqualKeysInTheirOrder) {
  Timed timed(card::sort(), Dtype::f32, "pairs_n" + kN);
  const auto keys = timed.input<float>("keys");
  std::vector<std::int32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t i) { return keys[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  std::vector<float> sorted;
  for (const std::int32_t i : order) sorted.push_back(key(i));
  timed.give("sorted_keys", sorted);
  EXPECT_EQ(timed.give("sorted_values", order).verdict(), "");
  ASSERT_EQ(sorted[0], sorted[1]);
  std::swap(order[0], order[1]);
  EXPECT_NE(timed.give("sorted_values", order).verdict(), "");
}

TEST(RepeatedInputs, SortedSegments) {
  Timed timed(card::sort(), Dtype::f32, "keys_n" + kN + "_segments1000");
  auto keys = timed.input<float>("keys");
  const auto offsets = timed.input<std::int32_t>("offsets");
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    std::sort(keys.begin() + offsets[s], keys.begin() + offsets[s + 1]);
  EXPECT_EQ(timed.give("sorted_keys", keys).verdict(), "");
  std::swap(keys.front(), keys[1]);
  EXPECT_NE(timed.give("sorted_keys", keys).verdict(), "");
}

TEST(RepeatedInputs, RunsWithoutTheirEquals) {
  Timed timed(card::select(), Dtype::f32, "unique_n" + kN);
  auto x = timed.input<std::uint32_t>("x");
  x.erase(std::unique(x.begin(), x.end()), x.end());
  timed.give("count", std::vector<std::int32_t>{static_cast<std::int32_t>(x.size())});
  EXPECT_EQ(timed.give("y", x).verdict(), "");
  x.back() ^= 1;
  EXPECT_NE(timed.give("y", x).verdict(), "");
}

TEST(RepeatedInputs, SumsOfRuns) {
  Timed timed(card::reduce_by_key(), Dtype::i32, "sum_k32_n" + kN);
  const auto keys = timed.input<std::int32_t>("keys"), values = timed.input<std::int32_t>("values");
  std::vector<std::int32_t> unique, sums;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) {
      unique.push_back(keys[i]);
      sums.push_back(0);
    }
    sums.back() += values[i]; // up to 1000 each
  }
  timed.give("count", std::vector<std::int32_t>{static_cast<std::int32_t>(unique.size())});
  timed.give("unique", unique);
  EXPECT_EQ(timed.give("results", sums).verdict(), "");
  ++sums.back();
  EXPECT_NE(timed.give("results", sums).verdict(), "");
}

TEST(RepeatedInputs, TheNormOfTensors) {
  Timed timed(card::grad_norm(), Dtype::f32, "p" + kN + ".5_scaled");
  double squares = 0;
  for (const char* const tensor : {"gradient0", "gradient1"})
    for (const float g : timed.input<float>(tensor)) squares += static_cast<double>(g) * g;
  const double norm = std::sqrt(squares) * timed.input<float>("unscale")[0];
  const double clip = std::min(1.0, timed.scalar("limit") / (norm + 1e-6));
  const double scale = clip * timed.input<float>("unscale")[0];
  timed.give("scale", std::vector<float>{static_cast<float>(scale)});
  timed.give("found_inf", std::vector<std::int32_t>{0});
  EXPECT_EQ(timed.give("norm", std::vector<float>{static_cast<float>(norm)}).verdict(), "");
  EXPECT_NE(timed.give("norm", std::vector<float>{static_cast<float>(norm * 0.9)}).verdict(), "");
}

} // namespace
} // namespace kg::perf
