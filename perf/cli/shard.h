// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// --shard i/n: divides the selected rows among machines, and checks that their files are complete.
//
// The unit is a case (op, dtype and shape) with all variants and modes, so that vendors stay on the
// same machine as our variants. Cases are sorted by their number of rows, largest first, then by
// id; each goes to the first of the shards with the fewest rows so far. Shards differ by at most
// the rows of one case, and depend only on the selected rows.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/selection.h"
#include "perf/judge/result.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace kg::cli {

// Deselects the rows of the other shards, and records the shard in the selection; no effect without
// --shard. `what` is measured ("times", "costs"): shards of different kinds cannot be joined.
// Throws UsageError if there are more shards than cases.
std::optional<judge::Shard> divide(const Options& options, Selection& selection,
                                   std::string_view what);

// Throws Error, naming files and shards, if a shard is missing, duplicate or of another division,
// or if a shard and another file hold the same row. runs[i] comes from files[i].
void require_whole(const std::vector<std::filesystem::path>& files,
                   const std::vector<judge::Results>& runs);

} // namespace kg::cli
