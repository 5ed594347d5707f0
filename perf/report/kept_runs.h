// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs kept by their time: a folder each, as 20260102T030405Z, and 20260102T030405Z-2 where another
// began in the same second.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace kg::report {

// Has `fill` write into a new folder below `runs`, which gets its name only then, by one rename:
// what has such a name is whole, and two processes never share one. Where `fill` throws, nothing is
// left. `date_utc` as perf::utc_now() gives it. Returns the folder.
std::filesystem::path keep_run(const std::filesystem::path& runs, std::string date_utc,
                               const std::function<void(const std::filesystem::path&)>& fill);

// Removes all but the newest `most` runs below `runs`, of which `newest`, the run just kept, is one
// whatever its name, and says how many. Runs are told by their names and their report.json; what is
// not one stays. A run that cannot be removed, or that another process removes, is let be.
inline constexpr std::size_t kMostKept = 10;
std::size_t prune_runs(const std::filesystem::path& runs, std::size_t most,
                       const std::filesystem::path& newest);

} // namespace kg::report
