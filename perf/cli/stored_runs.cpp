// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/stored_runs.h"

#include "perf/cli/incremental_results.h"
#include "perf/cli/shard.h"
#include "perf/lab/import/load.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace kg::cli {
namespace {

// For each row with text in `why` in some run, keeps only the first such row.
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

// The journal of a killed run is complete, except for its shard.
judge::Results load_one(const std::filesystem::path& file) {
  const std::filesystem::path journal = journal_beside(file);
  if (!std::filesystem::exists(journal)) return imports::load_any(file);
  judge::Results run = join_runs(read_journal(journal).ended);
  if (std::filesystem::exists(file)) run.shard = judge::load_results(file).shard;
  return run;
}

} // namespace

judge::Results load_runs(const std::vector<std::filesystem::path>& files) {
  std::vector<judge::Results> runs;
  for (const std::filesystem::path& file : files) runs.push_back(load_one(file));
  require_whole(files, runs);
  return join_runs(std::move(runs));
}

judge::Results join_runs(std::vector<judge::Results> runs) {
  std::string latest; // ISO 8601 dates of one zone sort as text
  for (judge::Results& run : runs)
    if (auto date = run.environment.extract(kDate); !date.empty())
      latest = std::max(latest, date.mapped());
  keep_first(runs, &judge::Measured::verified); // wrong results take precedence over missing ones
  keep_first(runs, &judge::Measured::skipped);
  judge::Results merged = judge::merge(runs);
  if (!latest.empty()) merged.environment[kDate] = latest;
  return merged;
}

} // namespace kg::cli
