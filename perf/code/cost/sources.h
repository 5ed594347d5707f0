// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whether an operation's blessed costs are still valid. Counts have no noise: equal
// kernels, data, emulator, compiler and flags give equal counts. So unchanged operations need not
// be compiled and counted again. baselines/simt/sources/counted.csv holds for each operation the
// compiler and a hash of everything that determines its counts.
#pragma once

#include "perf/code/cost/reached.h"
#include "perf/judge/exact_table.h"
#include "perf/judge/sources_file.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::cost {

// How this build compiles counted kernels (kernelgrade_finish in cmake/Op.cmake).
struct CountedBy {
  std::string compiler; // "g++ 12.2.0"; empty: cannot count
  std::string flags;    // all of them
};

// The files below `source` that determine the operation's costs: kernels and card with their
// includes, the emulator with its counters, and the code that computes metrics. Excluded are the
// PTX executor and the race checker's headers, which no counting run enters, and the gate, which
// judges blessed figures like counted ones. Throws Error as reached() does.
Texts deciding_files(const std::filesystem::path& source, const std::string& op);

// The blessed figures. Bounds are computed from the kernels' registers, so resources matter as
// well.
struct Blessed {
  judge::ExactFile costs;     // of this operation
  judge::ExactFile resources; // of all operations
};

// Hash of the files, the flags, the emulator's environment variables and the blessed figures. Empty
// if there are no costs.
std::string hash_sources(const Texts& files, const std::string& flags, const Blessed& blessed);

// Why the operation must be counted again; empty if the blessed figures are still valid.
std::string why_changed(const judge::SourcesFile& sources, const Blessed& blessed,
                        const std::filesystem::path& source, const std::string& op,
                        const CountedBy& here);

// What is unchanged, and since when. Requires an empty why_changed().
std::string why_unchanged(const judge::Sources& sources);

// The operation's blessed costs; `why` becomes ExactMeasured::as_blessed.
std::vector<judge::ExactMeasured> blessed_costs(const judge::ExactFile& costs,
                                                const std::string& why);

} // namespace kg::cost
