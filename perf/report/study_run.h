// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study as a part of a report that holds other things, too.
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

// Throws Error where the file is damaged or its study is not known.
StudyRun study_from(const std::filesystem::path& path);

int exit_code(const StudyRun& run);

// "study matmul: 17 of 18 experiments, 1 invalid"
std::string line(const StudyRun& run);

// What did not go well: experiments that are invalid or were skipped, and of a finished study the
// exponents that are not the expected ones.
struct StudyRemark {
  std::string name;    // of the row or the curve
  std::string verdict; // "invalid", "skipped" or "failed"
  std::string message;
};
std::vector<StudyRemark> remarks(const StudyRun& run);

// Its sections (study_sections.h) as titles, lines and tables, its curves, where they cross, and
// its remarks.
nlohmann::json to_json(const StudyRun& run);

// A test per experiment, and one per exponent that is not as expected.
TestSuite junit_suite(const StudyRun& run);

// All sections, under a heading of the third level.
std::string markdown(const StudyRun& run);

} // namespace kg::report
