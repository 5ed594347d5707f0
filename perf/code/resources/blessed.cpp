// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/blessed.h"

#include "perf/code/resources/definition.h"
#include "perf/code/resources/occupancy.h"

#include <map>

namespace kg::resources {
namespace {

// Positions in judge::resource_table().
constexpr std::size_t kRegistersAt = 0, kStaticShared = 3, kDynamicShared = 4, kThreads = 5,
                      kOccupancy = 6;

void launch_as(std::vector<double>& values, const Launched& launched, const SmLimits& limits) {
  values.at(kDynamicShared) = launched.dynamic_shared;
  values.at(kThreads) = launched.threads;
  values.at(kOccupancy) = occupancy_pct(
      {static_cast<int>(values.at(kRegistersAt)),
       static_cast<int>(values.at(kStaticShared)) + launched.dynamic_shared, launched.threads},
      limits);
}

} // namespace

std::vector<judge::ExactMeasured> blessed_resources(const std::vector<judge::ExactRow>& blessed,
                                                    std::string_view arch, const std::string& op,
                                                    const Launches& launches,
                                                    const std::filesystem::path& sources,
                                                    const std::string& why) {
  const SmLimits& limits = sm_limits(arch);
  std::map<std::string, Launched> by_key;
  for (const auto& [name, launched] : launches) by_key.emplace(kernel_key(op, name), launched);
  const std::vector<std::filesystem::path> files = sources_in(sources, op);
  std::vector<judge::ExactMeasured> rows;
  for (const judge::ExactRow& row : blessed) {
    const std::string& key = row.key.front();
    judge::ExactMeasured now{row, judge::Gating::always,
                             definition_of(key.substr(op.size() + 1), files), ""};
    if (const auto at = by_key.find(key); at != by_key.end())
      launch_as(now.row.values, at->second, limits);
    now.as_blessed = why;
    rows.push_back(std::move(now));
  }
  return rows;
}

} // namespace kg::resources
