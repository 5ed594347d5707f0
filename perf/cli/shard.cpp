// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/shard.h"

#include "perf/judge/exact_table.h"
#include "perf/judge/shards.h"
#include "runtime/error.h"
#include "runtime/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>

namespace kg::cli {
namespace {

using judge::Results;
using judge::Shard;

// The shard of each case, from 0; `rows` maps cases to their number of selected rows.
std::map<std::string, std::size_t> shards_of(const std::map<std::string, std::size_t>& rows,
                                             std::size_t count) {
  std::vector<std::pair<std::string, std::size_t>> cases(rows.begin(), rows.end());
  std::stable_sort(cases.begin(), cases.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::size_t> load(count, 0);
  std::map<std::string, std::size_t> result;
  for (const auto& [id, of_case] : cases) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += of_case;
    result[id] = static_cast<std::size_t>(least - load.begin());
  }
  return result;
}

std::vector<std::string> row_names(const Results& run) {
  std::vector<std::string> names;
  for (const judge::Measured& row : run.rows) names.push_back(judge::text(row.key));
  for (const judge::ExactMeasured& row : run.costs) names.push_back(judge::key_text(row.row));
  return names;
}

using ShardFiles = std::vector<std::filesystem::path>;

// Rows of files that are not shards may overlap, since they are pooled; a shard's rows may not.
void require_disjoint(const ShardFiles& files, const std::vector<Results>& runs) {
  std::map<std::string, std::size_t> owner;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const std::string& name : row_names(runs[i])) {
      const auto [at, is_new] = owner.emplace(name, i);
      require(is_new || at->second == i || (!runs[i].shard && !runs[at->second].shard),
              fmt::format("{} and {} both hold the row {}, and one of them is a shard; leave out "
                          "one",
                          files[at->second].string(), files[i].string(), name));
    }
}

} // namespace

std::optional<Shard> divide(const Options& options, Selection& selection, std::string_view what) {
  if (!options.shard) return std::nullopt;
  std::map<std::string, std::size_t> rows;
  Hash whole;
  whole.field(what);
  for (const Row& row : selection.rows) {
    if (!row.registered.selected) continue;
    ++rows[row.registered.key.case_id];
    whole.field(judge::text(row.registered.key));
  }
  const auto [index, count] = *options.shard;
  if (count > rows.size())
    throw UsageError(fmt::format("--shard {}/{}: only {} cases are selected, and a shard holds at "
                                 "least one; divide by at most {}",
                                 index, count, rows.size(), rows.size()));
  const auto shards = shards_of(rows, count);
  for (Row& row : selection.rows) {
    if (!row.registered.selected || shards.at(row.registered.key.case_id) + 1 == index) continue;
    row.registered.selected = false;
    --selection.selected;
  }
  selection.shard = Shard{index, count, whole.hex()};
  return selection.shard;
}

void require_whole(const ShardFiles& files, const std::vector<Results>& runs) {
  std::vector<std::optional<Shard>> shards;
  for (const Results& run : runs) shards.push_back(run.shard);
  judge::require_every_shard(files, shards);
  if (std::any_of(shards.begin(), shards.end(),
                  [](const auto& shard) { return shard.has_value(); }))
    require_disjoint(files, runs);
}

} // namespace kg::cli
