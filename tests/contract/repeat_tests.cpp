// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/repeat_tests.h"

#include "tests/contract/execute.h"
#include "tests/support/device_types.h"
#include "tests/support/ledger.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kg::card {
namespace {

// `outputs` runs the variant and returns its outputs by name.
template <class Outputs>
void expect_same_bits(const Variant& variant, Outputs outputs) {
  constexpr int kRepeats = backend == Backend::cuda ? 50 : 1;
  const auto first = outputs();
  for (const Schedule& schedule : test::thread_orders()) {
    const ScopedSchedule scope(schedule);
    for (int repeat = 1; repeat <= kRepeats; ++repeat)
      for (const auto& [name, bits] : outputs())
        ASSERT_EQ(bits, first.at(name))
            << variant.name << ": run " << repeat << " in order " << to_string(schedule)
            << " gives other bits of " << name << " than the first run";
  }
}

} // namespace

void same_bits_every_time(Judge& judge, const Problem& problem) {
  const Inputs inputs = completed(problem, {});
  for (const Variant& variant : judge.card().variants) {
    if (!variant.tries(problem)) continue;
    test::record(judge.id(variant.name, problem), test::Evidence::repeats);
    const auto watched = [&] {
      std::map<std::string, std::vector<std::uint64_t>> bits;
      for (auto& [name, output] : judge.run(variant, problem, inputs).outputs)
        bits[name] = output.bits;
      return bits;
    };
    if constexpr (backend == Backend::host) {
      expect_same_bits(variant, watched);
    } else {
      watched();
      Bound bound(problem, inputs, judge.stream());
      expect_same_bits(variant, [&] { return bound.outputs_of(variant.run, judge.stream()); });
    }
  }
}

} // namespace kg::card
