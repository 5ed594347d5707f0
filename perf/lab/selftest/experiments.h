// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The self-test's changes to the build under test or the machine, which the gate is expected to
// detect or to ignore.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kg::selftest {

// One slowdown of the build under test.
struct Treatment {
  std::string experiment; // as in calibration.csv: "aa", "inject_5"
  double percent = 0;
  int step = 0; // of a creep, from 1; all its steps are one check
};

// Treatments measured side by side, against one baseline.
struct Group {
  std::string noise; // injected into every process, including the reference and the baseline
  bool load = false; // other processes keep the machine busy, except while blessing
  // At most this many rows; 0: all. A busy machine takes several times as long.
  std::size_t rows = 0;
  std::vector<Treatment> treatments;
};

// Experiments as on the command line:
//   aa            nothing changes: a flagged row is a false alarm. Measured twice per round
//   inject=3,5    slower by 3 %, by 5 %
//   creep         five steps of 1.5 % each, at least one of which must be detected
//   load          nothing changes, but the machine is busy; a few rows, in brief processes
//   bimodal, wild nothing changes, and 5 % and 10 %, while one process of five is 6 % slower, or
//                 3 % of processes are slower by up to 50 %
// Throws kg::Error on any other word, on a duplicate, and if there is none.
std::vector<Group> parse_experiments(const std::vector<std::string>& words);

} // namespace kg::selftest
