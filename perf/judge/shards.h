// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shards of a measurement that was divided among machines (result.h: Shard).
#pragma once

#include "perf/judge/result.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kg::judge {

class JsonObject;

std::string text(const Shard& shard);                            // "2/4"
std::string division_text(const std::optional<Shard>& division); // "shard 2/4" or "not divided"

nlohmann::json to_json(const Shard& shard);
Shard shard_from_json(JsonObject object);

// shards[i] is the shard in files[i], empty if the file is not part of a division. Throws Error
// naming files and shards if one is missing, repeated or from another division.
void require_every_shard(const std::vector<std::filesystem::path>& files,
                         const std::vector<std::optional<Shard>>& shards);

} // namespace kg::judge
