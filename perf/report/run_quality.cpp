// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/run_quality.h"

#include "perf/format/table.h"
#include "perf/judge/statistics.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kg::report {
namespace {

std::string known(const judge::Results& run, const char* key) {
  const auto at = run.environment.find(key);
  return at == run.environment.end() ? "" : at->second;
}

std::string machine(const judge::Results& run) {
  const std::string device = known(run, "device_name").empty() ? known(run, "device")
                                                               : known(run, "device_name"),
                    cpu = known(run, "cpu");
  if (device.empty()) return cpu.empty() ? "not known" : cpu;
  return cpu.empty() ? device : fmt::format("{}, {}", device, cpu);
}

std::string processes(const std::vector<const judge::Measured*>& timed) {
  if (timed.empty()) return "-";
  const auto fewer = [](const judge::Measured* a, const judge::Measured* b) {
    return a->process_medians_ns.size() < b->process_medians_ns.size();
  };
  const auto [least, most] = std::minmax_element(timed.begin(), timed.end(), fewer);
  const std::size_t low = (*least)->process_medians_ns.size(),
                    high = (*most)->process_medians_ns.size();
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

} // namespace

std::vector<std::pair<std::string, std::string>> trust_facts(const judge::Results& run,
                                                             const judge::GateResult& result) {
  constexpr double kWide = 0.05;
  std::vector<const judge::Measured*> timed;
  std::set<judge::RowKey> beside_canary;
  std::size_t wide = 0, unusable = 0, compared = 0, doubtful = 0;
  for (const judge::Measured& row : run.rows) {
    if (row.samples_ns.empty()) continue;
    timed.push_back(&row);
    wide += judge::half_width(row.ci_ns, row.median_ns) > kWide;
    if (row.canary) beside_canary.insert(row.key);
  }
  for (const judge::RowResult& row : result.rows) {
    unusable += row.verdict == judge::Verdict::env;
    if (row.baseline_ns <= 0 || !beside_canary.contains(row.key)) continue;
    ++compared;
    doubtful += !row.healthy;
  }
  const auto or_not_known = [](const std::string& text) {
    return text.empty() ? "not known" : text;
  };
  std::vector<std::pair<std::string, std::string>> facts = {{"machine", machine(run)}};
  if (const std::string driver = known(run, "cuda_driver"); !driver.empty())
    facts.emplace_back("driver", "CUDA " + driver);
  facts.emplace_back("source", or_not_known(known(run, "source")));
  facts.emplace_back("measured", or_not_known(known(run, "date_utc")));
  facts.emplace_back("processes per row", processes(timed));
  facts.emplace_back("rows whose median is uncertain by more than ±5 %",
                     fmt::format("{} of {}", wide, timed.size()));
  facts.emplace_back("rows with an unstable canary", fmt::format("{} of {}", doubtful, compared));
  facts.emplace_back("rows spoiled by the machine", std::to_string(unusable));
  for (const std::string& note : result.notes) facts.emplace_back("note", note);
  return facts;
}

std::string trust_markdown(const judge::Results& run, const judge::GateResult& result) {
  judge::TextTable table({"can this run be trusted?", ""});
  for (const auto& [name, value] : trust_facts(run, result)) table.add({name, value});
  return table.markdown() + "\n";
}

} // namespace kg::report
