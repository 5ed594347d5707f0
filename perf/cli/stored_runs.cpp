// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/stored_runs.h"

#include "perf/import/load.h"

#include <algorithm>
#include <set>
#include <string>

namespace kg::cli {
namespace {

// Leaves of each failed row one that failed.
void keep_failures(std::vector<judge::Results>& runs) {
  std::set<judge::RowKey> failed, kept;
  for (const judge::Results& run : runs)
    for (const judge::Measured& row : run.rows)
      if (!row.verified.empty()) failed.insert(row.key);
  for (judge::Results& run : runs)
    std::erase_if(run.rows, [&](const judge::Measured& row) {
      return failed.contains(row.key) && (row.verified.empty() || !kept.insert(row.key).second);
    });
}

} // namespace

judge::Results load_runs(const std::vector<std::filesystem::path>& files) {
  constexpr const char* kDate = "date_utc";
  std::vector<judge::Results> runs;
  std::string latest; // ISO 8601 dates of one zone sort as text
  for (const std::filesystem::path& file : files) {
    runs.push_back(imports::load_any(file));
    if (auto date = runs.back().environment.extract(kDate); !date.empty())
      latest = std::max(latest, date.mapped());
  }
  keep_failures(runs);
  judge::Results merged = judge::merge(runs);
  if (!latest.empty()) merged.environment[kDate] = latest;
  return merged;
}

} // namespace kg::cli
