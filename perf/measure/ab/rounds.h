// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures builds side by side. In each round every arm measures the same rows once, in a fresh
// process. The order of the arms is random, and the next round mirrors it (ABBA), so that drift of
// the machine affects all arms equally. On shared cores drift is faster than a process. There the
// arms of a round are interleaved every few milliseconds (perf/measure/turns.h).
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
  unsigned seed = 1;                               // for the order of the arms
  unsigned time_limit_s = 600;                     // of one process
  std::function<void(std::size_t round)> progress; // before each round; may be empty
  // Waits for the device and holds it while the result lives. If empty, the arms run one after
  // another and each process acquires the device itself. Otherwise the arms are interleaved.
  std::function<std::shared_ptr<void>()> exclusive = nullptr;
};

// The order in which the round runs the arms. Rounds 2k and 2k + 1 mirror each other. All orders
// are equally likely.
std::vector<std::size_t> round_order(std::size_t arms, unsigned seed, std::size_t round);

// Runs rounds [first, first + count) and returns result[round - first][arm], with every row in the
// order of options.rows. If a process could not measure a row, the result holds the row with its
// problem: `skipped` is set if that build does not know the row, `verified` if its output was wrong
// or its process crashed or reached the time limit. Such a row is not measured again. Throws
// kg::Error if an arm cannot be started.
//
// Without interleaving no lock is held between processes, since a process would then wait for its
// own parent. Another measurement may therefore run between two arms, which delays the round but
// does not disturb it. An arm without the protocol, such as an older build, runs first.
std::vector<std::vector<judge::Results>> run_rounds(const std::vector<Arm>& arms, std::size_t first,
                                                    std::size_t count, const RoundOptions& options);

// The process medians of one row, from rounds with the arms a, b, control in this order. Skips
// rounds in which any of the three has no time for the row. If the arms were interleaved, b and
// control are a's median times the median of the per-turn ratios. A clock change halfway through a
// process does not affect these ratios.
judge::PairedTimes paired_times(const std::vector<std::vector<judge::Results>>& rounds,
                                const judge::RowKey& row);

} // namespace kg::ab
