// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All failures of a run, of every kind, in order of importance.
#pragma once

#include "perf/judge/gate.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::report {

// A line of a file in the source tree. `file` is empty if unknown.
struct Place {
  std::string file; // relative to the root
  std::string line = "1";
};

struct Failure {
  std::string what;    // the test, mutant or row; empty: the whole run
  std::string verdict; // "fails", "survives", "regressed", ...
  std::string why;     // may have several lines
  std::string again;   // the command that repeats it; empty if `why` says what to do
  Place place;
  std::size_t alike = 0; // number of further failures with the same message
};

// Order: tests that did not run or left no result; wrong results, tests before rows; faults of the
// run and its files; surviving mutants; costs and resources; rows from slow to fast; rows slower
// than another build's; studies. Failed tests of one type of an operation are merged into one
// failure. So are rows with the same verdict and reason, and counts of one kernel's line.
std::vector<Failure> failures(const judge::GateResult& result, const CountedSections& counted,
                              const Attachments& attachments);

// A heading and a list of the first `most`, each with its command. Empty if nothing failed.
std::string markdown(const std::vector<Failure>& failures, std::size_t most);

} // namespace kg::report
