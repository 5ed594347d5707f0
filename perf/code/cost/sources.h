// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether an op's costs are still those that were blessed. Counts have no noise: the same kernels
// and data, on the same executor, compiled alike by the same compiler, count the same, so what is
// unchanged need not be compiled and counted again. baselines/simt/sources/counted.csv holds for
// each op the compiler and a hash of all that decides.
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
  std::string compiler; // "g++ 12.2.0"; empty: it can count none
  std::string flags;    // all of them
};

// The files below `source` that decide what the op costs: kernels and card with all that they
// include, the emulator with its counters, and what makes figures of the counts. Not the executor
// of PTX and what only the race checker includes, which no counting run enters, and not what judges
// the figures: blessed ones are judged as counted ones are. Throws Error as reached() does.
Texts deciding_files(const std::filesystem::path& source, const std::string& op);

// What is blessed. A bound is calculated with the kernels' registers, so that resources decide,
// too.
struct Blessed {
  judge::ExactFile costs;     // the op's
  judge::ExactFile resources; // of all ops
};

// Of the files, the flags, the variables of the environment that the executor reads, and the
// blessed figures. Empty where there are no costs.
std::string hash_sources(const Texts& files, const std::string& flags, const Blessed& blessed);

// Why the op must be counted to be judged; empty where what is blessed holds.
std::string why_changed(const judge::SourcesFile& sources, const Blessed& blessed,
                        const std::filesystem::path& source, const std::string& op,
                        const CountedBy& here);

// For a reader, of an op for which why_changed() is empty: what is unchanged, and since when.
std::string why_unchanged(const judge::Sources& sources);

// The op's costs as they were blessed; `why` becomes ExactMeasured::as_blessed.
std::vector<judge::ExactMeasured> blessed_costs(const judge::ExactFile& costs,
                                                const std::string& why);

} // namespace kg::cost
