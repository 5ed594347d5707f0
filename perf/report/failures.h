// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All that fails a run, whatever its kind, in the order in which a reader wants it.
#pragma once

#include "perf/judge/gate.h"
#include "perf/report/attachments.h"
#include "perf/report/counted.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::report {

// A line of a file of the source tree; `file` is empty where there is none.
struct Place {
  std::string file; // from the root
  std::string line = "1";
};

struct Failure {
  std::string what;    // the test, the mutant, the row; empty: the run as a whole
  std::string verdict; // "fails", "survives", "regressed", ...
  std::string why;     // may have several lines
  std::string again;   // the command that shows it again; empty where `why` says what to do
  Place place;
  std::size_t alike = 0; // further ones that have the same to say
};

// First the tests that did not run, or left no result. Then wrong results: tests, then rows that
// are wrong or crashed. Then faults of the run and its files, bugs that no test finds, costs and
// resources, rows from slow to fast, rows slower than another build's, studies. Failed tests of one
// type of an operation are one failure, as are rows with the same verdict and reason, and counts of
// one kernel's line.
std::vector<Failure> failures(const judge::GateResult& result, const CountedSections& counted,
                              const Attachments& attachments);

// A heading and a list of the first `most`, each with its command; empty where nothing failed.
std::string markdown(const std::vector<Failure>& failures, std::size_t most);

} // namespace kg::report
