// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/undefined.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace kg::program {
namespace {

// Besides all ones, which are -1 or NaN: zero, and large positive numbers.
constexpr int kOthers[] = {0x00, 0x7F};
// Loads that are tried one by one; further ones count as loads on which a result depends.
constexpr std::size_t kTriedAlone = 16;

bool same_results(const Run& one, const Run& other) {
  return one.events.results == other.events.results && one.timed_out == other.timed_out &&
         one.finished.exit_code == other.finished.exit_code &&
         one.finished.signal == other.finished.signal &&
         std::equal(one.events.findings.begin(), one.events.findings.end(),
                    other.events.findings.begin(), other.events.findings.end(),
                    [](const Finding& a, const Finding& b) {
                      return a.rule == b.rule && a.places == b.places;
                    });
}

bool has_results(const Run& run) {
  return !run.events.results.empty() || !run.events.findings.empty();
}

} // namespace

void judge_undefined_loads(Run& first, const Options& options, const std::filesystem::path& tools,
                           const std::filesystem::path& program,
                           const std::filesystem::path& folder) {
  const auto again = [&](const std::string& fill) {
    Run one = run(options, tools, program, {first.order, true, fill}, folder);
    first.seconds += one.seconds;
    return one;
  };
  std::vector<Finding> loads = std::move(first.events.undefined_loads);
  const auto report = [&](Finding load, bool fails, const char* why) {
    load.fails = fails;
    load.text += why;
    first.events.findings.push_back(std::move(load));
  };
  // Two equal runs, because the output of `first` may not have been captured.
  const Run one = again(kFirstFill), two = again(kFirstFill);
  if (!has_results(one) || !same_results(first, one) || !same_results(one, two)) {
    for (Finding& load : loads)
      report(std::move(load), true,
             "\n  not known: whether a result depends on the value, since equal runs have "
             "different results or none");
    return;
  }
  // A program that prints times, say, is judged by its other results.
  const bool prints_the_same = one.finished.output == two.finished.output;
  // `load`: the number of the only one to have another value; 0: all have.
  const auto changes_results = [&](std::size_t load) {
    return std::any_of(std::begin(kOthers), std::end(kOthers), [&](int byte) {
      const Run other = again(fmt::format("{}:{}", byte, load));
      return !same_results(one, other) ||
             (prints_the_same && one.finished.output != other.finished.output);
    });
  };
  std::vector<bool> used(loads.size(), false);
  if (changes_results(0)) {
    for (std::size_t i = 0; i < loads.size(); ++i)
      used[i] = loads.size() == 1 || i >= kTriedAlone || changes_results(i + 1);
    // Some change a result only together.
    if (std::find(used.begin(), used.end(), true) == used.end()) used.assign(used.size(), true);
  }
  for (std::size_t i = 0; i < loads.size(); ++i)
    report(std::move(loads[i]), used[i],
           used[i] ? "\n  a result depends on the value"
                   : "\n  no result depends on the value: with the bytes 0x00, 0x7F and 0xFF "
                     "there, all results are the same");
}

} // namespace kg::program
