// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands in a report beside timings and counts, each from a file of its own: the correctness
// tests, the bugs that they found, builds measured side by side, studies, and rows over commits.
#pragma once

#include "perf/report/correctness.h"
#include "perf/report/ctest_run.h"
#include "perf/report/kill_matrix.h"
#include "perf/report/row_history.h"
#include "perf/report/side_by_side.h"
#include "perf/report/study_run.h"

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::report {

// Which operations were asked for, of how many; all where none is named.
struct Scope {
  std::vector<std::string> named;
  std::size_t of = 0;
};
std::string text(const Scope& scope); // "2 of 35 operations: softmax, gemm"; of all: ""

struct Attachments {
  Scope scope;
  std::vector<PlannedTest> tests; // that CTest was to run; empty where the report was told none
  std::vector<CorrectnessRun> correctness;
  std::vector<KillMatrix> mutants;
  std::vector<SideBySide> comparisons;
  std::vector<StudyRun> studies;
  History history; // is shown, and judged by nobody

  bool empty() const {
    return tests.empty() && correctness.empty() && mutants.empty() && comparisons.empty() &&
           studies.empty();
  }
};

// Adds what the file holds; false where it is none of these, and perhaps a file of results. Throws
// Error where it is one of these but not whole, or has what another file had.
bool add_file(Attachments& attachments, const std::filesystem::path& path);

// 1 if a test, a mutant or a study failed or did not run, or a build is slower than the other; else
// 0, or 77 where all was skipped. `attachments` is not empty.
int exit_code(const Attachments& attachments);

// "2 of 35 operations: softmax, gemm", "correctness: 310 passed, 1 failed", "mutants: 96 of 96
// killed", "beside 1a2b3c: 3 pass", "study relu: 8 of 8 experiments".
std::vector<std::string> lines(const Attachments& attachments);

// The members of report.json: tests, correctness, mutants, comparisons, studies, history.
nlohmann::json json(const Attachments& attachments);

// Test suites of all of them, one per operation and type, per operation, per comparison, per study.
std::vector<TestSuite> junit_suites(const Attachments& attachments);

// tests.csv: a record per correctness test and per mutant.
std::string tests_csv(const Attachments& attachments);

// For each kind of which something failed a heading, its counts, and the worst `most` of that.
std::string markdown(const Attachments& attachments, std::size_t most);

} // namespace kg::report
