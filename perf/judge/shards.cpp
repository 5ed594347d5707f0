// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/shards.h"

#include "perf/format/json_reader.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>

namespace kg::judge {
namespace {

using ShardFiles = std::vector<std::filesystem::path>;
using Shards = std::vector<std::optional<Shard>>;

// Checks one division. `parts` are the indices of its files.
void require_complete(const std::vector<std::size_t>& parts, const ShardFiles& files,
                      const Shards& shards) {
  const std::size_t count = shards[parts.front()]->count;
  std::map<std::size_t, std::size_t> by_index;
  std::vector<std::string> given, missing;
  for (const std::size_t part : parts) {
    const Shard& shard = *shards[part];
    given.push_back(fmt::format("{} ({})", text(shard), files[part].string()));
    require(shard.count == count,
            fmt::format("{} is shard {}, but {} is shard {}: give the shards of one division",
                        files[parts.front()].string(), text(*shards[parts.front()]),
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

} // namespace

std::string text(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

std::string division_text(const std::optional<Shard>& division) {
  return division ? "shard " + text(*division) : "not divided";
}

nlohmann::json to_json(const Shard& shard) {
  return {{"index", shard.index}, {"count", shard.count}, {"whole", shard.whole}};
}

Shard shard_from_json(JsonObject object) {
  Shard shard{object.whole_number("index"), object.whole_number("count"), object.text("whole")};
  if (shard.index == 0 || shard.index > shard.count)
    object.fail("index", "is not from 1 to `count`", "measure again");
  object.done();
  return shard;
}

void require_every_shard(const ShardFiles& files, const Shards& shards) {
  std::map<std::string, std::vector<std::size_t>> divisions;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (shards[i]) divisions[shards[i]->whole].push_back(i);
  for (const auto& [whole, parts] : divisions) require_complete(parts, files, shards);
}

} // namespace kg::judge
