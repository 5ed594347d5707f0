// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps runs in folders named after their start: 20260102T030405Z, and 20260102T030405Z-2 for
// another run in the same second.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace kg::report {

// Calls `fill` to write into a new folder below `runs`, then renames the folder to its final name.
// So a folder with such a name is complete, and two processes never share one. If `fill` throws,
// nothing remains. `date_utc` as from perf::utc_now(). Returns the folder.
std::filesystem::path keep_run(const std::filesystem::path& runs, std::string date_utc,
                               const std::function<void(const std::filesystem::path&)>& fill);

// Removes all but the newest `most` runs below `runs`, always keeps `newest` (the run just stored),
// and returns how many it removed. Identifies runs by name and report.json; keeps other folders.
// Ignores runs that cannot be removed or that another process removes.
inline constexpr std::size_t kMostKept = 10;
std::size_t prune_runs(const std::filesystem::path& runs, std::size_t most,
                       const std::filesystem::path& newest);

} // namespace kg::report
