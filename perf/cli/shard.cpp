// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/shard.h"

#include "perf/judge/exact_table.h"
#include "runtime/error.h"
#include "runtime/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <string>
#include <utility>

namespace kg::cli {
namespace {

using judge::Results;
using judge::Shard;

// The shard, from 0, of each case; `rows` has each case's number of selected rows.
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

std::string text(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

std::vector<std::string> row_names(const Results& run) {
  std::vector<std::string> names;
  for (const judge::Measured& row : run.rows) names.push_back(judge::text(row.key));
  for (const judge::ExactMeasured& row : run.costs) names.push_back(judge::key_text(row.row));
  return names;
}

using ShardFiles = std::vector<std::filesystem::path>;

// Of one division: the places of its files.
void require_complete(const std::vector<std::size_t>& parts, const ShardFiles& files,
                      const std::vector<Results>& runs) {
  const std::size_t count = runs[parts.front()].shard->count;
  std::map<std::size_t, std::size_t> by_index;
  std::vector<std::string> given, missing;
  for (const std::size_t part : parts) {
    const Shard& shard = *runs[part].shard;
    given.push_back(fmt::format("{} ({})", text(shard), files[part].string()));
    require(shard.count == count,
            fmt::format("{} is shard {}, but {} is shard {}: give the shards of one division",
                        files[parts.front()].string(), text(*runs[parts.front()].shard),
                        files[part].string(), text(shard)));
    const auto [at, is_new] = by_index.emplace(shard.index, part);
    require(is_new, fmt::format("shard {} is there twice: {} and {}; leave out one", text(shard),
                                files[at->second].string(), files[part].string()));
  }
  for (std::size_t index = 1; index <= count; ++index)
    if (!by_index.contains(index)) missing.push_back(fmt::format("{}/{}", index, count));
  require(missing.empty(), fmt::format("shard {} is missing; given are {}; measure it by --shard, "
                                       "with the options of the others",
                                       fmt::join(missing, ", "), fmt::join(given, ", ")));
}

// Rows of files that are no shards are pooled elsewhere; those of a shard belong to it alone.
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
                                 "least one; divide by {} at the most",
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
  std::map<std::string, std::vector<std::size_t>> divisions;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].shard) divisions[runs[i].shard->whole].push_back(i);
  for (const auto& [whole, parts] : divisions) require_complete(parts, files, runs);
  if (!divisions.empty()) require_disjoint(files, runs);
}

} // namespace kg::cli
