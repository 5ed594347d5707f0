// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the self-test does to the build under test, or to the machine, and expects the gate to see,
// or not to see.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kg::selftest {

// One slow-down of the build under test.
struct Treatment {
  std::string experiment; // as in calibration.csv: "aa", "inject_5"
  double percent = 0;
  int step = 0; // of a creep, from 1; its steps together are one check
};

// Treatments that are measured side by side, against one baseline.
struct Group {
  std::string noise; // injected into every process, the reference's and the baseline's, too
  bool load = false; // other processes keep the machine busy, but not while it is blessed
  // So many of the rows at the most; 0: all. A busy machine takes several times as long.
  std::size_t rows = 0;
  std::vector<Treatment> treatments;
};

// From words as on the command line:
//   aa            nothing is changed: what is flagged is a false alarm. Measured twice a round
//   inject=3,5    slower by 3 %, by 5 %
//   creep         five steps of 1.5 % each, of which one must be noticed
//   load          nothing is changed, but the machine is busy; a few rows, in brief processes
//   bimodal, wild nothing is changed, and 5 % and 10 %, while one process of five is 6 % slower, or
//                 3 % of processes are slower by up to 50 %
// Throws kg::Error on any other word, on a word given twice and on none at all.
std::vector<Group> parse_experiments(const std::vector<std::string>& words);

} // namespace kg::selftest
