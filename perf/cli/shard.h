// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// --shard i/n: dividing the selected rows among machines, and seeing that their files make a whole.
//
// The unit is a case (op, dtype and shape) with all its variants and modes, so that vendors stay
// beside us. Cases are taken in the order of their number of rows, the largest first, then of their
// ids; each goes to the shard with the fewest rows so far, of equals to the first. Shards differ by
// at most the rows of one case, and depend on nothing but which rows are selected.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/selection.h"
#include "perf/judge/result.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace kg::cli {

// Deselects the rows of the other shards, and says in the selection which it is; nothing without
// --shard. `what` is measured ("times",
// "costs"): shards of different things make no whole. Throws UsageError where there are more shards
// than cases.
std::optional<judge::Shard> divide(const Options& options, Selection& selection,
                                   std::string_view what);

// Throws Error, naming files and shards, where one is missing, there twice or of another division,
// or where a shard and another file hold the same row. runs[i] is of files[i].
void require_whole(const std::vector<std::filesystem::path>& files,
                   const std::vector<judge::Results>& runs);

} // namespace kg::cli
