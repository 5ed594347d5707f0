// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds side by side: in each round every arm measures the same rows once, in a fresh process, in
// an order that is drawn anew and mirrored in the next round (ABBA), so that a drift of the machine
// meets all arms alike. On shared cores drifts are quicker than processes: there the arms of a
// round take turns of a few milliseconds (perf/measure/turns.h).
#pragma once

#include "perf/judge/confirm.h"
#include "perf/judge/result.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
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
  unsigned time_limit_s = 600;                     // of one process
  std::function<void(std::size_t round)> progress; // before each round; may be empty
  // Waits for the device and holds it while the result lives. Where it is empty the arms run one
  // after another and each process takes the device for itself; else they take turns.
  std::function<std::shared_ptr<void>()> exclusive = nullptr;
};

// The arms in the order in which the round runs them. Rounds 2k and 2k + 1 mirror each other; every
// order is as likely as any other.
std::vector<std::size_t> round_order(std::size_t arms, unsigned seed, std::size_t round);

// Runs rounds [first, first + count) and returns result[round - first][arm], with every row in the
// order of options.rows. A row that a process could not measure is there with its problem:
// `skipped` is not empty where that build knows no such row, `verified` is not empty where its
// result was wrong or it ended its process by a crash or the time limit. Such a row is not tried
// again. Throws kg::Error where an arm cannot be started at all.
//
// Without turns nothing is held between processes, since a process would then wait for its own
// parent. Another measurement can so come between two arms: it delays a round, and does not disturb
// it. An arm that knows of no turns, as an older build may, runs before the others.
std::vector<std::vector<judge::Results>> run_rounds(const std::vector<Arm>& arms, std::size_t first,
                                                    std::size_t count, const RoundOptions& options);

// The process medians of one row out of rounds run with the arms a, b, control, in this order.
// Rounds in which any of the three has no time for the row are left out. Where the three took
// turns, b and control are a's median times the median of the quotients of their turns: a machine
// that changes its clock halfway through a process leaves those alone.
judge::PairedTimes paired_times(const std::vector<std::vector<judge::Results>>& rounds,
                                const judge::RowKey& row);

} // namespace kg::ab
