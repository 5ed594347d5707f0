// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of a report besides timings and counts, each from its own file: correctness tests, mutants,
// side-by-side builds, studies, and rows over commits.
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

// The requested operations and the number of existing ones. All if `named` is empty.
struct Scope {
  std::vector<std::string> named;
  std::size_t of = 0;
};
std::string text(const Scope& scope); // "2 of 35 operations: softmax, gemm"; "" for all

struct Attachments {
  Scope scope;
  std::vector<PlannedTest> tests; // that CTest was to run; empty if unknown
  std::vector<CorrectnessRun> correctness;
  std::vector<KillMatrix> mutants;
  std::vector<SideBySide> comparisons;
  std::vector<StudyRun> studies;
  History history; // shown, not judged

  bool empty() const {
    return tests.empty() && correctness.empty() && mutants.empty() && comparisons.empty() &&
           studies.empty();
  }
};

// Adds the contents of the file. Returns false if it is of another kind, perhaps results. Throws
// Error if it is incomplete or repeats the contents of another file.
bool add_file(Attachments& attachments, const std::filesystem::path& path);

// 1 if a test, mutant or study failed or did not run, or a build is slower than the other.
// Otherwise 77 if a part was skipped completely, else 0. `attachments` must not be empty.
int exit_code(const Attachments& attachments);

// "2 of 35 operations: softmax, gemm", "correctness: 310 passed, 1 failed", "mutants: 96 of 96
// killed", "beside 1a2b3c: 3 pass", "study relu: 8 of 8 experiments".
std::vector<std::string> lines(const Attachments& attachments);

// The members of report.json: tests, correctness, mutants, comparisons, studies, history.
nlohmann::json json(const Attachments& attachments);

// One test suite per operation and type, per operation, per comparison, and per study.
std::vector<TestSuite> junit_suites(const Attachments& attachments);

// tests.csv: one record per correctness test and per mutant.
std::string tests_csv(const Attachments& attachments);

// For each kind with failures: a heading, its counts, and the `most` worst failures.
std::string markdown(const Attachments& attachments, std::size_t most);

} // namespace kg::report
