// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Interleaves processes that measure the same rows: one computes at a time, and passes the turn to
// the next after a few milliseconds. Drift of the clock or load from other tenants then affects all
// of them equally, and cancels in their ratios. Bulej et al. ("Duet benchmarking", ICPE 2020) run
// the processes concurrently for this purpose. Here they would compete for caches and memory.
//
// Protocol: the process inherits a socket, whose number is in KERNELGRADE_TURN. To give up its turn
// it writes one byte, the reason, and then waits for one byte in return.
#pragma once

#include "perf/measure/child_process.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {

inline constexpr const char* kTurnVariable = "KERNELGRADE_TURN";

// The measuring process's end.
class Turn {
 public:
  // Throws kg::Error if `socket` is not the number of an open file.
  explicit Turn(const std::string& socket);
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Called several times per second while the process waits.
  std::function<void()> waiting;

  // Both give up the turn and return when the process has it again: next_row() after every other
  // process has reached its next row or ended, pass() after every other process has had its turn.
  // The process has no turn before its first call. Both throw kg::Error if the process that assigns
  // turns has ended.
  void next_row() { give_up('r'); }
  void pass() { give_up('t'); }

 private:
  void give_up(char why);

  int socket_;
};

// The turn of this process; null if it measures alone.
std::unique_ptr<Turn> turn_here();

// Starts the commands and assigns turns until all have ended. Returns how each ended. Outputs go to
// standard error. Each command runs alone until it requests a turn or ends, so a program without
// this protocol also has the machine to itself. Turns go in the order of the commands, then in
// reverse order, and so on. `exclusive` is called before the first turn; its result is kept until
// the last command has ended. Throws kg::Error if a command cannot be started.
std::vector<Finished> run_interleaved(const std::vector<std::vector<std::string>>& commands,
                                      const std::function<std::shared_ptr<void>()>& exclusive);

} // namespace kg::perf
