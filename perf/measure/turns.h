// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Processes that take turns: of several that measure the same rows, one computes at any time, and
// after a few milliseconds the turn goes to the next. What a machine does meanwhile, to its clock
// or for its other guests, then meets all of them alike, and cancels out of their quotient. (Bulej
// et al., "Duet benchmarking", ICPE 2020, let them run at once for that; here they would fight for
// the caches and the memory that they are to measure.)
//
// Over a socket that the process inherits (KERNELGRADE_TURN, its number) it says by one byte why it
// gives the turn up, and waits for a byte in return.
#pragma once

#include "perf/measure/child_process.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {

inline constexpr const char* kTurnVariable = "KERNELGRADE_TURN";

// The side that measures.
class Turn {
 public:
  // Throws kg::Error where `socket` is no number of an open file.
  explicit Turn(const std::string& socket);
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Called some times per second while the process waits.
  std::function<void()> waiting;

  // Gives the turn up, and returns once the process has it again: `next_row` when all others have
  // come to their next row, too, or have ended; `pass` when each of them has had its turn. Before
  // the first of either, the process has no turn. Both throw kg::Error when nobody is there to give
  // turns any more.
  void next_row() { give_up('r'); }
  void pass() { give_up('t'); }

 private:
  void give_up(char why);

  int socket_;
};

// The turn of this process, or nothing where it measures alone.
std::unique_ptr<Turn> turn_here();

// Starts the commands and gives them turns until all have ended; their outputs go to standard
// error. Returns how each ended. Each runs alone until it asks for a turn or ends, so that a
// program that knows of no turns has the machine for itself. They go round in the order of the
// commands, then in the reverse of it. `exclusive` is called before the first turn, and what it
// returns is kept until the last command has ended. Throws kg::Error where a command cannot be
// started.
std::vector<Finished> run_in_turns(const std::vector<std::vector<std::string>>& commands,
                                   const std::function<std::shared_ptr<void>()>& exclusive);

} // namespace kg::perf
