// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measuring in other processes, so that a row that crashes, hangs or leaves the device unusable
// costs itself alone, and so that samples of a row come from several processes.
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

// The command of a process that measures the rows of the file `batch` and writes them to `journal`
// (journal.h).
using RowProgram = std::function<std::vector<std::string>(
    const std::filesystem::path& batch, const std::filesystem::path& journal, unsigned shuffle)>;

// Measures all rows in one process, options.processes times, one after another. A row that ended
// its process, or took longer than options.row_timeout_s, is a failed row of the result: `verified`
// says how its process ended, the tag `failure` is `crash` or `timeout`, it is not tried again, and
// a new process measures the rows that are left. For `run` and `bless` options.json grows meanwhile
// (growing_run.h), and with options.resume_run what it holds is not measured again. `program`: in
// place of this one's `run`.
judge::Results measure_in_processes(const Options& options, World& world,
                                    const Selection& selection, const std::string& source,
                                    const RowProgram& program = {});

} // namespace kg::cli
