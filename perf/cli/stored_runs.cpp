// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/stored_runs.h"

#include "perf/cli/shard.h"
#include "perf/import/load.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace kg::cli {
namespace {

// Leaves of each row that has text in `why` in some run the first such one alone.
void keep_first(std::vector<judge::Results>& runs, std::string judge::Measured::*why) {
  std::set<judge::RowKey> failed, kept;
  for (const judge::Results& run : runs)
    for (const judge::Measured& row : run.rows)
      if (!(row.*why).empty()) failed.insert(row.key);
  for (judge::Results& run : runs)
    std::erase_if(run.rows, [&](const judge::Measured& row) {
      return failed.contains(row.key) && ((row.*why).empty() || !kept.insert(row.key).second);
    });
}

} // namespace

judge::Results load_runs(const std::vector<std::filesystem::path>& files) {
  std::vector<judge::Results> runs;
  for (const std::filesystem::path& file : files) runs.push_back(imports::load_any(file));
  require_whole(files, runs);
  return join_runs(std::move(runs));
}

judge::Results join_runs(std::vector<judge::Results> runs) {
  constexpr const char* kDate = "date_utc";
  std::string latest; // ISO 8601 dates of one zone sort as text
  for (judge::Results& run : runs)
    if (auto date = run.environment.extract(kDate); !date.empty())
      latest = std::max(latest, date.mapped());
  keep_first(runs, &judge::Measured::verified); // a wrong result weighs more than a missing one
  keep_first(runs, &judge::Measured::skipped);
  judge::Results merged = judge::merge(runs);
  if (!latest.empty()) merged.environment[kDate] = latest;
  return merged;
}

} // namespace kg::cli
