// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/listed_tests.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace kg::card {
namespace {

// Setting up a timed problem takes at most a second: 10 to 100 ns per element by index.
void computes_few_elements(const Problem& timed) {
  constexpr std::int64_t kMost = 1 << 26;
  for (const Tensor& input : timed.inputs)
    if (input.element && !input.made) {
      const std::int64_t period = input.period > 0 ? input.period : input.size();
      EXPECT_LE(std::min(period, input.size()), kMost)
          << input.name << ": give its elements a period (Tensor::period)";
    }
}

} // namespace

// Includes the other backend's shapes: one shape refused by its card loses all rows there.
void lists_problems(Judge& judge) {
  const Card& card = judge.card();
  for (const auto* const shapes : {&card.timed_on_host, &card.timed_on_gpu})
    for (const TimedShape& each : *shapes) {
      EXPECT_NO_THROW({
        Problem timed = card.problem(judge.dtype(), Shape::parse(each.shape));
        for (const Tensor& output : std::vector<Tensor>(timed.outputs))
          if (output.extra) timed = timed.without(output.name);
        computes_few_elements(timed);
        for (const std::string_view vendor : card.vendors.names(timed))
          computes_few_elements(card.vendors.problem(timed, vendor));
      }) << each.shape;
    }
}

} // namespace kg::card
