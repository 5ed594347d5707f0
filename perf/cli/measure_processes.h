// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures in other processes. A row that crashes, hangs or leaves the device unusable affects only
// itself, and a row's samples come from several processes.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/selection.h"
#include "perf/cli/world.h"
#include "perf/judge/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kg::cli {

// The command of a process that measures the rows in the file `batch` and writes them to `journal`
// (journal.h).
using RowProgram = std::function<std::vector<std::string>(
    const std::filesystem::path& batch, const std::filesystem::path& journal, unsigned shuffle)>;

// Measures all rows in one process, options.processes times, one after another. A row that ended
// its process, or took longer than options.row_timeout_s, is a failed row of the result: `verified`
// says how its process ended, and the tag `failure` is `crash` or `timeout`. It is not retried, and
// a new process measures the remaining rows. For `run` and `bless` options.json grows meanwhile
// (incremental_results.h); with options.resume_run its rows are not measured again. `program`
// replaces this program's `run`.
judge::Results measure_in_processes(const Options& options, World& world,
                                    const Selection& selection, const std::string& source,
                                    const RowProgram& program = {});

} // namespace kg::cli
