// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds side by side: in each round every arm measures the same rows once, in a fresh process, in
// an order that is drawn anew and mirrored in the next round (ABBA), so that a drift of the machine
// meets all arms alike.
#pragma once

#include "perf/judge/confirm.h"
#include "perf/judge/result.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kg::ab {

// A build of `kernelgrade`.
struct Arm {
  std::string name; // in messages: "a", "b", "control"
  std::filesystem::path executable;
  std::map<std::string, std::string> environment; // set for its processes
};

struct RoundOptions {
  std::vector<judge::RowKey> rows;
  unsigned seed = 1;                               // of the orders
  std::function<void(std::size_t round)> progress; // may be empty
};

// Runs rounds [first, first + count) and returns result[round][arm]. A row that a process could not
// measure is there with its problem (verified or skipped not empty); one that crashed its process
// is one with a problem, too. Throws kg::Error where an arm cannot be started at all.
std::vector<std::vector<judge::Results>> run_rounds(const std::vector<Arm>& arms, std::size_t first,
                                                    std::size_t count, const RoundOptions& options);

// The process medians of one row out of rounds run with the arms a, b, control, in this order.
// Rounds in which any of the three has no time for the row are left out.
judge::PairedTimes paired_times(const std::vector<std::vector<judge::Results>>& rounds,
                                const judge::RowKey& row);

} // namespace kg::ab
