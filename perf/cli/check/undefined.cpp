// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/undefined.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <utility>

namespace kg::program {
namespace {

// -1 and NaN, which is also the memory's first content; zero; large positive numbers.
constexpr int kFirst = 0xFF, kOthers[] = {0x00, 0x7F};
// Loads that are tried one by one; further ones are taken for loads on which results depend.
constexpr std::size_t kTriedAlone = 16;

bool fails(const Finding& finding) { return finding.fails; }

bool same_findings(const Run& one, const Run& other) {
  return std::equal(
      one.events.findings.begin(), one.events.findings.end(), other.events.findings.begin(),
      other.events.findings.end(),
      [](const Finding& a, const Finding& b) { return a.rule == b.rule && a.places == b.places; });
}

bool same_results(const Run& one, const Run& other) {
  return one.events.results == other.events.results && one.timed_out == other.timed_out &&
         one.finished.exit_code == other.finished.exit_code &&
         one.finished.signal == other.finished.signal && same_findings(one, other);
}

void add_notes(Run& run, std::vector<Finding> loads, const char* why) {
  for (Finding& load : loads) {
    load.fails = false;
    load.text += why;
    run.events.findings.push_back(std::move(load));
  }
}

} // namespace

bool failed_by_undefined_loads(const Run& run) {
  const auto& all = run.events.findings;
  // A copy to the host names no kernel.
  const auto may_be_unused = [](const Finding& one) {
    return !one.fails || (one.rule == "uninitialised" && !one.kernel.empty());
  };
  return !run.huge && !run.timed_out && std::any_of(all.begin(), all.end(), fails) &&
         std::all_of(all.begin(), all.end(), may_be_unused);
}

Run judge_undefined_loads(Run failed, const Options& options, const std::filesystem::path& tools,
                          const std::filesystem::path& program,
                          const std::filesystem::path& folder) {
  double seconds = failed.seconds;
  // `load`: the number of the only one that yields the byte; 0: all do.
  const auto with = [&](int byte, std::size_t load) {
    Run one = run(options, tools, program, {failed.order, true, fmt::format("{}:{}", byte, load)},
                  folder);
    seconds += one.seconds;
    return one;
  };
  Run first = with(kFirst, 0);
  const Run again = with(kFirst, 0);
  // Programs that print times, say, are judged by what leaves the device alone.
  const bool prints_the_same = first.finished.output == again.finished.output;
  const auto changes_results = [&](std::size_t load) {
    return std::any_of(std::begin(kOthers), std::end(kOthers), [&](int byte) {
      const Run other = with(byte, load);
      return !same_results(first, other) ||
             (prints_the_same && first.finished.output != other.finished.output);
    });
  };
  std::vector<Finding> loads = std::move(first.events.undefined_loads);
  const bool has_results =
      !first.events.results.empty() ||
      std::any_of(first.events.findings.begin(), first.events.findings.end(), fails);
  if (loads.empty() || !has_results || !same_results(first, again)) {
    for (Finding& finding : failed.events.findings)
      if (finding.fails)
        finding.text += "\n  not known: whether a result depends on the value, since equal runs "
                        "have different results or none";
    failed.seconds = seconds;
    return failed;
  }
  if (!changes_results(0)) {
    add_notes(first, std::move(loads),
              "\n  no result depends on the value: with the bytes 0x00, 0x7F and 0xFF there, all "
              "results are the same");
    first.seconds = seconds;
    return first;
  }
  std::vector<Finding> used, unused;
  for (std::size_t i = 0; i < loads.size(); ++i)
    (i >= kTriedAlone || changes_results(i + 1) ? used : unused).push_back(loads[i]);
  if (used.empty()) used.swap(unused); // only together do they change a result
  std::erase_if(failed.events.findings, fails);
  for (Finding& load : used) {
    load.text += "\n  a result depends on the value";
    failed.events.findings.push_back(std::move(load));
  }
  failed.notes = std::move(first.notes); // of all launches
  failed.seconds = seconds;
  return failed;
}

} // namespace kg::program
