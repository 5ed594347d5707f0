// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study as part of a report.
#pragma once

#include "perf/lab/study/record.h"
#include "perf/lab/study/study.h"
#include "perf/report/junit.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::report {

struct StudyRun {
  const study::Study* study = nullptr;
  study::Record record;
};

// Throws Error if the file is damaged or its study is unknown.
StudyRun study_from(const std::filesystem::path& path);

int exit_code(const StudyRun& run);

// "study matmul: 17 of 18 experiments, 1 invalid"
std::string line(const StudyRun& run);

// Invalid and skipped experiments, and unexpected exponents of a finished study.
struct StudyRemark {
  std::string name;    // row or curve
  std::string verdict; // "invalid", "skipped" or "failed"
  std::string message;
};
std::vector<StudyRemark> remarks(const StudyRun& run);

// For JSON: its sections (study_sections.h) as titles, lines and tables, its curves, their
// crossovers, and its remarks.
nlohmann::json to_json(const StudyRun& run);

// One test per experiment, and one per unexpected exponent.
TestSuite junit_suite(const StudyRun& run);

// All sections, below a third-level heading.
std::string markdown(const StudyRun& run);

} // namespace kg::report
